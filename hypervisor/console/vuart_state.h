/* SPDX-License-Identifier: Apache-2.0
 *
 * What the virtual PL011 of a domain keeps: state only. vuart.h has what works on it.
 */
#ifndef BULKHEAD_VUART_STATE_H
#define BULKHEAD_VUART_STATE_H

#include "base/console_ring.h"
#include "core/spinlock.h"
#include <stdbool.h>
#include <stdint.h>

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

#endif
