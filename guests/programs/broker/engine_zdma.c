// SPDX-License-Identifier: Apache-2.0
//
// A channel of the ZynqMP's DMA as the broker's own. A transfer takes a few microseconds, so the broker reads
// the channel's status until it has ended, and its interrupts are off.
#include "guests/programs/broker/engine.h"
#include "guests/runtime/zdma.h"

static uint64_t registers;

static bool channel_init(uint64_t at)
{
    registers = at;
    while (zdma_is_busy(registers)) {
    }
    zdma_init(registers);
    mmio_write32(registers + zdma_ids, zdma_isr_all);
    mmio_write32(registers + zdma_data_attributes, zdma_cached);
    return true;
}

static void begin(const struct flow_piece *piece, uint32_t bytes, uint64_t base)
{
    zdma_copy(registers, base + piece->to_physical, base + piece->from_physical, bytes, zdma_coherent);
}

static enum engine_state look(void)
{
    uint32_t status = mmio_read32(registers + zdma_isr) & (zdma_isr_done | zdma_isr_errors);

    if (status == 0)
        return ENGINE_WORKS;
    mmio_write32(registers + zdma_isr, zdma_isr_all);
    cpu_sync_memory();
    return (status & zdma_isr_errors) == 0 ? ENGINE_DONE : ENGINE_FAILED;
}

const struct engine engine_zdma = {.init = channel_init, .begin = begin, .look = look, .pause_ns = 0};
