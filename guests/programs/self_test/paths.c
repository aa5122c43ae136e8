// SPDX-License-Identifier: Apache-2.0
//
// Paths of the hypervisor that a guest can see, while the other cores write to memory, so that the hypervisor
// misses the shared cache: a call that it refuses (`hypervisor_call` of `bulkhead bench flows`), the timer's
// interrupt from its deadline to the guest's handler, and an interrupt that the first VCPU sends to itself.
#include <arch/sysreg.h>
#include <bulkhead_layout.h>

#include "guests/programs/self_test/self_test.h"
#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/timer.h"

enum { samples = 200, rest_us = 20, self_sgi = 2 };

static uint64_t taken[samples];
static volatile uint64_t interrupted_at; // 0: not yet

void paths_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    if (intid == board()->virtual_timer_intid || intid == self_sgi)
        interrupted_at = timer_now();
}

static uint64_t time_of_call(void)
{
    uint64_t x[CALL_REGISTERS] = {BH_HYPERCALL_BROKER_OPEN}; // only the broker may make it
    uint64_t begin = timer_now();

    cpu_hypervisor_call_all(x);
    return timer_now() - begin;
}

static uint64_t until_interrupt(uint64_t from)
{
    cpu_unmask_interrupts();
    while (interrupted_at == 0) {
    }
    cpu_mask_interrupts();
    return interrupted_at - from;
}

static uint64_t time_of_timer(void)
{
    uint64_t deadline = timer_now() + ticks_of_us(rest_us);

    interrupted_at = 0;
    timer_set(deadline);
    return until_interrupt(deadline);
}

static uint64_t time_of_sgi(void)
{
    interrupted_at = 0;
    uint64_t from = timer_now();

    gic_send(self_sgi, 0);
    return until_interrupt(from);
}

static void measure(const char *name, uint64_t (*sample)(void))
{
    for (unsigned i = 0; i < samples; i++) {
        uint64_t until = timer_now() + ticks_of_us(rest_us);

        while (timer_now() < until) {
        }
        taken[i] = sample();
    }
    report_append_times(name, taken, samples);
}

void measure_paths(const struct self_test *test)
{
    static const struct {
        const char *name;
        uint64_t (*sample)(void);
    } paths[] = {{"hypervisor_call", time_of_call},
                 {"timer_interrupt", time_of_timer},
                 {"own_interrupt", time_of_sgi}};
    uint64_t until = timer_now() + ticks_of_us(sizeof(paths) / sizeof(paths[0]) * samples * 2 * rest_us);

    gic_enable_private(self_sgi);
    team_begin(test, &patterns[sequential_writes], test->cpus - 1, timer_now(), until);
    report_append("paths:  # while the other cores write to memory\n");
    for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        measure(paths[i].name, paths[i].sample);
    (void)team_end(test->cpus - 1);
}
