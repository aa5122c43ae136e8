/* SPDX-License-Identifier: Apache-2.0
 *
 * Regulators of the interconnect in front of devices that domains have: the manifest's rates, which admission
 * charges.
 */
#ifndef BULKHEAD_DEVICE_REGULATORS_H
#define BULKHEAD_DEVICE_REGULATORS_H

/* Sets all regulators, before any domain runs. The manifest has been checked, and their registers are mapped.
 */
void device_regulators_init(void);

#endif
