// SPDX-License-Identifier: Apache-2.0
//
// Abuse of the virtual interrupt controller: every register of distributor and redistributors in every width,
// the other VCPU's frames, interrupts that the domain does not have, ends of interrupts that are not active.
// The evidence is an interrupt that arrives although no VCPU of this domain raised it.
#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/timer.h"

enum {
    chunk_bytes = 0x1000,
    distributor_bytes = 0x10000,
    redistributor_bytes = 0x20000,
    width_samples = 12,
    widths = 3,
    banks = 32,
    first_shared = 32,
    special = 1020,
    gicd_control = 0x0000,
    gicd_enable = 0x0100,
    gicd_disable = 0x0180,
    gicd_clear_pending = 0x0280,
    gicd_clear_active = 0x0380,
    gicd_route = 0x6000,
    wait_ticks = 1000000,
};

static uint64_t distributor(void)
{
    return board()->gic_distributor.address;
}

static uint64_t redistributors(void)
{
    return board()->gic_redistributor.address;
}

// Restores the initial state: all disabled, nothing pending or active, group 1 enabled.
static void clean_up(void)
{
    for (uint32_t i = 0; i < banks; i++) {
        mmio_write32(distributor() + gicd_disable + 4 * i, ~0u);
        mmio_write32(distributor() + gicd_clear_pending + 4 * i, ~0u);
        mmio_write32(distributor() + gicd_clear_active + 4 * i, ~0u);
    }
    for (uint64_t frame = 0; frame < board()->cpu_count * (uint64_t)redistributor_bytes;
         frame += redistributor_bytes) {
        uint64_t private = redistributors() + frame + 0x10000;
        mmio_write32(private + gicd_disable, ~0u);
        mmio_write32(private + gicd_clear_pending, ~0u);
        mmio_write32(private + gicd_clear_active, ~0u);
    }
    (void)gic_init();
    gic_enable_private(board()->virtual_timer_intid);
}

static void sweep(uint64_t base, probe *instruction, uint64_t value)
{
    for (uint64_t offset = 0; offset < chunk_bytes; offset += 4)
        (void)instruction(base + offset, value);
    note(OUTCOME_EMULATED, chunk_bytes / 4);
}

static void read_distributor(uint32_t step)
{
    sweep(distributor() + step * (uint64_t)chunk_bytes, probe_load32, 0);
}

static void read_redistributor(uint32_t step)
{
    sweep(redistributors() + step * (uint64_t)chunk_bytes, probe_load32, 0);
}

static void write_distributor(uint32_t step)
{
    sweep(distributor() + step * (uint64_t)chunk_bytes, probe_store32, step % 2 == 0 ? ~0ull : 0xA5A5A5A5);
    clean_up();
}

static void write_redistributor(uint32_t step)
{
    sweep(redistributors() + step * (uint64_t)chunk_bytes, probe_store32, step % 2 == 0 ? ~0ull : 0x5A5A5A5A);
    clean_up();
}

// After the domain's own redistributors come those of other cores.
static void beyond(uint32_t step)
{
    uint64_t offset = board()->cpu_count * (uint64_t)redistributor_bytes + step * 0x8000ull;

    catch_start();
    uint64_t found = probe_load32(redistributors() + offset, 0);
    (void)catch_stop();
    note_through(found);
}

static void width(uint32_t step)
{
    static probe *const probes[widths * 2] = {probe_load8,  probe_load16,  probe_load64,
                                              probe_store8, probe_store16, probe_store64};
    static const uint32_t offsets[width_samples] = {0x0000, 0x0008, 0x0080, 0x0104, 0x0284, 0x0400,
                                                    0x0C00, 0x0F00, 0x6000, 0x6100, 0xC000, 0xFFE8};
    uint32_t n = step / (widths * 2);
    uint64_t base = n < width_samples ? distributor() : redistributors();

    catch_start();
    (void)probes[step % (widths * 2)](base + offsets[n % width_samples], 0);
    note_caught(OUTCOME_EMULATED);
}

// Enables all interrupts, routed here, and raises none: any that arrives is another domain's. That of the
// domain's own console is masked at the UART.
static void enable_everything(uint32_t step)
{
    uint32_t intid;

    (void)step;
    mmio_write32(distributor() + gicd_control, 0x12);
    for (uint32_t i = 1; i < banks; i++)
        mmio_write32(distributor() + gicd_enable + 4 * i, ~0u);
    for (uint32_t i = first_shared; i < special; i++)
        mmio_write32(distributor() + gicd_route + 8 * i, 0);
    uint64_t end = timer_now() + wait_ticks;
    while (timer_now() < end) {
        if (gic_acknowledge(&intid)) {
            if (intid >= first_shared)
                note_through(intid);
            gic_end(intid);
        }
    }
    note(OUTCOME_NO_EFFECT, special - first_shared);
    clean_up();
}

// Ends interrupts that never came, including those that other domains have.
static void end_what_is_not_active(uint32_t step)
{
    (void)step;
    for (uint32_t intid = 0; intid < special; intid++) {
        sysreg_write(ICC_EOIR1_EL1, intid);
        mmio_write32(distributor() + gicd_clear_active + intid / 32 * 4, 1u << intid % 32);
    }
    note(OUTCOME_NO_EFFECT, special * 2);
}

// Software-generated interrupts to all affinities and ranges: only the domain's own VCPUs exist.
static void signal_everybody(uint32_t step)
{
    uint64_t affinities =
        (uint64_t)(step & 3) << 16 | (uint64_t)(step >> 2 & 3) << 32 | (uint64_t)(step >> 4 & 3) << 48;

    for (uint64_t range = 0; range < 16; range++) {
        for (uint64_t intid = 0; intid < 16; intid++)
            sysreg_write(ICC_SGI1R_EL1, affinities | range << 44 | intid << 24 | 0xFFFF);
    }
    sysreg_write(ICC_SGI1R_EL1, 1ull << 40 | 0xFull << 24);
    note(OUTCOME_NO_EFFECT, 16 * 16 + 1);
    clean_up();
}

static const struct attempt attempts[] = {
    {"gic", "read-distributor", distributor_bytes / chunk_bytes, read_distributor, false},
    {"gic", "read-redistributor", 2 * redistributor_bytes / chunk_bytes, read_redistributor, false},
    {"gic", "write-distributor", distributor_bytes / chunk_bytes, write_distributor, false},
    {"gic", "write-redistributor", 2 * redistributor_bytes / chunk_bytes, write_redistributor, false},
    {"gic", "beyond-redistributors", 8, beyond, false},
    {"gic", "width", 2 * width_samples *widths * 2, width, false},
    {"gic", "enable-everything", 1, enable_everything, false},
    {"gic", "end-not-active", 1, end_what_is_not_active, false},
    {"gic", "signal-everybody", 64, signal_everybody, false},
};

const struct attempt_list attempts_gic = {attempts, sizeof(attempts) / sizeof(attempts[0])};
