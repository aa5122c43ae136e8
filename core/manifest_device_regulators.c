/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Check of the manifest's regulators in front of devices that domains have. manifest_regions.c checks the
 * places of their registers, manifest_budgets.c the parameters of the regulator of cores.
 */
#include "core/manifest_device_regulators.h"
#include "core/manifest_internal.h"
#include "core/regulated_device.h"

#define MOST_RATE 4095u /* the rate registers have 12 bits */

uint64_t manifest_device_regulator_page(const struct manifest_device_regulators *all, uint32_t number)
{
    const uint64_t pages[BH_MAX_DEVICE_REGULATORS] = {all->page_0, all->page_1, all->page_2, all->page_3};

    return pages[number];
}

static bool rate_fits(uint64_t page, uint32_t rate)
{
    return page == 0 ? rate == 0 : rate >= 1 && rate <= MOST_RATE;
}

/* A device that the regulator of cores changes has a place there, and begins with the rate of its budget. The
 * curve of the memory's use is for cores alone. */
static bool regulation_of_device_fits(const struct manifest_header *manifest, uint32_t number)
{
    const struct manifest_device_regulators *all = &manifest->device_regulators;
    const struct manifest_regulation *regulation = &manifest->regulation;
    uint32_t place = regulated_device_place(manifest, number);

    if (all->unit_events[number] == 0) {
        return all->most[number] == 0;
    }
    return all->reads[number] != 0 && all->reads[number] == all->writes[number] &&
           all->most[number] <= MOST_RATE && place < BH_MAX_CORES && regulation->members != 0 &&
           manifest->bandwidth_curve.count == 0 &&
           all->reads[number] ==
               regulated_device_rate(all, number, regulation->budget_events[place], regulation->interval_ns);
}

bool manifest_check_device_regulators(struct manifest_check *check)
{
    const struct manifest_device_regulators *all = &check->manifest->device_regulators;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint64_t page = manifest_device_regulator_page(all, i);

        if (!rate_fits(page, all->reads[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, &all->reads[i]);
        }
        if (!rate_fits(page, all->writes[i])) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_BANDWIDTH, &all->writes[i]);
        }
        if (!regulation_of_device_fits(check->manifest, i)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_REGULATION, &all->unit_events[i]);
        }
    }
    return true;
}
