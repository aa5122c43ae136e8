/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc() for programs that do not choose specifications: one heap with the size and specification that the
 * component states. Two-level segregated fit: free blocks are in lists by size, eight for each power of two.
 * Two bitmaps find the list of the smallest blocks that all suffice, so the time does not depend on the
 * number of blocks. Adjacent free blocks are joined at once.
 */
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/lib/string.h"
#include <stdbool.h>

#define UNIT       8u
#define LISTS_BITS 3u /* lists for each power of two */
#define LISTS      (1u << LISTS_BITS)
#define FIRST_BITS 6u  /* below 2^this each multiple of UNIT has its own list */
#define LAST_BITS  28u /* a heap is smaller than 2^this */
#define POWERS     (LAST_BITS - FIRST_BITS + 1u)

struct block {
    size_t bytes;         /* of the contents; bit 0: the block is free */
    struct block *before; /* the preceding block */
};

/* Links of a free block, stored at the start of its contents. */
struct links {
    struct block *next;
    struct block *previous;
};

_Static_assert(sizeof(struct block) == UNIT && sizeof(struct links) <= UNIT, "contents are aligned");

static struct {
    char *end;       /* end of the heap; null: it is not allocated yet */
    uint32_t powers; /* bit n: a list of power n is not empty */
    uint8_t lists[POWERS];
    struct block *first[POWERS][LISTS];
} heap;

/* Identifies a list: a power of two, and a list in it. */
struct class {
    uint32_t power;
    uint32_t list;
};

static size_t bytes_of(const struct block *block)
{
    return block->bytes & ~(size_t)1;
}

static bool is_free(const struct block *block)
{
    return (block->bytes & 1u) != 0;
}

/* The following block; null for the last block. */
static struct block *next_block(struct block *block)
{
    char *next = (char *)(block + 1) + bytes_of(block);

    return next == heap.end ? 0 : (struct block *)(void *)next;
}

static struct links *links_of(struct block *block)
{
    return (struct links *)(void *)(block + 1);
}

static uint32_t highest_bit(size_t value)
{
    return 31u - (uint32_t)__builtin_clz((unsigned)value);
}

static struct class class_of(size_t bytes)
{
    uint32_t bit;

    if (bytes < (1u << FIRST_BITS)) {
        return (struct class){0, bytes / UNIT};
    }
    bit = highest_bit(bytes);
    return (struct class){bit - FIRST_BITS + 1u, (bytes >> (bit - LISTS_BITS)) & (LISTS - 1u)};
}

static void insert(struct block *block)
{
    struct class class = class_of(bytes_of(block));
    struct block **first = &heap.first[class.power][class.list];

    block->bytes |= 1u;
    *links_of(block) = (struct links){.next = *first};
    if (*first != 0) {
        links_of(*first)->previous = block;
    }
    *first = block;
    heap.powers |= 1u << class.power;
    heap.lists[class.power] |= (uint8_t)(1u << class.list);
}

static void take(struct block *block)
{
    struct class class = class_of(bytes_of(block));
    const struct links *links = links_of(block);

    block->bytes &= ~(size_t)1;
    if (links->next != 0) {
        links_of(links->next)->previous = links->previous;
    }
    if (links->previous != 0) {
        links_of(links->previous)->next = links->next;
        return;
    }
    heap.first[class.power][class.list] = links->next;
    if (links->next == 0) {
        heap.lists[class.power] &= (uint8_t) ~(1u << class.list);
        if (heap.lists[class.power] == 0) {
            heap.powers &= ~(1u << class.power);
        }
    }
}

/* A block from the list of the smallest blocks that all have at least `bytes` bytes, or null. */
static struct block *find_in_lists(size_t bytes)
{
    struct class class;
    uint32_t lists, powers;

    if (bytes >= (1u << FIRST_BITS)) {
        bytes += ((size_t)1 << (highest_bit(bytes) - LISTS_BITS)) - 1u;
    }
    class = class_of(bytes);
    lists = heap.lists[class.power] & ~((1u << class.list) - 1u);
    if (lists == 0) {
        powers = heap.powers & ~((2u << class.power) - 1u);
        if (powers == 0) {
            return 0;
        }
        class.power = (uint32_t)__builtin_ctz(powers);
        lists = heap.lists[class.power];
    }
    return heap.first[class.power][__builtin_ctz(lists)];
}

/* A block from the list whose blocks may suffice, if no list has blocks that all do. */
static struct block *find_in_own_list(size_t bytes)
{
    struct class class = class_of(bytes);
    struct block *block = heap.first[class.power][class.list];

    while (block != 0 && bytes_of(block) < bytes) {
        block = links_of(block)->next;
    }
    return block;
}

static bool has_heap(void)
{
    struct sys_words info;
    struct block *block;
    size_t bytes;

    if (heap.end != 0) {
        return true;
    }
    info = sys_call(SYS_CALL, SLOT_MANAGER, MANAGER_HEAP, 0, 0);
    bytes = info.word[0] == SYS_OK ? info.word[3] & ~(size_t)(UNIT - 1u) : 0;
    if (bytes < 2 * sizeof *block || bytes >= (size_t)1 << LAST_BITS) {
        return false;
    }
    block = (struct block *)(uintptr_t)info.word[2];
    heap.end = (char *)block + bytes;
    *block = (struct block){bytes - sizeof *block, 0};
    insert(block);
    return true;
}

/* Appends the following block, which is in no list, to the block before it. */
static void join(struct block *block, const struct block *next)
{
    block->bytes += bytes_of(next) + sizeof *next;
    if (next_block(block) != 0) {
        next_block(block)->before = block;
    }
}

/* Frees a block that is in no list. */
static void release(struct block *block)
{
    struct block *next = next_block(block);

    if (next != 0 && is_free(next)) {
        take(next);
        join(block, next);
    }
    if (block->before != 0 && is_free(block->before)) {
        take(block->before);
        join(block->before, block);
        block = block->before;
    }
    insert(block);
}

/* Keeps `bytes` bytes of a used block, and frees the rest if it is large enough for a block. */
static void trim(struct block *block, size_t bytes)
{
    struct block *next = next_block(block);
    struct block *rest;

    if (bytes_of(block) - bytes < sizeof *rest + sizeof(struct links)) {
        return;
    }
    rest = (struct block *)(void *)((char *)(block + 1) + bytes);
    *rest = (struct block){bytes_of(block) - bytes - sizeof *rest, block};
    block->bytes = bytes;
    if (next != 0) {
        next->before = rest;
    }
    release(rest);
}

/* Rounds up to whole units, at least one; 0 if the result exceeds the size of a heap. */
static size_t rounded(size_t size)
{
    size_t bytes = (size + UNIT - 1u) & ~(size_t)(UNIT - 1u);

    if (size >= (size_t)1 << (LAST_BITS - 1u)) {
        return 0;
    }
    return bytes == 0 ? UNIT : bytes;
}

void *malloc(size_t size)
{
    size_t bytes = rounded(size);
    struct block *block;

    if (bytes == 0 || !has_heap()) {
        return 0;
    }
    block = find_in_lists(bytes);
    if (block == 0) {
        block = find_in_own_list(bytes);
    }
    if (block == 0) {
        return 0;
    }
    take(block);
    trim(block, bytes);
    return block + 1;
}

void free(void *pointer)
{
    if (pointer != 0) {
        release((struct block *)pointer - 1);
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
    size_t bytes = rounded(size);
    struct block *block, *next;
    void *moved;

    if (pointer == 0) {
        return malloc(size);
    }
    if (bytes == 0) {
        return 0;
    }
    block = (struct block *)pointer - 1;
    next = next_block(block);
    if (bytes_of(block) < bytes && next != 0 && is_free(next) &&
        bytes_of(block) + sizeof *next + bytes_of(next) >= bytes) {
        take(next);
        join(block, next);
    }
    if (bytes_of(block) >= bytes) {
        trim(block, bytes);
        return pointer;
    }
    moved = malloc(size);
    if (moved != 0) {
        memcpy(moved, pointer, bytes_of(block));
        free(pointer);
    }
    return moved;
}
