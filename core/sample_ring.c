/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The ring as a sequence lock: `begun` is increased before the words of an entry are written and `done` after
 * them, so that a reader sees from `begun` whether the entry that it copied may have been overwritten during
 * the copy.
 */
#include "core/sample_ring.h"
#include "core/atomic.h"

#define WORD_BYTES 8u

/* Number of entries of `words` words that fit into a ring of `bytes` bytes. */
static uint64_t capacity_of(uint64_t bytes, uint64_t words)
{
    uint64_t room = bytes / WORD_BYTES;
    uint64_t header = sizeof(struct sample_ring) / WORD_BYTES;

    return room < header || words == 0 || words > room ? 0 : (room - header) / words;
}

bool sample_writer_init(struct sample_writer *writer, struct sample_ring *ring, uint64_t bytes,
                        uint64_t words)
{
    uint64_t capacity = capacity_of(bytes, words);

    if (capacity < 2) {
        return false;
    }
    *writer = (struct sample_writer){ring, capacity, words, 0};
    atomic_word_store(&ring->capacity, capacity);
    atomic_word_store(&ring->words, words);
    atomic_word_store(&ring->begun, 0);
    atomic_word_store_release(&ring->done, 0);
    return true;
}

void sample_write(struct sample_writer *writer, const uint64_t *sample)
{
    struct sample_ring *ring = writer->ring;
    uint64_t first = writer->written % writer->capacity * writer->words;

    writer->written++;
    atomic_word_store(&ring->begun, writer->written);
    atomic_release_fence();
    for (uint64_t i = 0; i < writer->words; i++) {
        atomic_word_store(&ring->entries[first + i], sample[i]);
    }
    atomic_word_store_release(&ring->done, writer->written);
}

/* All samples before the last `capacity` samples that were begun are overwritten. */
static void drop_overwritten(struct sample_reader *reader, uint64_t begun)
{
    if (begun - reader->position > reader->capacity) {
        reader->dropped += begun - reader->capacity - reader->position;
        reader->position = begun - reader->capacity;
    }
}

bool sample_reader_init(struct sample_reader *reader, const struct sample_ring *ring, uint64_t bytes)
{
    uint64_t words = atomic_word_load(&ring->words);
    uint64_t capacity = atomic_word_load(&ring->capacity);

    if (capacity < 2 || capacity > capacity_of(bytes, words)) {
        return false;
    }
    *reader = (struct sample_reader){ring, capacity, words, 0, 0};
    drop_overwritten(reader, atomic_word_load(&ring->begun));
    reader->dropped = 0; /* samples before the reader started are not counted */
    return true;
}

bool sample_read(struct sample_reader *reader, uint64_t *sample)
{
    const struct sample_ring *ring = reader->ring;
    uint64_t dropped;

    do {
        uint64_t done = atomic_word_load_acquire(&ring->done);
        uint64_t first = reader->position % reader->capacity * reader->words;

        if (reader->position >= done) {
            return false;
        }
        for (uint64_t i = 0; i < reader->words; i++) {
            sample[i] = atomic_word_load(&ring->entries[first + i]);
        }
        atomic_acquire_fence();
        dropped = reader->dropped;
        drop_overwritten(reader, atomic_word_load(&ring->begun));
    } while (reader->dropped != dropped);
    reader->position++;
    return true;
}
