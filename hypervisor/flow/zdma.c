/* SPDX-License-Identifier: Apache-2.0
 *
 * Register accesses of the channel (zdma.h).
 */
#include "flow/zdma.h"
#include <arch/barrier.h>
#include <arch/mmio.h>

/* UG1087, module ZDMA. */
#define ZDMA_ISR         0x100u
#define ZDMA_IEN         0x108u
#define ZDMA_IDS         0x10Cu
#define ZDMA_CTRL0       0x110u
#define ZDMA_DATA_ATTR   0x120u
#define ZDMA_SOURCE      0x128u /* four words: address low, high, bytes, control */
#define ZDMA_DESTINATION 0x138u
#define ZDMA_CTRL2       0x200u

#define ISR_ALL          0xFFFu
#define ISR_DONE         (1u << 10)
/* errors: AXI, descriptor, APB */
#define ISR_ERRORS       ((1u << 9) | (1u << 8) | (1u << 7) | (1u << 6) | (1u << 0))
#define CTRL0_SIMPLE     0u /* one transfer by registers, reads and writes, no rate limit of the channel */
#define CTRL2_ENABLE     1u
#define CONTROL_COHERENT 1u
/* Incrementing bursts of 16, cacheable (AxCACHE 15) both ways. */
#define DATA_ATTR_READ   ((1u << 26) | (0xFu << 22) | (0xFu << 14))
#define DATA_ATTR_WRITE  ((1u << 12) | (0xFu << 8) | (0xFu << 0))

static void write_at(paddr_t base, uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(base.value + offset), value);
}

static void write_side(paddr_t channel, uint32_t side, paddr_t address, uint32_t bytes)
{
    write_at(channel, side, (uint32_t)address.value);
    write_at(channel, side + 4, (uint32_t)(address.value >> 32));
    write_at(channel, side + 8, bytes);
    write_at(channel, side + 12, CONTROL_COHERENT);
}

void zdma_init(paddr_t channel)
{
    write_at(channel, ZDMA_CTRL2, 0);
    write_at(channel, ZDMA_IDS, ISR_ALL);
    write_at(channel, ZDMA_CTRL0, CTRL0_SIMPLE);
    write_at(channel, ZDMA_DATA_ATTR, DATA_ATTR_READ | DATA_ATTR_WRITE);
    write_at(channel, ZDMA_ISR, ISR_ALL);
    write_at(channel, ZDMA_IEN, ISR_DONE | ISR_ERRORS);
}

void zdma_start(paddr_t channel, paddr_t from, paddr_t to, uint32_t bytes)
{
    write_side(channel, ZDMA_SOURCE, from, bytes);
    write_side(channel, ZDMA_DESTINATION, to, bytes);
    arch_dsb_sy();
    write_at(channel, ZDMA_CTRL2, CTRL2_ENABLE);
}

enum zdma_outcome zdma_outcome(paddr_t channel)
{
    uint32_t status = mmio_read32(paddr(channel.value + ZDMA_ISR)) & (ISR_DONE | ISR_ERRORS);

    if (status == 0) {
        return ZDMA_UNDER_WAY;
    }
    write_at(channel, ZDMA_ISR, ISR_ALL);
    arch_dsb_sy(); /* the data is visible, and the interrupt is cleared, before any later access */
    return (status & ISR_ERRORS) != 0 ? ZDMA_FAILED : ZDMA_DONE;
}
