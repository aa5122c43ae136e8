// SPDX-License-Identifier: Apache-2.0
//
// Time stamps in packets: their sender writes when it sends them, and their receiver reports how long they
// took. For traffic.c; programs that are compiled without TRAFFIC_STAMPS have none of it. All domains read
// the same counter. Parameters, of the receiver: `report_ms` [0: never]: counter value at which it reports,
// once: `arrived` packets, how many of them were `late`, and `longest_ns`; `deadline_us` [0]: a packet that
// took longer is late.
#ifndef BULKHEAD_GUESTS_TIME_STAMPS_H
#define BULKHEAD_GUESTS_TIME_STAMPS_H

#include <stddef.h>
#include <stdint.h>

// What has arrived of a flow that ends at this domain.
struct arrivals {
    uint64_t packet_bytes; // of each packet; 0: they are too short for a time stamp
    uint64_t at;           // bytes of the present packet that have come
    uint64_t stamp;        // of the present packet, as far as it has come
};

#ifdef TRAFFIC_STAMPS

enum { time_stamps_exist = 1 };

void time_stamps_init(void);

// Writes the present time into a packet that is about to be sent.
void time_stamps_write(uint8_t *packet, uint64_t bytes);

// A flow that ends here, by its number among these.
void time_stamps_expect(struct arrivals *arrivals, uint32_t flow);

// The next bytes of the flow have come.
void time_stamps_take(struct arrivals *arrivals, const uint8_t *data, size_t bytes);

// Reports if it is time; returns the time at which it must be called again, or UINT64_MAX.
uint64_t time_stamps_report(uint64_t now);

#else

enum { time_stamps_exist = 0 };

static inline void time_stamps_init(void) {}

static inline void time_stamps_write(uint8_t *packet, uint64_t bytes)
{
    (void)packet;
    (void)bytes;
}

static inline void time_stamps_expect(struct arrivals *arrivals, uint32_t flow)
{
    (void)arrivals;
    (void)flow;
}

static inline void time_stamps_take(struct arrivals *arrivals, const uint8_t *data, size_t bytes)
{
    (void)arrivals;
    (void)data;
    (void)bytes;
}

static inline uint64_t time_stamps_report(uint64_t now)
{
    (void)now;
    return UINT64_MAX;
}

#endif

#endif
