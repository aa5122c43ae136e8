// SPDX-License-Identifier: Apache-2.0
//
// A record of each packet that the broker delivers, in a ring in its memory (core/sample_ring.h), if the
// parameters `samples` and `samples_bytes` say where. `bulkhead trace` reads the ring from outside.
#ifndef BULKHEAD_GUESTS_BROKER_SAMPLES_H
#define BULKHEAD_GUESTS_BROKER_SAMPLES_H

// After news_init(), which sets the exchange up.
void samples_init(void);

#endif
