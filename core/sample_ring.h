/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A ring of samples that drops the oldest (B8). One writer at a time, which never looks at readers nor at
 * what is in the ring; any number of readers, each on its own, which need only read access. The ring is plain
 * memory: a page, or on-chip SRAM.
 */
#ifndef BULKHEAD_CORE_SAMPLE_RING_H
#define BULKHEAD_CORE_SAMPLE_RING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What writer and readers share; entries of `words` words follow. */
struct sample_ring {
    uint64_t capacity; /* entries, not 0 */
    uint64_t words;    /* of an entry */
    uint64_t begun;    /* samples ever begun to be written */
    uint64_t done;     /* samples ever written */
    uint64_t entries[];
};

struct sample_writer {
    struct sample_ring *ring;
    uint64_t capacity;
    uint64_t words;
    uint64_t written;
};

struct sample_reader {
    const struct sample_ring *ring;
    uint64_t capacity;
    uint64_t words;
    uint64_t position; /* samples read or dropped */
    uint64_t dropped;  /* overwritten before they were read */
};

/* Makes a ring in `bytes` of memory, aligned to 8. False if there is no room for two samples of `words` > 0.
 */
bool sample_writer_init(struct sample_writer *writer, struct sample_ring *ring, uint64_t bytes,
                        uint64_t words);

/* Appends a sample of `writer->words` words. */
void sample_write(struct sample_writer *writer, const uint64_t *sample);

/* Reads from the oldest on that is there. False if that is no ring within `bytes`. */
bool sample_reader_init(struct sample_reader *reader, const struct sample_ring *ring, uint64_t bytes);

/* The next sample, into `reader->words` words. False if there is none now. */
bool sample_read(struct sample_reader *reader, uint64_t *sample);

#ifdef __cplusplus
}
#endif

#endif
