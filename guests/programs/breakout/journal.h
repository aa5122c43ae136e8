// SPDX-License-Identifier: Apache-2.0
//
// What the program knows of its earlier lives: its progress and the noted outcomes. Stored after the image,
// where a restart does not change memory, with a checksum. Written by main.c only.
#ifndef BULKHEAD_BREAKOUT_JOURNAL_H
#define BULKHEAD_BREAKOUT_JOURNAL_H

#include "guests/programs/breakout/breakout.h"

struct journal {
    uint64_t magic;
    uint32_t attempt; // the step being tried, or the next one
    uint32_t step;
    uint32_t trying; // 1: if a life begins with it, that step has ended the previous one
    uint32_t records;
    uint64_t lives;
    uint64_t counts[OUTCOME_COUNT]; // of the attempt
    uint64_t through;
    uint64_t evidence;
    uint64_t all_through; // of all attempts
    uint64_t tries;
    uint32_t crc;
    uint32_t reserved;
};

// The journal of the previous lives, or a new one if there is none. Its `lives` counts this one.
struct journal *journal_open(void);

// Called after each change.
void journal_seal(struct journal *journal);

#endif
