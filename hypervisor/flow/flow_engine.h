/* SPDX-License-Identifier: Apache-2.0
 *
 * The DMA engines that copy packets for brokers, at most one for each broker, one transfer at a time. They
 * belong to EL2, so that no guest decides which memory they access. `broker` is a broker's number. All
 * functions except flow_engine_runs() are called under the caller's lock (flow_broker.c), with interrupts
 * masked.
 */
#ifndef BULKHEAD_FLOW_ENGINE_H
#define BULKHEAD_FLOW_ENGINE_H

#include "vm/cpu.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A transfer. Source and destination are each physically contiguous. */
struct engine_transfer {
    uint64_t from;
    uint64_t to;
    uint32_t bytes;
};

enum flow_engine_state {
    FLOW_ENGINE_IDLE,
    FLOW_ENGINE_RUNS,
    FLOW_ENGINE_ENDED,  /* the transfer has succeeded; stays until flow_engine_forget() */
    FLOW_ENGINE_FAILED, /* the transfer has failed; stays until flow_engine_forget() */
};

/* True if EL2 has an engine for this broker. Otherwise the broker copies on its own core, or programs an
 * engine of its own.
 */
bool flow_engine_exists(uint32_t broker);

/* Turns the channel of the broker's engine off, and programs the bandwidth regulator of EL2's engine or of
 * the broker's own.
 * Called on the first core, with an accepted manifest. */
void flow_engine_init(uint32_t broker);

/* Starts a transfer. The engine must be idle. Called on the core that is to get the engine's interrupt and
 * that already takes interrupts. */
void flow_engine_start(uint32_t broker, const struct cpu *cpu, const struct engine_transfer *transfer);

/* Reads the channel's state. Once the end of a transfer is reported, its memory accesses are complete. */
enum flow_engine_state flow_engine_look(uint32_t broker);

/* Returns the engine to idle after the caller has handled the end of a transfer. */
void flow_engine_forget(uint32_t broker);

/* The state at the last flow_engine_look() or flow_engine_start(): true if a transfer runs. May be called on
 * any core; sequentially consistent with the other calls. */
bool flow_engine_runs(uint32_t broker);

/* Start of the current transfer in counter ticks; 0 if none runs. */
uint64_t flow_engine_runs_since(uint32_t broker);

/* True if `intid` is the engine's interrupt. */
bool flow_engine_has(uint32_t broker, uint32_t intid);

#ifdef __cplusplus
}
#endif

#endif
