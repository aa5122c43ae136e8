// SPDX-License-Identifier: Apache-2.0
//
// The ring is memory of its own, of which the broker uses nothing else.
#include "guests/programs/broker/samples.h"
#include "guests/programs/broker/broker.h"

#include "guests/runtime/params.h"

void samples_init(void)
{
    static struct sample_writer writer;
    uint64_t at = param("samples", 0);
    uint64_t bytes = param("samples_bytes", 0);
    struct sample_ring *ring = (struct sample_ring *)(uintptr_t)mmu_virtual(at);

    if (bytes != 0 &&
        sample_writer_init(&writer, ring, bytes, sizeof(struct packet_sample) / sizeof(uint64_t)))
        broker.exchange.recorder = &writer;
}
