/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual PL011 (DDI 0183) of a domain, with the address and interrupt number of the board's own UART.
 * Output goes to a ring that the console core drains; a full ring is seen by this guest alone, as a full
 * transmit FIFO. Input comes from the console when the domain has the focus.
 */
#ifndef BULKHEAD_VUART_H
#define BULKHEAD_VUART_H

#include "console_ring.h"
#include "core/spinlock.h"
#include "mmio_access.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct vcpu;

#define VUART_BYTES       0x1000u
#define VUART_INPUT_BYTES 256u /* typed ahead; a power of two */

struct vuart {
    struct spinlock lock; /* everything here; the ring's consumer needs it not */
    uint16_t control;     /* UARTCR */
    uint16_t line_control;
    uint16_t integer_divisor;
    uint16_t fraction_divisor;
    uint16_t fifo_levels; /* UARTIFLS */
    uint16_t dma_control;
    uint16_t raw;  /* UARTRIS */
    uint16_t mask; /* UARTIMSC */
    bool line;     /* state of the interrupt output */
    bool overrun;
    _Atomic bool blocked; /* the guest saw a full FIFO: tell it when there is room again */
    uint32_t input_head;
    uint32_t input_tail;
    uint8_t input[VUART_INPUT_BYTES];
    struct console_ring output;
};

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
