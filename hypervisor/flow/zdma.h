/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver for one channel of a ZynqMP's DMA (UG1085, chapter 19; UG1087, module ZDMA) in simple mode.
 * Only EL2 writes these registers, because they decide which memory is read and written. The caller
 * (flow_broker.c) decides which transfer comes next.
 */
#ifndef BULKHEAD_ZDMA_H
#define BULKHEAD_ZDMA_H

#include "core/address.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum zdma_outcome {
    ZDMA_UNDER_WAY,
    ZDMA_DONE,
    ZDMA_FAILED, /* the bus has refused a read or a write; it is not known how much was copied */
};

/* Turns the channel off and clears pending interrupts; a loader may have used it. The channel's accesses are
 * set to coherent. */
void zdma_init(paddr_t channel);

/* Starts copying `bytes` bytes; source and destination are each physically contiguous. All earlier stores are
 * visible to the copy. No transfer is in flight. The channel's interrupt arrives when zdma_outcome() would
 * return something other than ZDMA_UNDER_WAY. */
void zdma_start(paddr_t channel, paddr_t from, paddr_t to, uint32_t bytes);

/* The state of the transfer. The end of a transfer is reported once; this lowers the interrupt. */
enum zdma_outcome zdma_outcome(paddr_t channel);

#ifdef __cplusplus
}
#endif

#endif
