/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The curve is measured with one core that moves a given rate in each direction. A rate here counts both
 * directions, so the curve is stretched to twice its width; for n cores with the same rate each, it is
 * stretched by n in width and in height.
 */
#include "core/memory_admission.h"
#include "core/wide.h"

#define BOTH_WAYS      2u
#define UNITS_PER_BYTE 9000000000000ull /* units of a rate of one byte in a period of 1 ns */

_Static_assert(UNITS_PER_BYTE == 1000000000ull * MEMORY_RATE_UNIT, "units of one byte per second");

/* A straight piece of the curve: from a point on it rises by `rise` over a width of `run`, which is not 0. */
struct piece {
    uint64_t rate;
    uint64_t utilization;
    uint64_t run;
    uint64_t rise;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t capped(wide_t value)
{
    return value < MEMORY_RATE_MAX ? (uint64_t)value : MEMORY_RATE_MAX;
}

static uint64_t divide_down(wide_t value, uint64_t divisor)
{
    uint64_t remainder;

    return capped(wide_divide(value, divisor, &remainder));
}

static uint64_t divide_up(wide_t value, uint64_t divisor)
{
    uint64_t remainder;
    wide_t quotient = wide_divide(value, divisor, &remainder);

    return capped(remainder != 0 ? quotient + 1 : quotient);
}

uint64_t memory_sum(uint64_t a, uint64_t b)
{
    return smaller(a + b, MEMORY_RATE_MAX);
}

uint64_t memory_left(uint64_t all, uint64_t used)
{
    return all > used ? all - used : 0;
}

uint64_t memory_rate(uint64_t events, uint64_t event_bytes, uint32_t holders, uint64_t period_ns)
{
    return divide_up(wide_product(events, event_bytes * holders) * UNITS_PER_BYTE, period_ns);
}

uint64_t memory_events(uint64_t rate, uint64_t event_bytes, uint32_t holders, uint64_t period_ns)
{
    if (rate >= MEMORY_RATE_MAX) {
        return UINT64_MAX;
    }
    return divide_down(divide_down(wide_product(rate, period_ns), UNITS_PER_BYTE), event_bytes * holders);
}

static struct piece first_piece(const struct memory_capacity *capacity, uint32_t cores)
{
    const struct manifest_bandwidth_point *to = &capacity->curve[0];

    return (struct piece){
        .run = to->bytes_per_s * BOTH_WAYS * MEMORY_RATE_UNIT * cores,
        .rise = to->utilization * cores,
    };
}

/* The piece from point `number` - 1 to point `number`. */
static struct piece piece_to(const struct memory_capacity *capacity, uint32_t number, uint32_t cores)
{
    const struct manifest_bandwidth_point *from = &capacity->curve[number - 1];
    const struct manifest_bandwidth_point *to = &capacity->curve[number];

    return (struct piece){
        .rate = from->bytes_per_s * BOTH_WAYS * MEMORY_RATE_UNIT * cores,
        .utilization = from->utilization * cores,
        .run = (to->bytes_per_s - from->bytes_per_s) * BOTH_WAYS * MEMORY_RATE_UNIT * cores,
        .rise = (to->utilization - from->utilization) * cores,
    };
}

/* The last piece is extended without an end. */
static uint64_t utilization_at(const struct memory_capacity *capacity, uint64_t rate, uint32_t cores)
{
    struct piece piece = first_piece(capacity, cores);

    for (uint32_t i = 1; i < capacity->point_count && rate > piece.rate + piece.run; i++) {
        piece = piece_to(capacity, i, cores);
    }
    if (rate >= MEMORY_RATE_MAX && piece.rise != 0) {
        return MEMORY_UTILIZATION_MAX; /* the rate stands for any larger one */
    }
    return memory_sum(piece.utilization, divide_up(wide_product(rate - piece.rate, piece.rise), piece.run));
}

/* The largest rate whose utilization is at most `utilization`. */
static uint64_t rate_at(const struct memory_capacity *capacity, uint64_t utilization, uint32_t cores)
{
    struct piece piece = first_piece(capacity, cores);

    for (uint32_t i = 1; i < capacity->point_count && utilization >= piece.utilization + piece.rise; i++) {
        piece = piece_to(capacity, i, cores);
    }
    if (piece.rise == 0) {
        return MEMORY_RATE_MAX;
    }
    return smaller(piece.rate +
                       divide_down(wide_product(utilization - piece.utilization, piece.run), piece.rise),
                   MEMORY_RATE_MAX - 1);
}

uint64_t memory_utilization(const struct memory_capacity *capacity, uint64_t rate, uint32_t cores)
{
    return larger(utilization_at(capacity, rate, 1), utilization_at(capacity, rate, cores));
}

void memory_load_add(struct memory_load *load, const struct memory_capacity *capacity, uint64_t rate,
                     uint32_t cores)
{
    load->rate = memory_sum(load->rate, rate);
    load->utilization = memory_sum(load->utilization, memory_utilization(capacity, rate, cores));
    load->largest_rate = larger(load->largest_rate, rate);
    load->count++;
}

/* A row's refills as a rate, limited below the value that stands for larger rates. */
static uint64_t row_rate(const struct memory_capacity *capacity, const struct manifest_bandwidth_row *row)
{
    return smaller(divide_down(wide_product(row->refills, BOTH_WAYS * capacity->event_bytes) * UNITS_PER_BYTE,
                               capacity->shortest_period_ns),
                   MEMORY_RATE_MAX - 1);
}

/* Whether the row applies to `owners` cores, each with all of the row's refills. */
static bool is_of_so_many(const struct manifest_bandwidth_row *row, uint32_t owners)
{
    return row->cores == 0 || owners <= row->cores;
}

/* The largest rate that one more core may have while the row still applies. */
static uint64_t room_in_row(const struct memory_capacity *capacity, const struct manifest_bandwidth_row *row,
                            const struct memory_load *load)
{
    uint64_t most = row_rate(capacity, row);

    if (is_of_so_many(row, load->count + 1) && load->largest_rate <= most) {
        return most;
    }
    return memory_left(most, load->rate);
}

static bool row_admits(const struct memory_capacity *capacity, const struct manifest_bandwidth_row *row,
                       const struct memory_load *load)
{
    uint64_t most = row_rate(capacity, row);

    return load->rate <= most || (is_of_so_many(row, load->count) && load->largest_rate <= most);
}

uint64_t memory_room(const struct memory_capacity *capacity, const struct memory_load *load, uint32_t cores)
{
    uint64_t used = memory_sum(load->utilization, memory_broker_utilization(capacity));
    uint64_t left = memory_left(MEMORY_UTILIZATION_ONE, used);
    uint64_t room = smaller(rate_at(capacity, left, 1), rate_at(capacity, left, cores));
    uint64_t in_table = 0;

    for (uint32_t i = 0; i < capacity->row_count; i++) {
        const struct manifest_bandwidth_row *row = &capacity->table[i];

        if (row->bytes_per_s >= capacity->broker_bytes_per_s) {
            in_table = larger(in_table, room_in_row(capacity, row, load));
        }
    }
    return capacity->row_count != 0 ? smaller(room, in_table) : room;
}

uint64_t memory_broker_utilization(const struct memory_capacity *capacity)
{
    return divide_up(wide_product(capacity->broker_bytes_per_s, MEMORY_UTILIZATION_ONE),
                     capacity->broker_full_bytes_per_s);
}

uint64_t memory_broker_room(const struct memory_capacity *capacity, const struct memory_load *load,
                            enum memory_reason *reason)
{
    uint64_t left = memory_left(MEMORY_UTILIZATION_ONE, load->utilization);
    uint64_t room =
        divide_down(wide_product(left, capacity->broker_full_bytes_per_s), MEMORY_UTILIZATION_ONE);
    uint64_t measured = 0;

    for (uint32_t i = 0; i < capacity->row_count; i++) {
        if (row_admits(capacity, &capacity->table[i], load)) {
            measured = larger(measured, capacity->table[i].bytes_per_s);
        }
    }
    *reason = capacity->row_count != 0 && measured < room ? MEMORY_BY_TABLE : MEMORY_BY_UTILIZATION;
    return *reason == MEMORY_BY_TABLE ? measured : room;
}
