// SPDX-License-Identifier: Apache-2.0
//
// Keeps busy in every way at once, for tests that end the domain at a random instant: on all VCPUs timers,
// interrupts to each other, registers of the interrupt controller, memory, and VCPUs that are turned off and
// on. At whatever point it was ended, its next life must find the image as it was loaded; if not, it reports
// that and powers off. Parameters: `seed`, `tick_us`.
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"
#include "guests/runtime/random.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/start.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

#define AS_LOADED 0x626F6F7465642131ull

enum {
    sgi_count = 4,
    slice_words = 4096,
    gicr_pending = 0x10200, // ISPENDR0
};

static volatile uint64_t loaded = AS_LOADED; // .data: of the image
static volatile uint64_t interrupts[BOARD_MAX_CPUS];
static uint64_t tick_ticks;
static uint64_t seed;

void program_interrupt(uint32_t intid)
{
    interrupts[smp_self()]++;
    if (intid == board()->virtual_timer_intid)
        timer_set(timer_now() + tick_ticks);
}

static void touch(struct random *random)
{
    volatile uint64_t *words = (volatile uint64_t *)(uintptr_t)memory_arena().start;

    words += smp_self() * slice_words;
    for (int i = 0; i < 64; i++)
        words[random_below(random, slice_words)]++;
}

static void turn_on(uint64_t cpu)
{
    if (cpu < board()->cpu_count && cpu != smp_self())
        (void)psci_cpu_on(board()->cpu_mpidr[cpu],
                          mmu_physical((const void *)(uintptr_t)start_secondary_entry), cpu);
}

static void be_busy(struct random *random)
{
    switch (random_below(random, 8)) {
    case 0:
        sysreg_write(ICC_SGI1R_EL1, random_below(random, sgi_count) << 24 | random_below(random, 16));
        break;
    case 1:
        (void)mmio_read32(board()->gic_distributor.address + 4);
        break;
    case 2:
        mmio_write32(board()->gic_redistributor.address + gicr_pending,
                     1u << random_below(random, sgi_count));
        break;
    case 3:
        turn_on(1 + random_below(random, BOARD_MAX_CPUS - 1));
        break;
    case 4:
        (void)psci_version();
        break;
    case 5:
        if (smp_self() != 0 && random_below(random, 16) == 0)
            psci_cpu_off();
        break;
    default:
        touch(random);
        break;
    }
}

static void work(uint32_t cpu)
{
    struct random random = {.state = seed + cpu};

    for (uint32_t i = 0; i < sgi_count; i++)
        gic_enable_private(i);
    gic_enable_private(board()->virtual_timer_intid);
    timer_set(timer_now() + tick_ticks);
    cpu_unmask_interrupts();
    for (;;)
        be_busy(&random);
}

void program_secondary(uint32_t cpu)
{
    if (gic_init_secondary())
        work(cpu);
}

void program_main(void)
{
    if (loaded != AS_LOADED) {
        console_printf("busy: the image is not as it was loaded: %016lx\n", loaded);
        return;
    }
    loaded = 0;
    seed = param("seed", 1) + timer_now();
    tick_ticks = ns_to_ticks(param("tick_us", 50) * 1000, timer_frequency());
    if (!gic_init()) {
        console_write("busy: no usable interrupt controller\n");
        return;
    }
    for (uint32_t cpu = 1; cpu < board()->cpu_count; cpu++)
        turn_on(cpu);
    work(0);
}
