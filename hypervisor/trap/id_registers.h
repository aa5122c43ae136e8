/* SPDX-License-Identifier: Apache-2.0
 *
 * ID registers as guests see them: the features of the core without those that EL2 keeps for itself or does
 * not switch between guests.
 */
#ifndef BULKHEAD_ID_REGISTERS_H
#define BULKHEAD_ID_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if an encoding (SYSREG_ENCODING of syndrome.h) is in the space of ID registers that HCR_EL2.TID3
 * traps. */
bool is_id_register(uint32_t encoding);

/* The register's value for the guest of this core. Unallocated registers read as zero. */
uint64_t id_register_value(uint32_t encoding);

#ifdef __cplusplus
}
#endif

#endif
