/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs without message interrupts.
 */
#ifndef BULKHEAD_VGIC_LPI_BANKS_H
#define BULKHEAD_VGIC_LPI_BANKS_H

#define VGIC_LPI_BANKS 0u

#endif
