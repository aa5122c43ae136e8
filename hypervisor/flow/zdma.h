/* SPDX-License-Identifier: Apache-2.0
 *
 * One channel of a ZynqMP's DMA (UG1085, chapter 19; UG1087, module ZDMA) in simple mode, and the QoS-400
 * regulator of the interconnect before it. EL2 alone writes these registers: whoever does decides which
 * memory is read and written. Whose turn it is, is the caller's matter (flow_broker.c).
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
    ZDMA_FAILED, /* the bus has refused a read or a write: what was moved is not known */
};

/* A channel that a loader may have used: off, with nothing pending. Its accesses are coherent. */
void zdma_init(paddr_t channel);

/* Copies, both physically contiguous; everything that was stored before is copied. Nothing is under way. The
 * channel's interrupt says when zdma_outcome() has something else than ZDMA_UNDER_WAY to tell. */
void zdma_start(paddr_t channel, paddr_t from, paddr_t to, uint32_t bytes);

/* What became of the transfer. Tells its end once, and lowers the interrupt with that. */
enum zdma_outcome zdma_outcome(paddr_t channel);

/* At most rate / 4096 transactions a clock of the interconnect, in each direction; strictly: without a burst.
 * `rate`: 1 to 4095. */
void zdma_regulate(paddr_t regulator, uint32_t rate);

#ifdef __cplusplus
}
#endif

#endif
