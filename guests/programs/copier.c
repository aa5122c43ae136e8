// SPDX-License-Identifier: Apache-2.0
//
// Lets a channel of a ZynqMP's DMA copy a part of its memory, chunk by chunk, and waits for the interrupt of
// each; then it checks every byte. The DMA masters physical memory, so the domain must have the device, have
// contiguous memory, and be given its physical address as `memory_pa`. Parameters: `memory_pa`, `dma`
// [0xFFA80000], `interrupt` [109], `bytes` [1 MiB], `chunk` [4096].
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

// UG1087, module ZDMA.
enum {
    zdma_isr = 0x100,
    zdma_ier = 0x108,
    zdma_ids = 0x10C,
    zdma_ctrl0 = 0x110,
    zdma_source = 0x128, // four words: address low, high, size, control
    zdma_destination = 0x138,
    zdma_ctrl2 = 0x200,
    isr_all = 0xFFF,
    isr_done = 1 << 10,
    ctrl2_enable = 1,
};

static struct {
    uint64_t registers;
    uint32_t intid;
    uint64_t memory_pa;
    volatile uint32_t status; // of the transfer that has ended; 0: none has
    uint32_t errors;
} copier;

void program_interrupt(uint32_t intid)
{
    if (intid != copier.intid)
        return;
    copier.status = mmio_read32(copier.registers + zdma_isr);
    mmio_write32(copier.registers + zdma_isr, copier.status);
}

// One side of a transfer; `address`: the program's virtual address.
static void write_side(uint64_t side, uint64_t address, uint32_t bytes)
{
    uint64_t ipa = mmu_physical((const void *)(uintptr_t)address);
    uint64_t pa = ipa - board()->ram[0].address + copier.memory_pa;

    mmio_write32(copier.registers + side, (uint32_t)pa);
    mmio_write32(copier.registers + side + 4, (uint32_t)(pa >> 32));
    mmio_write32(copier.registers + side + 8, bytes);
    mmio_write32(copier.registers + side + 12, 0);
}

static void copy(uint64_t to, uint64_t from, uint32_t bytes)
{
    copier.status = 0;
    write_side(zdma_source, from, bytes);
    write_side(zdma_destination, to, bytes);
    cpu_sync_memory(); // the source must be in memory
    mmio_write32(copier.registers + zdma_ctrl2, ctrl2_enable);
    while (copier.status == 0) {
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    copier.errors += copier.status != isr_done;
}

void program_main(void)
{
    struct memory_area arena = memory_arena();
    volatile uint8_t *source = (volatile uint8_t *)arena.start;
    uint64_t bytes = param("bytes", 1 << 20);
    uint64_t chunk = param("chunk", 4096);
    uint64_t wrong = 0;
    uint64_t start;
    uint64_t elapsed_ns;

    copier.registers = param("dma", 0xFFA80000);
    copier.intid = (uint32_t)param("interrupt", 109);
    copier.memory_pa = param("memory_pa", 0);
    if (!gic_init() || bytes > arena.bytes / 2 || chunk == 0) {
        console_write("copier: cannot work so\n");
        return;
    }
    gic_enable_shared(copier.intid);
    mmio_write32(copier.registers + zdma_ids, isr_all);
    mmio_write32(copier.registers + zdma_isr, isr_all);
    mmio_write32(copier.registers + zdma_ier, isr_all);
    mmio_write32(copier.registers + zdma_ctrl0, 0);
    for (uint64_t i = 0; i < bytes; i++) {
        source[i] = (uint8_t)(i * 7 + (i >> 8));
        source[bytes + i] = (uint8_t)~source[i];
    }
    console_write("bulkhead: ready\n");
    start = timer_now();
    for (uint64_t at = 0; at < bytes; at += chunk)
        copy(arena.start + bytes + at, arena.start + at, (uint32_t)(bytes - at < chunk ? bytes - at : chunk));
    elapsed_ns = ticks_to_ns(timer_now() - start, timer_frequency());
    for (uint64_t i = 0; i < bytes; i++)
        wrong += source[bytes + i] != source[i];
    console_printf(
        "report {\"bytes\": %lu, \"chunk\": %lu, \"elapsed_ns\": %lu, \"errors\": %u, \"wrong\": %lu}\n",
        bytes, chunk, elapsed_ns, copier.errors, wrong);
}
