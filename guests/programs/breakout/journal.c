// SPDX-License-Identifier: Apache-2.0
//
// The journal lies at the start of the arena.
#include "guests/programs/breakout/journal.h"

#include <stddef.h>

#include "core/crc32.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/string.h"

#define MAGIC 0x6C616E72756F6A42ull

static uint32_t crc_of(const struct journal *journal)
{
    return crc32_update(0, journal, offsetof(struct journal, crc));
}

void journal_seal(struct journal *journal)
{
    journal->crc = crc_of(journal);
}

struct journal *journal_open(void)
{
    struct journal *journal = (struct journal *)(uintptr_t)memory_arena().start;

    if (journal->magic != MAGIC || journal->crc != crc_of(journal)) {
        memset(journal, 0, sizeof(*journal));
        journal->magic = MAGIC;
    }
    journal->lives++;
    journal_seal(journal);
    return journal;
}
