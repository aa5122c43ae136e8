// SPDX-License-Identifier: Apache-2.0
//
// What copies packets that the broker's core does not copy itself: an engine at EL2, which EL2 is asked to
// start, or an engine of the broker's own, which the broker programs. It copies one piece at a time.
#ifndef BULKHEAD_GUESTS_BROKER_ENGINE_H
#define BULKHEAD_GUESTS_BROKER_ENGINE_H

#include "core/flow_exchange.h"

#include <stdbool.h>
#include <stdint.h>

enum engine_state {
    ENGINE_WORKS,
    ENGINE_DONE,   // what was copied is visible
    ENGINE_FAILED, // it is not known how much was copied
};

// EL2 wakes the broker when the transfer has ended.
#define ENGINE_WAKES UINT64_MAX

struct engine {
    // `at`: its registers, or its configuration space. When it returns, no transfer is under way, not even of
    // an earlier broker. False if this is another engine.
    bool (*init)(uint64_t at);
    // Begins to copy `bytes` bytes of `piece`, unless it puts the exchange's current transfer off. `base`:
    // where the engine finds physical address 0.
    void (*begin)(const struct flow_piece *piece, uint32_t bytes, uint64_t base);
    // The state of the transfer that has begun; its end is reported once.
    enum engine_state (*look)(void);
    uint64_t pause_ns; // between two looks; 0: the broker does not sleep; or ENGINE_WAKES
};

extern const struct engine engine_hypervisor;
extern const struct engine engine_zdma;
extern const struct engine engine_edu;

#endif
