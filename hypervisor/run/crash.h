/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends a domain whose guest has done something that it must not do.
 */
#ifndef BULKHEAD_CRASH_H
#define BULKHEAD_CRASH_H

#include "vm/cpu.h"
#include "vm/vcpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the domain of the core's VCPU, or restarts it if the manifest says so. Records the place and the
 * reason, and keeps the registers, which the console core prints line by line. */
void domain_crash(struct cpu *cpu, const struct guest_regs *regs, enum bh_domain_end end);

/* Called on the first core before the first domain starts. */
void crash_init(void);

#ifdef __cplusplus
}
#endif

#endif
