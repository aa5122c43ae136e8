/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Room for 511 samples in eight pages, as at EL2.
 */
#include "samples.h"
#include <linux/slab.h>

#define RING_BYTES 32768u

int samples_init(struct samples *samples)
{
    samples->ring = kzalloc(RING_BYTES, GFP_KERNEL);
    if (samples->ring == NULL) {
        return -ENOMEM;
    }
    (void)sample_writer_init(&samples->writer, samples->ring, RING_BYTES, SAMPLE_WORDS);
    return 0;
}

void samples_free(struct samples *samples)
{
    kfree(samples->ring);
    samples->ring = NULL;
}

void samples_write(struct samples *samples, const struct sample *sample)
{
    sample_write(&samples->writer, (const u64 *)sample);
}

bool samples_reader(const struct samples *samples, struct sample_reader *reader)
{
    return sample_reader_init(reader, samples->ring, RING_BYTES);
}
