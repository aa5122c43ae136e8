/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a domain by what its guest did.
 */
#ifndef BULKHEAD_CRASH_H
#define BULKHEAD_CRASH_H

#include "vm/cpu.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the domain of the core's VCPU, or restarts it if it is to be: records where and why, and keeps its
 * registers, which the console core prints line by line. */
void domain_crash(struct cpu *cpu, const struct guest_regs *regs, enum bh_domain_end end);

/* Before the first domain starts, on the first core. */
void crash_init(void);

#ifdef __cplusplus
}
#endif

#endif
