// SPDX-License-Identifier: Apache-2.0
//
// How the broker waits: for events (WFE), or for its interrupt where others share its core or WFE does not
// wait.
#ifndef BULKHEAD_GUESTS_BROKER_WAIT_H
#define BULKHEAD_GUESTS_BROKER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

// `interrupt`: of its line. When the interrupt controller is set up.
void wait_init(bool by_event, uint32_t interrupt);

// Until EL2 has something new, or it is `until` by the counter.
void wait_for_news(uint64_t until);

#endif
