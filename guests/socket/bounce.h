// SPDX-License-Identifier: Apache-2.0
//
// Bounce buffers: the part of the socket device's pool that payload is copied to before it is sent. It is
// divided into slots of one size, and a packet takes as many as it needs that follow each other.
#ifndef BULKHEAD_GUESTS_BOUNCE_H
#define BULKHEAD_GUESTS_BOUNCE_H

#include <stddef.h>
#include <stdint.h>

enum { bounce_slots = 64, bounce_alignment = 64 };

struct bounce {
    uint8_t *start;    // NULL: there are none, and the device reads payload where it is
    size_t slot_bytes; // a multiple of bounce_alignment
    uint64_t free;     // bit i is slot i
};

static inline void bounce_init(struct bounce *bounce, uint8_t *start, size_t bytes)
{
    bounce->start = start;
    bounce->slot_bytes = bytes / bounce_slots / bounce_alignment * bounce_alignment;
    bounce->free = UINT64_MAX;
}

// The first free slots that hold so many bytes, as bits; 0: there are none now.
static inline uint64_t bounce_find(const struct bounce *bounce, size_t bytes)
{
    size_t count = (bytes + bounce->slot_bytes - 1) / bounce->slot_bytes;

    if (count == 0 || count > bounce_slots)
        return 0;
    for (uint64_t run = UINT64_MAX >> (bounce_slots - count);; run <<= 1) {
        if ((run & ~bounce->free) == 0)
            return run;
        if ((run >> (bounce_slots - 1)) != 0)
            return 0;
    }
}

static inline uint8_t *bounce_at(const struct bounce *bounce, uint64_t run)
{
    return bounce->start + (size_t)__builtin_ctzll(run) * bounce->slot_bytes;
}

#endif
