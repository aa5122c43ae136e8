// SPDX-License-Identifier: Apache-2.0
//
// Copies words if both addresses are aligned alike, as drivers' buffers usually are; otherwise bytes.
#include "guests/runtime/window.h"

#include <arch/mmu.h>
#include <bulkhead_layout.h>

enum { word_bytes = sizeof(uint64_t), words_at_once = 8 };

static uint64_t copy_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] = from[i];
    return bytes;
}

static void copy_words(uint64_t *restrict to, const uint64_t *restrict from, uint64_t count)
{
    uint64_t i = 0;

    for (; i + words_at_once <= count; i += words_at_once)
        for (unsigned j = 0; j < words_at_once; j++)
            to[i + j] = from[i + j];
    for (; i < count; i++)
        to[i] = from[i];
}

void window_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    uint64_t target = mmu_virtual(BH_BROKER_WINDOW + to);
    uint64_t source = mmu_virtual(BH_BROKER_WINDOW + from);
    uint64_t done = 0;

    if ((target ^ source) % word_bytes == 0 && bytes >= 2 * word_bytes) {
        uint64_t words;

        done = copy_bytes((uint8_t *)target, (const uint8_t *)source, (0 - target) % word_bytes);
        words = (bytes - done) / word_bytes;
        copy_words((uint64_t *)(target + done), (const uint64_t *)(source + done), words);
        done += words * word_bytes;
    }
    (void)copy_bytes((uint8_t *)(target + done), (const uint8_t *)(source + done), bytes - done);
}
