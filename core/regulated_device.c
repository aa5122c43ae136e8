/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Conversion between budgets and rates of registers. It rounds against the device: the rate never allows more
 * than the budget, and a sample never has less than the rate allows. Products stay below 2^64 because budgets
 * and intervals in ns are below 2^30.
 */
#include "core/regulated_device.h"

#define NS_PER_S 1000000000u

uint32_t regulated_device_place(const struct manifest_header *manifest, uint32_t number)
{
    return manifest->device_regulators.unit_events[number] != 0 ? manifest->cpus.count + number
                                                                : BH_MAX_CORES;
}

uint32_t regulated_devices(const struct manifest_header *manifest)
{
    uint32_t places = 0;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint32_t place = regulated_device_place(manifest, i);

        places |= place < BH_MAX_CORES ? 1u << place : 0;
    }
    return places;
}

uint32_t regulated_device_rate(const struct manifest_device_regulators *all, uint32_t number, uint64_t events,
                               uint64_t interval_ns)
{
    uint64_t rate = events * NS_PER_S / (all->unit_events[number] * interval_ns);

    return rate < all->most[number] ? (uint32_t)rate : all->most[number];
}

uint64_t regulated_device_most(const struct manifest_device_regulators *all, uint32_t number,
                               uint64_t interval_ns)
{
    uint64_t of_second = (uint64_t)all->unit_events[number] * all->most[number];
    uint64_t rest = of_second % NS_PER_S * interval_ns;

    return of_second / NS_PER_S * interval_ns + rest / NS_PER_S + (rest % NS_PER_S != 0 ? 1 : 0);
}

void regulated_devices_post(const struct manifest_header *manifest,
                            const uint64_t budgets[REGULATOR_MAX_CORES], uint64_t interval_ns,
                            struct regulator_sample *sample)
{
    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        const struct manifest_device_regulators *all = &manifest->device_regulators;
        uint32_t place = regulated_device_place(manifest, i);
        uint64_t events;
        uint64_t least;
        uint64_t most;

        if (place >= BH_MAX_CORES) {
            continue;
        }
        most = regulated_device_most(all, i, interval_ns);
        most = most < REGULATOR_MAX_EVENTS ? most : REGULATOR_MAX_EVENTS;
        least = (all->unit_events[i] * interval_ns + NS_PER_S - 1) / NS_PER_S; /* the rate is never 0 */
        events = budgets[place] > least ? budgets[place] : least;
        sample->accesses[place] = (uint32_t)(events < most ? events : most);
        sample->throttled |= budgets[place] < most ? 1u << place : 0;
    }
}
