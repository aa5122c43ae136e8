// SPDX-License-Identifier: Apache-2.0
//
// The functions of the interrupt controller that bare-metal guests need. The device tree gives its version at
// run time, so that one ELF file runs on every board.
#ifndef BULKHEAD_GUESTS_GIC_H
#define BULKHEAD_GUESTS_GIC_H

#include <stdbool.h>
#include <stdint.h>

// Prepares the distributor and the calling VCPU's part. False: no controller, or none for this VCPU.
bool gic_init(void);

// The same for a further VCPU, after gic_init() on the first.
bool gic_init_secondary(void);

// Enables an SGI or PPI (INTID below 32) for the calling VCPU.
void gic_enable_private(uint32_t intid);

// Enables a device's interrupt (INTID 32 and up) for the first VCPU, which must be the caller.
void gic_enable_shared(uint32_t intid);

// Makes device interrupts pending: those of `mask` from INTID `first` on, which is a multiple of 32, 32 or
// more.
void gic_pend_shared(uint32_t first, uint32_t mask);

// Sends software-generated interrupt `intid` (below 16) to a VCPU, which may be the calling one.
void gic_send(uint32_t intid, uint32_t cpu);

// Acknowledges the highest pending interrupt. False: none is pending.
bool gic_acknowledge(uint32_t *intid);

void gic_end(uint32_t intid);

#endif
