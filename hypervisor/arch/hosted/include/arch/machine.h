/* SPDX-License-Identifier: Apache-2.0
 *
 * What only the hosted entry code (arch/hosted/entry.c) asks of the simulated machine: going to a guest.
 * Everything else is behind the accessors.
 */
#ifndef BULKHEAD_ARCH_MACHINE_H
#define BULKHEAD_ARCH_MACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct guest_regs;

/* Why the guest was left: the four entries of the vector table for a lower level. */
enum hosted_exception {
    HOSTED_EXCEPTION_SYNC,
    HOSTED_EXCEPTION_IRQ,
    HOSTED_EXCEPTION_SERROR,
};

/* ERET: the guest goes on, with what `regs` says of its registers; returns with the next exception. */
enum hosted_exception hosted_enter_guest(struct guest_regs *regs);

#ifdef __cplusplus
}
#endif

#endif
