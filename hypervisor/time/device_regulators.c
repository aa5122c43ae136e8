/* SPDX-License-Identifier: Apache-2.0
 *
 * A constant rate holds until the machine is turned off: no domain has the registers, and a restart of a
 * domain does not change what its devices may move. The rate of a device that the regulator of cores changes
 * is written after each step in which it changed.
 */
#include "time/device_regulators.h"
#include "base/qos400.h"
#include "console/console.h"
#include "core/manifest_device_regulators.h"
#include "core/regulated_device.h"
#include "vm/cpu.h"
#include "vm/system.h"
#include <stddef.h>

static uint32_t
    rates[BH_MAX_DEVICE_REGULATORS]; /* that the regulator of cores changes: as in the registers */

uint32_t device_regulators_init(void)
{
    const struct manifest_device_regulators *all = &system_manifest()->device_regulators;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint64_t page = manifest_device_regulator_page(all, i);

        if (page != 0 && !qos400_limit(paddr(page), all->reads[i], all->writes[i])) {
            console_log("the regulator at %lx does not hold what is written to it", page);
            return (uint32_t)(offsetof(struct manifest_header, device_regulators) + i * sizeof page);
        }
        rates[i] = all->reads[i];
    }
    return 0;
}

/* Publishes a step for observers. */
static void publish(uint32_t number, uint64_t events, bool changed)
{
    struct status_device_limit *to = &cpu_at(0)->status->devices[number];
    bool first = to->limit_sum_events == 0;

    to->limit_events = events;
    to->limit_sum_events += events;
    to->limit_min_events = first || events < to->limit_min_events ? events : to->limit_min_events;
    to->limit_max_events = events > to->limit_max_events ? events : to->limit_max_events;
    to->rate = rates[number];
    to->changes += changed ? 1 : 0;
}

uint64_t device_regulators_set(const uint64_t budgets[REGULATOR_MAX_CORES], uint64_t interval_ns)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_device_regulators *all = &manifest->device_regulators;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint32_t place = regulated_device_place(manifest, i);
        uint32_t rate;
        bool changed;

        if (place >= BH_MAX_CORES) {
            continue;
        }
        rate = regulated_device_rate(all, i, budgets[place], interval_ns);
        rate = rate != 0 ? rate : 1; /* 0 would turn the limit off */
        changed = rate != rates[i];
        if (changed) {
            qos400_set_rates(paddr(manifest_device_regulator_page(all, i)), rate, rate);
            rates[i] = rate;
        }
        publish(i, budgets[place], changed);
        sum += budgets[place];
    }
    return sum;
}
