/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A ring of samples that drops the oldest ones (B8). One writer at a time, which never reads the ring and
 * knows no readers; any number of independent readers, which need only read access. The ring is plain memory:
 * a page, or on-chip SRAM.
 */
#ifndef BULKHEAD_CORE_SAMPLE_RING_H
#define BULKHEAD_CORE_SAMPLE_RING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory shared by writer and readers; the entries of `words` words each follow. */
struct sample_ring {
    uint64_t capacity; /* entries, not 0 */
    uint64_t words;    /* words of an entry */
    uint64_t begun;    /* number of samples whose writing has begun */
    uint64_t done;     /* number of samples completely written */
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
    uint64_t position; /* number of samples read or dropped */
    uint64_t dropped;  /* number of samples overwritten before they were read */
};

/* Creates a ring in `bytes` of memory, aligned to 8. Returns false if there is no room for two samples of
 * `words` > 0 words. */
bool sample_writer_init(struct sample_writer *writer, struct sample_ring *ring, uint64_t bytes,
                        uint64_t words);

/* Appends a sample of `writer->words` words. */
void sample_write(struct sample_writer *writer, const uint64_t *sample);

/* Starts reading at the oldest sample. Returns false if the memory does not hold a ring within `bytes`. */
bool sample_reader_init(struct sample_reader *reader, const struct sample_ring *ring, uint64_t bytes);

/* Reads the next sample into `reader->words` words at `sample`. Returns false if there is none now. */
bool sample_read(struct sample_reader *reader, uint64_t *sample);

#ifdef __cplusplus
}
#endif

#endif
