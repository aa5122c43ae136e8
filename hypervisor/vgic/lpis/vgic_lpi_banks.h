/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs with message interrupts: banks of 32 that a domain has.
 */
#ifndef BULKHEAD_VGIC_LPI_BANKS_H
#define BULKHEAD_VGIC_LPI_BANKS_H

#include <bulkhead_layout.h>

#define VGIC_LPI_BANKS (BH_GUEST_LPIS / 32u)

#endif
