/* SPDX-License-Identifier: Apache-2.0
 *
 * Uses malloc() until its heap is exhausted, frees blocks in an order that leaves holes, and uses the whole
 * heap again. Then it writes to its own code, which is readable and executable only.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"

#define BLOCKS 32u
#define BYTES  500u

#define CHURN_STEPS 2000u
#define CHURN_BYTES 900u

static unsigned char *block[BLOCKS];

static unsigned fill(void)
{
    unsigned count = 0;

    while (count < BLOCKS) {
        block[count] = malloc(BYTES);
        if (block[count] == 0) {
            break;
        }
        for (unsigned i = 0; i < BYTES; i++) {
            block[count][i] = (unsigned char)count;
        }
        count++;
    }
    return count;
}

static unsigned count_whole(unsigned count)
{
    unsigned whole = 0;

    for (unsigned i = 0; i < count; i++) {
        whole += block[i][0] == (unsigned char)i && block[i][BYTES - 1u] == (unsigned char)i;
    }
    return whole;
}

static void release(unsigned count)
{
    for (unsigned i = 0; i < count; i += 2u) {
        free(block[i]);
    }
    for (unsigned i = 1; i < count; i += 2u) {
        free(block[i]);
    }
}

/* Allocates, resizes and frees random sizes. Returns the number of blocks with wrong contents. */
static unsigned churn(void)
{
    unsigned sizes[BLOCKS] = {0};
    unsigned random = 1, wrong = 0;

    for (unsigned step = 0; step < CHURN_STEPS; step++) {
        unsigned i = (random = random * 1664525u + 1013904223u) >> 27;
        unsigned size = 1u + (random >> 8) % CHURN_BYTES;
        unsigned char *moved = sizes[i] == 0 ? malloc(size) : realloc(block[i], size);

        for (unsigned at = 0; moved != 0 && at < sizes[i] && at < size; at++) {
            wrong += moved[at] != (unsigned char)(i + at);
        }
        if (moved == 0 || step % 3u == 0) {
            free(moved != 0 ? moved : sizes[i] != 0 ? block[i] : 0);
            sizes[i] = 0;
            continue;
        }
        block[i] = moved;
        sizes[i] = size;
        for (unsigned at = 0; at < size; at++) {
            moved[at] = (unsigned char)(i + at);
        }
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        free(sizes[i] != 0 ? block[i] : 0);
    }
    return wrong;
}

void component_main(void)
{
    unsigned count = fill();
    void *pointer, *larger;

    say("heap", "blocks", count);
    say("heap", "with their contents", count_whole(count));
    release(count);
    say("heap", "again", fill());
    release(count);
    say("heap", "wrong after many changes", churn());
    pointer = malloc(count * BYTES);
    say("heap", "in one piece", pointer != 0);
    larger = realloc(pointer, 2u * count * BYTES);
    say("heap", "more than there is", larger != 0);
    *(volatile unsigned *)(unsigned long)&component_main = 0;
    say("heap", "came back", 1);
}
