// SPDX-License-Identifier: Apache-2.0
//
// Time of each path into the hypervisor, in ticks of the counter; `bulkhead bench hypervisor` runs it where a
// tick is an instruction. Reports for each path the first sample, which finds nothing prepared, and minimum,
// median and maximum of the others. With one VCPU it measures all paths of one VCPU; with two those between
// two, lazy mapping, and at the end a restart of its own domain. With `budget` 1 it measures the cost of a
// budget to its domain; with `shared` 1, as a manager and beside a domain that never sleeps, how it gets the
// core back. With `flash` it measures nothing: it changes what EL2 reads from this flash in place of the
// counters of a memory controller, for `intervals` intervals of a regulator.
#include <arch/path_probes.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/manager.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/start.h"
#include "guests/runtime/timer.h"

#define PSCI_VERSION      0x84000000u
#define PSCI_SYSTEM_RESET 0x84000009u
#define GICD_TYPER        0x0004u
#define GICD_ISENABLER    0x0100u
#define GICD_ISPENDR      0x0200u
#define GICD_SGIR         0x0F00u
#define UARTFR            0x0018u
#define TEST_SPI          200u // no device has it
#define LAZY_STEP_BYTES   0x10000u
#define RESTART_MAGIC     0x70617468u
#define FLASH_READ_STATUS 0x70u // commands of Intel's set
#define FLASH_READ_ARRAY  0xFFu

enum {
    repetitions = 100,
    sgi = 1,
    most_rows = 17,
    loop_turns = 10000000,
    ahead_ticks = 20000,    // of a deadline, so that the probe waits before it comes, and others run
    taken_ticks = 40,       // of a turn of a loop, and it was interrupted
    quiet_ticks = 10000000, // samples from the start to the first measurement, without that of the first loop
};

struct row {
    const char *name;
    uint64_t first;
    uint64_t min;
    uint64_t median;
    uint64_t max;
};

// State passed from one life of the domain to the next, in memory that no image is loaded to.
struct restart {
    uint64_t called_at;
    uint64_t magic;
};

static struct {
    volatile uint64_t received_at; // counter in the vector of the other VCPU; 0: it waits
    volatile bool ready;
} other;

// Printed when all is measured: during output the hypervisor has other work.
static struct row rows[most_rows];
static uint32_t row_count;

static bool has_gic_v3(void)
{
    return board()->gic_redistributor.size != 0;
}

static void sort(uint64_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        uint64_t value = values[i];
        int at = i;

        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static void print_rows(void)
{
    for (uint32_t i = 0; i < row_count; i++) {
        console_printf("%s\"%s\": {\"first\": %lu, \"min\": %lu, \"median\": %lu, \"max\": %lu}",
                       i == 0 ? "report {" : ", ", rows[i].name, rows[i].first, rows[i].min, rows[i].median,
                       rows[i].max);
    }
    console_write("}\n");
}

static void add_once(const char *name, uint64_t ticks)
{
    rows[row_count++] = (struct row){name, ticks, ticks, ticks, ticks};
}

static void measure(const char *name, uint64_t (*sample)(void), uint64_t (*nothing)(void))
{
    static uint64_t others[repetitions];
    uint64_t overhead = nothing();
    uint64_t first = sample() - overhead;

    for (int i = 0; i < repetitions; i++)
        others[i] = sample() - overhead;
    sort(others, repetitions);
    rows[row_count++] =
        (struct row){name, first, others[0], others[repetitions / 2], others[repetitions - 1]};
}

static void finish_interrupt(void)
{
    uint32_t intid;

    if (gic_acknowledge(&intid))
        gic_end(intid);
}

static uint64_t call_version(void)
{
    return probe_hvc(PSCI_VERSION);
}

static uint64_t call_version_by_smc(void)
{
    return probe_smc(PSCI_VERSION);
}

static uint64_t read_distributor(void)
{
    return probe_load(board()->gic_distributor.address + GICD_TYPER);
}

static uint64_t write_distributor(void)
{
    return probe_store(board()->gic_distributor.address + GICD_ISENABLER + TEST_SPI / 32 * 4, 0);
}

static uint64_t read_uart(void)
{
    return probe_load(board()->uart_base + UARTFR);
}

// Loads from a page that was not accessed before; the line is part of the stack.
static uint64_t invalidate_translation(void)
{
    return probe_invalidate_translation(0);
}

static uint64_t clean_line(void)
{
    uint64_t here = 0;

    return probe_clean_line((uintptr_t)&here);
}

static uint64_t send_to_self(void)
{
    uint64_t ticks = has_gic_v3()
                         ? probe_register_to_self((uint64_t)sgi << 24 | 1u << smp_self())
                         : probe_store_to_self(2u << 24 | sgi, board()->gic_distributor.address + GICD_SGIR);

    finish_interrupt();
    return ticks;
}

static uint64_t lateness(uint64_t (*wait)(void))
{
    uint64_t deadline = timer_now() + ahead_ticks;
    uint64_t at;

    timer_set(deadline);
    at = wait();
    timer_stop();
    finish_interrupt();
    return at - deadline;
}

static uint64_t timer_while_busy(void)
{
    return lateness(probe_interrupt_busy);
}

static uint64_t timer_while_asleep(void)
{
    return lateness(probe_interrupt_asleep);
}

// Time from before an end of interrupt to after it.
static uint64_t end_of(uint32_t intid)
{
    uint64_t before = timer_now();

    gic_end(intid);
    return timer_now() - before;
}

// The end of an interrupt without maintenance: hardware handles it alone.
static uint64_t end_of_sgi(void)
{
    uint32_t intid = sgi;

    if (has_gic_v3()) {
        (void)probe_register_to_self((uint64_t)sgi << 24 | 1u << smp_self());
    } else {
        (void)probe_store_to_self(2u << 24 | sgi, board()->gic_distributor.address + GICD_SGIR);
    }
    (void)gic_acknowledge(&intid);
    return end_of(intid);
}

// The end of a level-triggered interrupt that software made pending: the hypervisor samples its line.
static uint64_t end_of_level(void)
{
    uint64_t word = board()->gic_distributor.address + TEST_SPI / 32 * 4;
    uint32_t intid = TEST_SPI;

    (void)probe_store(word + GICD_ISENABLER, 1u << TEST_SPI % 32);
    (void)probe_store(word + GICD_ISPENDR, 1u << TEST_SPI % 32);
    (void)gic_acknowledge(&intid);
    return end_of(intid);
}

// Time that EL2 adds to a long loop of a guest that is alone on its core and does nothing else.
static uint64_t lone_loop(void)
{
    return probe_loop(loop_turns) - loop_turns * PROBE_TURN_INSTRUCTIONS;
}

static void measure_one(void)
{
    add_once("lone_loop", lone_loop() - probe_nothing());
    measure("psci_version", call_version, probe_nothing);
    measure("psci_version_smc", call_version_by_smc, probe_nothing);
    measure("gicd_read", read_distributor, probe_nothing);
    measure("gicd_isenabler_write", write_distributor, probe_nothing);
    measure("uart_flag_read", read_uart, probe_nothing);
    measure("id_register_read", probe_id_register, probe_nothing);
    measure("tlb_maintenance", invalidate_translation, probe_nothing);
    measure("cache_maintenance", clean_line, probe_nothing);
    measure("undefined_register", probe_undefined_register, probe_nothing_interrupted);
    measure("timer", timer_while_busy, probe_nothing_interrupted);
    measure("timer_asleep", timer_while_asleep, probe_nothing_interrupted);
    measure("self_sgi", send_to_self, probe_nothing_interrupted);
    measure("maintenance", end_of_level, end_of_sgi);
}

static uint64_t send_to_other(void)
{
    uint64_t sent_at;

    other.received_at = 0;
    sent_at = has_gic_v3()
                  ? probe_register_and_wait((uint64_t)sgi << 24 | 1u << 1)
                  : probe_store_and_wait(1u << 17 | sgi, board()->gic_distributor.address + GICD_SGIR);
    while (other.received_at == 0)
        cpu_wait_for_interrupt();
    finish_interrupt();
    return other.received_at - sent_at;
}

static uint64_t send_to_other_and_back(void)
{
    uint64_t took = has_gic_v3()
                        ? probe_register_and_back((uint64_t)sgi << 24 | 1u << 1)
                        : probe_store_and_back(1u << 17 | sgi, board()->gic_distributor.address + GICD_SGIR);

    finish_interrupt();
    return took;
}

// Each call accesses a stretch of memory that was not accessed before.
static uint64_t touch_next(void)
{
    static uint64_t next;

    if (next == 0)
        next = (memory_arena().start + 2 * LAZY_STEP_BYTES) & ~(uint64_t)(LAZY_STEP_BYTES - 1);
    next += LAZY_STEP_BYTES;
    return probe_load(next);
}

// Time of the first turn of a loop that takes at least `least_ticks`: EL2 took most of it.
static uint64_t turn_of(uint64_t least_ticks)
{
    uint64_t before = timer_now();
    uint64_t ticks;

    do {
        uint64_t now = timer_now();

        ticks = now - before;
        before = now;
    } while (ticks < least_ticks);
    return ticks;
}

static uint64_t turn(void)
{
    return turn_of(0);
}

// Time for which EL2 next takes this core for `reason`, and not for `other_reason`.
static uint64_t taken_for(uint32_t reason, uint32_t other_reason)
{
    uint64_t other_was, was, ticks;

    do {
        was = own_exits(reason);
        other_was = own_exits(other_reason);
        ticks = turn_of(taken_ticks);
    } while (own_exits(reason) != was + 1 || own_exits(other_reason) != other_was);
    return ticks;
}

static uint64_t period_interrupt(void)
{
    return taken_for(BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER, BH_EXIT_REASON_IRQ_OVERFLOW);
}

static uint64_t overflow_interrupt(void)
{
    return taken_for(BH_EXIT_REASON_IRQ_OVERFLOW, BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER);
}

// With a budget of which a part is drawn at each overflow, and which is never spent.
static void measure_budget(void)
{
    measure("period", period_interrupt, turn);
    measure("overflow", overflow_interrupt, turn);
}

static void measure_shared(void)
{
    measure("vcpu_switch", timer_while_asleep, probe_nothing_interrupted);
    print_rows();
    (void)manager_end_machine();
}

// Flash whose status can be read shows it in all of its words, so that each change of the mode changes what
// EL2 reads there. The mode changes once in each interval of the regulator.
static void change_load(void)
{
    volatile uint32_t *flash = (volatile uint32_t *)param("flash", 0);
    uint64_t interval_ticks = timer_frequency() / 1000000 * param("interval_us", 1);
    uint64_t next = timer_now();

    for (uint64_t left = param("intervals", 0); left != 0; left--) {
        *flash = left % 2 == 0 ? FLASH_READ_STATUS : FLASH_READ_ARRAY;
        next += interval_ticks;
        while (timer_now() < next) {
        }
    }
    console_write("done\n");
}

static void measure_two(void)
{
    struct restart *restart = (struct restart *)(uintptr_t)memory_arena().start;

    if (restart->magic == RESTART_MAGIC) {
        add_once("restart", start_counter() - restart->called_at);
        return;
    }
    if (smp_start() == 2) {
        while (!other.ready) {
        }
        measure("cross_sgi", send_to_other, probe_nothing_interrupted);
        measure("cross_sgi_round_trip", send_to_other_and_back, probe_nothing_interrupted);
    }
    measure("lazy_map", touch_next, probe_nothing);
    print_rows();
    restart->magic = RESTART_MAGIC;
    probe_reset(PSCI_SYSTEM_RESET, &restart->called_at);
}

// The system that measures the paths of one VCPU on a board of one core.
static bool is_alone(void)
{
    return board()->cpu_count == 1 && param("budget", 0) == 0 && param("shared", 0) == 0;
}

void program_main(void)
{
    if (param("flash", 0) != 0) {
        change_load();
        return;
    }
    if (is_alone())
        add_once("first_loop", lone_loop() - probe_nothing());
    if (!gic_init())
        return;
    gic_enable_private(sgi);
    gic_enable_private(board()->virtual_timer_intid);
    sysreg_write(VBAR_EL1, (uintptr_t)probe_vectors);
    cpu_sync_context();
    while (timer_now() < start_counter() + quiet_ticks) {
    }
    if (param("budget", 0) != 0) {
        measure_budget();
    } else if (param("shared", 0) != 0) {
        measure_shared();
    } else if (board()->cpu_count == 1) {
        add_once("first_guest_instruction", start_counter() - probe_nothing_interrupted());
        measure_one();
    } else {
        measure_two();
    }
    print_rows();
}

// The receiver: records when its vector was reached, and answers.
void program_secondary(uint32_t cpu)
{
    (void)cpu;
    if (!gic_init_secondary())
        return;
    gic_enable_private(sgi);
    sysreg_write(VBAR_EL1, (uintptr_t)probe_vectors);
    cpu_sync_context();
    other.ready = true;
    for (;;) {
        uint64_t at = probe_interrupt_asleep();

        finish_interrupt();
        other.received_at = at;
        if (has_gic_v3()) {
            (void)probe_register_and_wait((uint64_t)sgi << 24 | 1u << 0);
        } else {
            (void)probe_store_and_wait(1u << 16 | sgi, board()->gic_distributor.address + GICD_SGIR);
        }
    }
}
