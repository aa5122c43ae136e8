/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual PL011 (DDI 0183) of a domain, with the address and interrupt number of the board's own UART.
 * Output goes to a ring that the console core drains. If the ring is full, only this guest notices, as a full
 * transmit FIFO. Input comes from the console while the domain has the focus.
 */
#ifndef BULKHEAD_VUART_H
#define BULKHEAD_VUART_H

#include "base/mmio_access.h"
#include "console/vuart_state.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;

/* Sets up the device in its reset state. Called once, before the console starts. */
void vuart_init(struct domain *domain);

/* Resets the device for a domain that restarts. Earlier output is not lost. None of the domain's VCPUs
 * runs. */
void vuart_reset(struct domain *domain);

/* Ends the line that the domain has begun, if there is one, so that the hypervisor's next line comes after
 * it. */
void vuart_end_line(struct domain *domain);

/* Handles an access by one of the domain's VCPUs. Reserved registers read as zero and ignore writes. Returns
 * false for accesses of 64 bits or outside the device. */
bool vuart_access(struct vcpu *vcpu, struct mmio_access *access);

/* Passes a typed character to the guest. Returns false if the character is lost because the guest has not
 * read for so long that the buffer is full (overrun error, as in hardware). Called on the console core. */
bool vuart_receive(struct domain *domain, uint8_t character);

/* The console core has taken output: raises the transmit interrupt if the guest waits for room. */
void vuart_output_taken(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
