/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual PL011 (DDI 0183) of a domain, with the address and interrupt number of the board's own UART.
 * Output goes to a ring that the console core drains; a full ring is seen by this guest alone, as a full
 * transmit FIFO. Input comes from the console when the domain has the focus.
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

/* Makes the device, out of reset. Once, before the console starts. */
void vuart_init(struct domain *domain);

/* Resets the device for a domain that starts again; its output of before is not lost. While none of the
 * domain's VCPUs runs. */
void vuart_reset(struct domain *domain);

/* Ends the line that the domain has begun, if any, so that what the hypervisor says next comes after it. */
void vuart_end_line(struct domain *domain);

/* An access of one of the domain's VCPUs. Reserved registers read as zero and ignore writes; false: 64 bits,
 * or outside of the device. */
bool vuart_access(struct vcpu *vcpu, struct mmio_access *access);

/* A typed character. Returns false if the guest did not read for so long that it is lost (overrun error, as
 * in hardware). Console core. */
bool vuart_receive(struct domain *domain, uint8_t character);

/* The console core has taken output: raises the transmit interrupt if the guest waits for room. */
void vuart_output_taken(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
