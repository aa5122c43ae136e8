/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc() for programs that know no specifications: first fit over one heap, which has the component's size
 * and specification. Blocks are a list in the order of addresses; free neighbours are joined.
 */
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/lib/string.h"

#define UNIT 8u

struct block {
    size_t bytes; /* of the contents; the lowest bit: it is free */
    struct block *next;
};

_Static_assert(sizeof(struct block) == UNIT, "contents are aligned");

static struct block *heap;

static size_t bytes_of(const struct block *block)
{
    return block->bytes & ~(size_t)1;
}

static struct block *first_block(void)
{
    if (heap == 0) {
        struct sys_words info = sys_call(SYS_CALL, SLOT_MANAGER, MANAGER_INFO, 0, 0);
        void *memory = info.word[2] > sizeof *heap ? rt_malloc(info.word[2], info.word[3]) : 0;

        if (memory != 0) {
            heap = memory;
            *heap = (struct block){(info.word[2] - sizeof *heap) | 1u, 0};
        }
    }
    return heap;
}

void *malloc(size_t size)
{
    size_t bytes = (size + UNIT - 1u) & ~(size_t)(UNIT - 1u);

    if (bytes < size) {
        return 0;
    }
    for (struct block *block = first_block(); block != 0; block = block->next) {
        if ((block->bytes & 1u) == 0 || bytes_of(block) < bytes) {
            continue;
        }
        if (bytes_of(block) - bytes >= 2 * sizeof *block) {
            struct block *rest = (struct block *)(void *)((char *)(block + 1) + bytes);

            *rest = (struct block){(bytes_of(block) - bytes - sizeof *rest) | 1u, block->next};
            *block = (struct block){bytes | 1u, rest};
        }
        block->bytes &= ~(size_t)1;
        return block + 1;
    }
    return 0;
}

void free(void *pointer)
{
    if (pointer == 0) {
        return;
    }
    ((struct block *)pointer - 1)->bytes |= 1u;
    for (struct block *block = heap; block != 0; block = block->next) {
        while ((block->bytes & 1u) != 0 && block->next != 0 && (block->next->bytes & 1u) != 0) {
            block->bytes += bytes_of(block->next) + sizeof *block;
            block->next = block->next->next;
        }
    }
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *pointer = __builtin_mul_overflow(count, size, &bytes) ? 0 : malloc(bytes);

    return pointer != 0 ? memset(pointer, 0, bytes) : 0;
}

void *realloc(void *pointer, size_t size)
{
    size_t old = pointer != 0 ? bytes_of((struct block *)pointer - 1) : 0;
    void *moved;

    if (old >= size && pointer != 0) {
        return pointer;
    }
    moved = malloc(size);
    if (moved != 0 && pointer != 0) {
        memcpy(moved, pointer, old);
        free(pointer);
    }
    return moved;
}
