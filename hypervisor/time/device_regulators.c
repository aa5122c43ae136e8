/* SPDX-License-Identifier: Apache-2.0
 *
 * The regulators keep their rates until the machine is turned off: no domain has their registers, and a
 * restart of a domain does not change what its devices may move (device_regulators.h).
 */
#include "time/device_regulators.h"
#include "base/qos400.h"
#include "core/manifest_device_regulators.h"
#include "vm/system.h"

void device_regulators_init(void)
{
    const struct manifest_device_regulators *all = &system_manifest()->device_regulators;

    for (uint32_t i = 0; i < BH_MAX_DEVICE_REGULATORS; i++) {
        uint64_t page = manifest_device_regulator_page(all, i);

        if (page != 0) {
            qos400_limit(paddr(page), all->reads[i], all->writes[i]);
        }
    }
}
