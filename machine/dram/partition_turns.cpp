// SPDX-License-Identifier: Apache-2.0
// Who goes first; see the header. Bounded by the length of the queues.
#include "machine/dram/partition_turns.h"

#include <algorithm>

namespace bulkhead::machine::dram {

namespace {

// Every queued request, the oldest first, until `visit` says false.
template <class Visit> void each_request(const request_queue &queue, const Visit &visit)
{
    const request_queue::entry *one = queue.oldest();
    for (std::uint32_t i = 0; i < queue.size(); ++i, one = one->younger) {
        if (!visit(*one)) {
            return;
        }
    }
}

} // namespace

partition_turns::partition_turns(const policy &how, const timing &timing, bandwidth_control &control,
                                 std::size_t channel, byte_count burst)
    : usual_(make_turn_policy(how)), control_(control), channel_(channel), burst_(burst),
      clock_(timing.period_fs), between_columns_(std::max(timing.ccd_s, timing.ccd_l)),
      age_limit_(how.age_limit), cap_(how.cap)
{
}

standing partition_turns::standing_of(std::uint16_t partition, clocks now)
{
    return control_.standing_of(channel_, partition, clock_.time_of(now));
}

bool partition_turns::goes_ahead(std::uint16_t one, std::uint16_t other, clocks now)
{
    return standing_of(one, now).urgency > standing_of(other, now).urgency;
}

void partition_turns::served_for(std::uint16_t partition, bool write, clocks when)
{
    overtakers_ = passed_over_ != nullptr ? overtakers_ + 1 : 0;
    passed_over_ = nullptr;
    control_.moved(channel_, partition, burst_, clock_.time_of(when));
    usual_->served(write, when);
}

bool partition_turns::all_stand_alike(const queued_requests &all, clocks now)
{
    std::optional<std::pair<std::uint16_t, standing>> first;
    bool alike = true;
    for (const request_queue *const queue : {&all.reads, &all.writes}) {
        each_request(*queue, [&](const entry &one) {
            if (!first) {
                first.emplace(one.partition, standing_of(one.partition, now));
            } else if (one.partition != first->first) {
                alike = standing_of(one.partition, now) == first->second;
            }
            return alike;
        });
    }
    return alike;
}

// Of those that stand first, a row hit if it has not overtaken too often, else the oldest.
partition_turns::contender partition_turns::first_of(const request_queue &queue, const banks &rows,
                                                     clocks now)
{
    contender oldest;
    contender hit;
    each_request(queue, [&](const entry &one) {
        const contender own{&one, standing_of(one.partition, now), rows.open_row(one.bank) == one.row};
        if (oldest.request == nullptr || own.place.before(oldest.place)) {
            oldest = own;
            hit = {};
        }
        if (own.hits && own.place == oldest.place && hit.request == nullptr) {
            hit = own;
        }
        return true;
    });
    const bool may_overtake = hit.request != nullptr && (hit.request == oldest.request || overtakers_ < cap_);
    return may_overtake ? hit : oldest;
}

// When the request's next command may go.
clocks partition_turns::next_command_at(const entry &one, bool write, const banks &rows, clocks now) const
{
    if (rows.open_row(one.bank) == one.row) {
        return write ? rows.earliest<command::write>(one.bank, now)
                     : rows.earliest<command::read>(one.bank, now);
    }
    return (rows.open_banks() >> one.bank & 1U) != 0 ? rows.earliest<command::precharge>(one.bank, now)
                                                     : rows.earliest<command::activate>(one.bank, now);
}

// A row hit in another bank that is done with before `until`.
const request_queue::entry *partition_turns::in_the_shadow(const request_queue &queue, bool write,
                                                           const banks &rows, const entry &of, clocks until,
                                                           clocks now)
{
    contender best;
    each_request(queue, [&](const entry &one) {
        if (one.bank != of.bank && rows.open_row(one.bank) == one.row &&
            next_command_at(one, write, rows, now) + between_columns_ <= until) {
            const contender own{&one, standing_of(one.partition, now), true};
            if (best.request == nullptr || own.place.before(best.place)) {
                best = own;
            }
        }
        return true;
    });
    return best.request;
}

turn partition_turns::take(const queued_requests &all, clocks now)
{
    turn usual = usual_->take(all, now);
    usual.settled = false; // what is served is counted
    passed_over_ = nullptr;
    if (all.reads.size() + all.writes.size() < 2) {
        return usual;
    }
    const picoseconds change = control_.stands_until(clock_.time_of(now));
    const clocks changes = std::max(now + 1, clock_.edge_at(change));
    usual.until = std::min(usual.until, changes);
    if (all_stand_alike(all, now)) {
        return usual;
    }
    // Who waits too long goes first, read or write.
    bool write = usual.writing;
    const entry *first = nullptr;
    clocks older_than = now >= age_limit_ ? now - age_limit_ : 0;
    for (const bool writes : {false, true}) {
        const request_queue &queue = writes ? all.writes : all.reads;
        if (queue.size() != 0 && queue.oldest()->arrived < older_than) {
            first = queue.oldest();
            older_than = first->arrived;
            write = writes;
        }
    }
    if (first == nullptr) {
        const contender read = first_of(all.reads, all.rows, now);
        const contender written = first_of(all.writes, all.rows, now);
        if (read.request == nullptr || written.request == nullptr) {
            write = read.request == nullptr;
        } else if (read.place.urgency != written.place.urgency) {
            write = written.place.urgency > read.place.urgency;
        }
        first = write ? written.request : read.request;
        passed_over_ = first; // told apart below
    }
    const request_queue &queue = write ? all.writes : all.reads;
    if (passed_over_ != nullptr) {
        const entry *const oldest = queue.oldest();
        const bool overtakes =
            oldest != first && standing_of(oldest->partition, now) == standing_of(first->partition, now);
        passed_over_ = overtakes ? oldest : nullptr;
    }
    const clocks own = next_command_at(*first, write, all.rows, now);
    if (own > now) {
        if (const entry *const other = in_the_shadow(queue, write, all.rows, *first, own, now)) {
            return {.only = other, .until = std::min(usual.until, own), .writing = write};
        }
    }
    return {.only = first, .until = usual.until, .writing = write};
}

} // namespace bulkhead::machine::dram
