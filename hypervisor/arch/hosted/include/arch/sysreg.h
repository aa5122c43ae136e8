/* SPDX-License-Identifier: Apache-2.0
 *
 * System-register accessors, hosted backend: each access is a call into the plain fakes of the unit tests or
 * the models of the simulated machine. Names and table are those of the target backend.
 */
#ifndef BULKHEAD_ARCH_SYSREG_H
#define BULKHEAD_ARCH_SYSREG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sysreg_id {
#define SYSREG(name, op0, op1, crn, crm, op2) SYSREG_ID_##name,
#include "arch/sysreg_table.h"
#undef SYSREG
    SYSREG_ID_COUNT
};

/* Reads or writes a register of the core that executes now. Implemented by the backend that is linked in. */
uint64_t hosted_sysreg_read(enum sysreg_id id);
void hosted_sysreg_write(enum sysreg_id id, uint64_t value);

#define sysreg_read(name)         hosted_sysreg_read(SYSREG_ID_##name)
#define sysreg_write(name, value) hosted_sysreg_write(SYSREG_ID_##name, (value))

#ifdef __cplusplus
}
#endif

#endif
