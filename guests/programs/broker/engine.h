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

// Finds the engine that the tool has named. False if it is another one. When it returns, no transfer is under
// way, not even of an earlier broker.
bool engine_init(void);

// Begins the exchange's current transfer, or puts it off.
void engine_begin(void);

// The state of the transfer; its end is reported once. `*until`: when to look again if it has not ended; 0:
// at once.
enum engine_state engine_look(uint64_t now, uint64_t *until);

// A driver of an engine.
struct engine {
    // `at`: its registers, or its configuration space. As engine_init().
    bool (*init)(uint64_t at);
    // Begins to copy `bytes` bytes of `piece`, unless it puts the transfer off. `base`: where the engine
    // finds physical address 0.
    void (*begin)(const struct flow_piece *piece, uint32_t bytes, uint64_t base);
    enum engine_state (*look)(void);
    uint64_t pause_ns; // between two looks; 0: the broker does not sleep; ENGINE_WAKES: EL2 wakes it
};

#define ENGINE_WAKES UINT64_MAX

extern const struct engine engine_hypervisor;
extern const struct engine engine_zdma;
extern const struct engine engine_edu;

#endif
