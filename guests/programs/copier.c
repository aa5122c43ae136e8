// SPDX-License-Identifier: Apache-2.0
//
// Lets a channel of a ZynqMP's DMA copy a part of its memory, chunk by chunk, and waits for the interrupt of
// each; then it checks every byte. The DMA masters physical memory, so the domain must have the device, have
// contiguous memory, and be given its physical address as `memory_pa`. Parameters: `memory_pa`, `dma`
// [0xFFA80000], `interrupt` [109], `bytes` [1 MiB], `chunk` [4096], `ms` [0]: copies the same bytes again
// until this time has passed.
#include <arch/sysreg.h>

#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/runtime/zdma.h"

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
    copier.status = zdma_take(copier.registers);
}

static void copy(uint64_t to, uint64_t from, uint32_t bytes)
{
    copier.status = 0;
    zdma_start(copier.registers, (const void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes,
               copier.memory_pa);
    while (copier.status == 0) {
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    copier.errors += copier.status != zdma_isr_done;
}

void program_main(void)
{
    struct memory_area arena = memory_arena();
    volatile uint8_t *source = (volatile uint8_t *)arena.start;
    uint64_t bytes = param("bytes", 1 << 20);
    uint64_t chunk = param("chunk", 4096);
    uint64_t ms = param("ms", 0);
    uint64_t wrong = 0;
    uint64_t copied = 0;
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
    zdma_init(copier.registers);
    for (uint64_t i = 0; i < bytes; i++) {
        source[i] = (uint8_t)(i * 7 + (i >> 8));
        source[bytes + i] = (uint8_t)~source[i];
    }
    console_write("bulkhead: ready\n");
    start = timer_now();
    do {
        for (uint64_t at = 0; at < bytes; at += chunk)
            copy(arena.start + bytes + at, arena.start + at,
                 (uint32_t)(bytes - at < chunk ? bytes - at : chunk));
        copied += bytes;
        elapsed_ns = ticks_to_ns(timer_now() - start, timer_frequency());
    } while (elapsed_ns < ms * 1000000);
    for (uint64_t i = 0; i < bytes; i++)
        wrong += source[bytes + i] != source[i];
    console_printf(
        "report {\"bytes\": %lu, \"chunk\": %lu, \"elapsed_ns\": %lu, \"errors\": %u, \"wrong\": %lu}\n",
        copied, chunk, elapsed_ns, copier.errors, wrong);
}
