/* SPDX-License-Identifier: Apache-2.0
 *
 * What only the hosted entry code (arch/hosted/entry.c) needs from the simulated machine: entering a guest.
 * All other access to the machine is behind the accessors.
 */
#ifndef BULKHEAD_ARCH_MACHINE_H
#define BULKHEAD_ARCH_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct guest_regs;

/* Reason for leaving the guest: the four entries of the vector table for a lower exception level. */
enum hosted_exception {
    HOSTED_EXCEPTION_SYNC,
    HOSTED_EXCEPTION_IRQ,
    HOSTED_EXCEPTION_SERROR,
};

/* ERET: the guest continues with the registers in `regs`; returns with the next exception. */
enum hosted_exception hosted_enter_guest(struct guest_regs *regs);

#ifdef __cplusplus
}
#endif

#endif
