// SPDX-License-Identifier: Apache-2.0
//
// A packet has its number in its first 8 bytes, and its time stamp in the next 8.
#include "guests/programs/time_stamps.h"

#include "guests/runtime/console.h"
#include "guests/runtime/flow_params.h"
#include "guests/runtime/params.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { stamp_at = 8, stamp_end = 16, us_per_s = 1000000, ms_per_s = 1000 };

// Times are counter ticks.
static struct {
    uint64_t report_at; // UINT64_MAX: there is no report, or it was made
    uint64_t deadline;
    uint64_t arrived; // packets
    uint64_t late;
    uint64_t longest;
} seen;

void time_stamps_init(void)
{
    uint64_t report_ms = param("report_ms", 0);

    seen.report_at = report_ms == 0 ? UINT64_MAX : report_ms * timer_frequency() / ms_per_s;
    seen.deadline = param("deadline_us", 0) * timer_frequency() / us_per_s;
}

void time_stamps_write(uint8_t *packet, uint64_t bytes)
{
    uint64_t now = timer_now();

    if (bytes < stamp_end)
        return;
    for (uint32_t i = stamp_at; i < stamp_end; i++)
        packet[i] = (uint8_t)(now >> 8 * (i - stamp_at));
}

void time_stamps_expect(struct arrivals *arrivals, uint32_t flow)
{
    uint64_t bytes = flow_param("in", flow, "bytes");

    arrivals->packet_bytes = bytes < stamp_end ? 0 : bytes;
}

static void end_packet(struct arrivals *arrivals)
{
    uint64_t took = timer_now() - arrivals->stamp;

    seen.arrived++;
    seen.late += took > seen.deadline;
    seen.longest = took > seen.longest ? took : seen.longest;
    arrivals->at = 0;
    arrivals->stamp = 0;
}

void time_stamps_take(struct arrivals *arrivals, const uint8_t *data, size_t bytes)
{
    if (arrivals->packet_bytes == 0)
        return;
    for (size_t i = 0; i < bytes; i++) {
        if (arrivals->at >= stamp_at && arrivals->at < stamp_end)
            arrivals->stamp |= (uint64_t)data[i] << 8 * (arrivals->at - stamp_at);
        arrivals->at++;
        if (arrivals->at == arrivals->packet_bytes)
            end_packet(arrivals);
    }
}

uint64_t time_stamps_report(uint64_t now)
{
    if (now < seen.report_at)
        return seen.report_at;
    if (seen.report_at != UINT64_MAX)
        console_printf("report {\"arrived\": %lu, \"late\": %lu, \"longest_ns\": %lu}\n", seen.arrived,
                       seen.late, ticks_to_ns(seen.longest, timer_frequency()));
    seen.report_at = UINT64_MAX;
    return UINT64_MAX;
}
