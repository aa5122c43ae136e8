/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver for a QoS-400 regulator of an interconnect, which limits the transactions of the master behind it
 * (CoreLink QoS-400 TRM, DSU 0026; addresses of ZynqMP's: UG1087, modules FPD_GPV and LPD_GPV). Only EL2
 * writes its registers.
 */
#ifndef BULKHEAD_QOS400_H
#define BULKHEAD_QOS400_H

#include "core/address.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits the master to reads / 4096 and writes / 4096 transactions in each clock cycle of the interconnect,
 * without bursts. `regulator`: the page of its registers, mapped. `reads`, `writes`: 1 to 4095. False if the
 * registers do not hold what was written: nothing is there, or firmware keeps the page from EL2. */
bool qos400_limit(paddr_t regulator, uint32_t reads, uint32_t writes);

/* Changes both rates of a regulator that is limited. They are in force from the next transaction on. */
void qos400_set_rates(paddr_t regulator, uint32_t reads, uint32_t writes);

#ifdef __cplusplus
}
#endif

#endif
