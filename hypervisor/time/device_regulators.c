/* SPDX-License-Identifier: Apache-2.0
 *
 * The regulators keep their rates until the machine is turned off: no domain has their registers, and a
 * restart of a domain does not change what its devices may move (device_regulators.h).
 */
#include "time/device_regulators.h"
#include "base/qos400.h"
#include "console/console.h"
#include "core/manifest_device_regulators.h"
#include "vm/system.h"
#include <stddef.h>

uint32_t device_regulators_init(void)
{
    const struct manifest_device_regulators *all = &system_manifest()->device_regulators;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint64_t page = manifest_device_regulator_page(all, i);

        if (page != 0 && !qos400_limit(paddr(page), all->reads[i], all->writes[i])) {
            console_log("the regulator at %lx does not hold what is written to it", page);
            return (uint32_t)(offsetof(struct manifest_header, device_regulators) + i * sizeof page);
        }
    }
    return 0;
}
