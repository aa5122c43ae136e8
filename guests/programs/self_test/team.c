// SPDX-License-Identifier: Apache-2.0
//
// The other VCPUs sleep until an interrupt of the first one, and then run the pattern that they find in their
// order. Each has its own part of the memory.
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/timer.h"

enum {
    row_group = 8,       // the number of rows is a multiple of it
    column_bytes = 4096, // of each row that same-bank patterns access: no more than any DRAM's row has
};

static struct member {
    const struct pattern *pattern; // to run; NULL: none
    struct place place;
    uint64_t from;
    uint64_t until;
    struct moved moved;
} __attribute__((aligned(2 * line_bytes))) members[BOARD_MAX_CPUS];

static volatile bool started[BOARD_MAX_CPUS];

static bool has_order(const struct member *member)
{
    return __atomic_load_n(&member->pattern, __ATOMIC_ACQUIRE) != NULL;
}

void program_secondary(uint32_t cpu)
{
    struct member *self = &members[cpu];

    if (!gic_init_secondary())
        return;
    gic_enable_private(team_sgi);
    started[cpu] = true;
    for (;;) {
        cpu_mask_interrupts();
        while (!has_order(self)) {
            cpu_wait_for_interrupt();
            cpu_unmask_interrupts();
            cpu_mask_interrupts();
        }
        self->moved = pattern_run(self->pattern, &self->place, self->from, self->until, false);
        __atomic_store_n(&self->pattern, NULL, __ATOMIC_RELEASE);
    }
}

bool pattern_is_possible(const struct self_test *test, const struct pattern *pattern)
{
    return pattern->order != order_same_bank || test->row_stride != 0;
}

uint32_t team_start(void)
{
    uint32_t cpus = smp_start();

    for (uint32_t cpu = 1; cpu < cpus; cpu++)
        while (!started[cpu]) {
        }
    return cpus;
}

struct place place_of(const struct self_test *test, const struct pattern *pattern, uint32_t cpu)
{
    if (pattern->order != order_same_bank)
        return (struct place){.base = test->memory + cpu * test->core_bytes,
                              .lines = test->core_bytes / line_bytes};
    uint64_t rows = test->bytes / test->row_stride / test->cpus / row_group * row_group;

    return (struct place){.base = test->memory + cpu * rows * test->row_stride,
                          .row_stride = test->row_stride,
                          .rows = rows,
                          .columns = column_bytes / line_bytes};
}

void team_begin(const struct self_test *test, const struct pattern *pattern, uint32_t last, uint64_t from,
                uint64_t until)
{
    for (uint32_t cpu = 1; cpu <= last; cpu++) {
        uint64_t at = members[cpu].place.at;

        members[cpu].place = place_of(test, pattern, cpu);
        if (pattern->order == order_few)
            members[cpu].place.at = at;
        members[cpu].from = from;
        members[cpu].until = until;
        __atomic_store_n(&members[cpu].pattern, pattern, __ATOMIC_RELEASE);
        cpu_sync_memory();
        gic_send(team_sgi, cpu);
    }
}

struct team_rate team_end(uint32_t last)
{
    struct team_rate rate = {0};

    for (uint32_t cpu = 1; cpu <= last; cpu++) {
        while (has_order(&members[cpu])) {
        }
        uint64_t own = kilobytes_per_s(members[cpu].moved.lines * line_bytes, members[cpu].moved.ticks);
        rate.sum += own;
        rate.least = cpu == 1 || own < rate.least ? own : rate.least;
    }
    return rate;
}

struct moved team_beside(const struct self_test *test, const struct pattern *own, const struct pattern *other,
                         uint32_t others, struct team_rate *rate)
{
    struct place place = place_of(test, own, 0);
    uint64_t from = timer_now() + ticks_of_us(test->window_us); // until then the caches are full
    uint64_t until = from + ticks_of_us(test->window_us);

    team_begin(test, other, others, from, until);
    struct moved moved = pattern_run(own, &place, from, until, false);
    *rate = team_end(others);
    return moved;
}
