// SPDX-License-Identifier: Apache-2.0
//
// How the broker waits: for events (WFE), or for its interrupt if it shares its core or WFE returns at once.
#ifndef BULKHEAD_GUESTS_BROKER_WAIT_H
#define BULKHEAD_GUESTS_BROKER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

// `interrupt` is that of its line. Called after the interrupt controller is set up.
void wait_init(bool by_event, uint32_t interrupt);

// Waits until EL2 reports an event or requests a test, or the counter reaches `until`.
void wait_for_news(uint64_t until);

// Tells the exchange that the broker has had nothing to do, and has not looked, since `since`.
void wait_ended(uint64_t since);

#endif
