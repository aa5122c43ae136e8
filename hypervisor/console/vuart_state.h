/* SPDX-License-Identifier: Apache-2.0
 *
 * State of a domain's virtual PL011, without functions. The functions that use it are in vuart.h.
 */
#ifndef BULKHEAD_VUART_STATE_H
#define BULKHEAD_VUART_STATE_H

#include "base/console_ring.h"
#include "core/spinlock.h"
#include <stdbool.h>
#include <stdint.h>

#define VUART_BYTES       0x1000u
#define VUART_INPUT_BYTES 256u /* size of the input buffer; a power of two */

struct vuart {
    struct spinlock lock; /* protects this structure; the ring's consumer does not need it */
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
    _Atomic bool blocked; /* the guest saw a full FIFO and must be notified when there is room again */
    uint32_t input_head;
    uint32_t input_tail;
    uint8_t input[VUART_INPUT_BYTES];
    struct console_ring output;
};

#endif
