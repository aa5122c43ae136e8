// SPDX-License-Identifier: Apache-2.0
//
// Steps of a few microseconds: the program notices an interrupt after one of them.
#include "guests/runtime/displacer.h"

#include "guests/runtime/lines.h"

enum { step_bytes = 4096 };

bool displacer_init(struct displacer *displacer, struct memory_area *arena, uint64_t bytes)
{
    uint64_t skipped = -arena->start % step_bytes;
    uint64_t taken = bytes / step_bytes * step_bytes;

    *displacer = (struct displacer){.line_bytes = lines_bytes()};
    if (taken == 0)
        return true;
    if (arena->bytes < skipped + taken)
        return false;
    displacer->buffer = (struct memory_area){.start = arena->start + skipped, .bytes = taken};
    arena->start += skipped + taken;
    arena->bytes -= skipped + taken;
    return true;
}

void displacer_step(struct displacer *displacer)
{
    uint64_t from = displacer->buffer.start + displacer->at;

    lines_write(from, from + step_bytes, displacer->line_bytes);
    displacer->at = displacer->at + step_bytes < displacer->buffer.bytes ? displacer->at + step_bytes : 0;
}

void displacer_pass(struct displacer *displacer)
{
    for (uint64_t done = 0; done < displacer->buffer.bytes; done += step_bytes)
        displacer_step(displacer);
}
