// SPDX-License-Identifier: Apache-2.0
// Chooses the request to serve first; see the header. Bounded by the length of the queues.
#include "machine/dram/partition_turns.h"

#include <algorithm>

namespace bulkhead::machine::dram {

namespace {

// Visits queued requests, the oldest first, until `visit` returns false.
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

standing partition_turns::standings::of(std::uint16_t partition)
{
    for (std::size_t i = 0; i < count_; ++i) {
        if (known_[i].partition == partition) {
            return known_[i].place;
        }
    }
    const standing place = of_.standing_of(partition, now_);
    if (count_ < known_.size()) {
        known_[count_++] = {partition, place};
    }
    return place;
}

bool partition_turns::goes_ahead(std::uint16_t one, std::uint16_t other, clocks now)
{
    return standing_of(one, now).before(standing_of(other, now));
}

void partition_turns::served_for(std::uint16_t partition, bool write, clocks when)
{
    overtakers_ = overtakes_ ? overtakers_ + 1 : 0;
    overtakes_ = false;
    control_.moved(channel_, partition, burst_, clock_.time_of(when));
    usual_->served(write, when);
}

bool partition_turns::all_stand_alike(const queued_requests &all, clocks now)
{
    std::optional<standing> first;
    bool alike = true;
    std::uint64_t earliest = ~std::uint64_t{0};
    standings places(*this, now);
    for (const request_queue *const queue : {&all.reads, &all.writes}) {
        each_request(*queue, [&](const entry &one) {
            const standing own = places.of(one.partition);
            alike = alike && own == first.value_or(own);
            first = own;
            earliest = std::min(earliest, own.deadline);
            return true;
        });
    }
    control_.waits_from(channel_, earliest);
    return alike;
}

// A row hit that is as urgent as the first request overtakes it, unless `cap_` requests have done so, or its
// partition is ahead of its share by as much. Of several row hits the one whose command can go first is
// chosen, then the one of the partition that stands first: so partitions alternate between bank groups where
// the bus would otherwise wait.
partition_turns::choice partition_turns::choose(const request_queue &queue, bool write, const banks &rows,
                                                clocks now)
{
    choice made;
    standings places(*this, now);
    each_request(queue, [&](const entry &one) {
        const standing own = places.of(one.partition);
        if (made.first == nullptr || own.before(made.place)) {
            made.first = &one;
            made.place = own;
        }
        return true;
    });
    if (made.first == nullptr || overtakers_ >= cap_) {
        made.goes = made.first;
        return made;
    }
    clocks when = 0;
    standing place;
    each_request(queue, [&](const entry &one) {
        const standing own = places.of(one.partition);
        if (rows.open_row(one.bank) != one.row || own.urgency != made.place.urgency ||
            own.deadline > made.place.deadline + cap_) {
            return true;
        }
        const clocks its = next_command_at(one, write, rows, now);
        if (made.goes == nullptr || its < when || (its == when && own.before(place))) {
            made.goes = &one;
            when = its;
            place = own;
        }
        return true;
    });
    made.goes = made.goes == nullptr ? made.first : made.goes;
    return made;
}

// The oldest request, if it has waited longer than the age limit.
const request_queue::entry *partition_turns::overdue(const request_queue &queue, clocks now) const
{
    return queue.size() != 0 && queue.oldest()->arrived + age_limit_ < now ? queue.oldest() : nullptr;
}

// The clock at which the request's next command can go.
clocks partition_turns::next_command_at(const entry &one, bool write, const banks &rows, clocks now) const
{
    if (rows.open_row(one.bank) == one.row) {
        return write ? rows.earliest<command::write>(one.bank, now)
                     : rows.earliest<command::read>(one.bank, now);
    }
    return (rows.open_banks() >> one.bank & 1U) != 0 ? rows.earliest<command::precharge>(one.bank, now)
                                                     : rows.earliest<command::activate>(one.bank, now);
}

// A row hit in another bank whose column command is over before `until`.
const request_queue::entry *partition_turns::in_the_shadow(const request_queue &queue, bool write,
                                                           const banks &rows, const entry &of, clocks until,
                                                           clocks now)
{
    const entry *best = nullptr;
    standings places(*this, now);
    standing place;
    each_request(queue, [&](const entry &one) {
        if (one.bank != of.bank && rows.open_row(one.bank) == one.row &&
            next_command_at(one, write, rows, now) + between_columns_ <= until) {
            const standing own = places.of(one.partition);
            if (best == nullptr || own.before(place)) {
                best = &one;
                place = own;
            }
        }
        return true;
    });
    return best;
}

turn partition_turns::take(const queued_requests &all, clocks now)
{
    turn usual = usual_->take(all, now);
    usual.settled = false; // each served request is counted
    overtakes_ = false;
    if (all.reads.size() + all.writes.size() < 2) {
        return usual;
    }
    const clocks changes = clock_.edge_at(control_.stands_until(clock_.time_of(now)));
    usual.until = std::min(usual.until, std::max(now + 1, changes));
    if (all_stand_alike(all, now)) {
        return usual;
    }
    const choice read = choose(all.reads, false, all.rows, now);
    const choice written = choose(all.writes, true, all.rows, now);
    bool write = usual.writing;
    if (read.first == nullptr || written.first == nullptr) {
        write = read.first == nullptr;
    } else if (read.place.urgency != written.place.urgency) {
        write = written.place.urgency > read.place.urgency;
    }
    const entry *goes = write ? written.goes : read.goes;
    overtakes_ = goes != (write ? written.first : read.first);
    for (const bool writes : {false, true}) {
        const entry *const late = overdue(writes ? all.writes : all.reads, now);
        if (late != nullptr && late->arrived < goes->arrived) {
            goes = late;
            write = writes;
            overtakes_ = false;
        }
    }
    const clocks own = next_command_at(*goes, write, all.rows, now);
    if (own > now) {
        const request_queue &queue = write ? all.writes : all.reads;
        if (const entry *const other = in_the_shadow(queue, write, all.rows, *goes, own, now)) {
            return {.only = other, .until = std::min(usual.until, own), .writing = write};
        }
    }
    return {.only = goes, .until = usual.until, .writing = write};
}

} // namespace bulkhead::machine::dram
