/* SPDX-License-Identifier: Apache-2.0
 *
 * The ID registers as guests see them: what the core has, minus what EL2 keeps for itself or does not switch.
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

/* Its value for the guest of this core; unallocated ones read as zero. */
uint64_t id_register_value(uint32_t encoding);

#ifdef __cplusplus
}
#endif

#endif
