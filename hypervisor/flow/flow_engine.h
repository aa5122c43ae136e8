/* SPDX-License-Identifier: Apache-2.0
 *
 * The DMA engine that copies in the broker's place: one transfer at a time, on its way or ended. It belongs
 * to EL2, so that no guest says which memory it touches. All but flow_engine_runs() under the caller's lock
 * (flow_broker.c), with interrupts masked.
 */
#ifndef BULKHEAD_FLOW_ENGINE_H
#define BULKHEAD_FLOW_ENGINE_H

#include "vm/cpu.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Physically contiguous on both sides. */
struct engine_transfer {
    uint64_t from;
    uint64_t to;
    uint32_t bytes;
};

enum flow_engine_state {
    FLOW_ENGINE_IDLE,
    FLOW_ENGINE_RUNS,
    FLOW_ENGINE_ENDED,  /* the transfer is done, */
    FLOW_ENGINE_FAILED, /* or not: until flow_engine_forget() */
};

/* Whether the manifest has one; else the broker's own core copies. */
bool flow_engine_exists(void);

/* Its channel off, its regulator set. First core; the manifest is sound. */
void flow_engine_init(void);

/* On the core that its interrupt is to come to, which takes interrupts already. It is idle. */
void flow_engine_start(const struct cpu *cpu, const struct engine_transfer *transfer);

/* Asks the channel; an end is seen once its accesses are. */
enum flow_engine_state flow_engine_look(void);

/* What has ended is dealt with. */
void flow_engine_forget(void);

/* As it was last seen. Any core; sequentially consistent with the other calls. */
bool flow_engine_runs(void);

/* Ticks: the start of the transfer that runs; 0: none does. */
uint64_t flow_engine_runs_since(void);

/* Whether this is its interrupt. */
bool flow_engine_has(uint32_t intid);

#ifdef __cplusplus
}
#endif

#endif
