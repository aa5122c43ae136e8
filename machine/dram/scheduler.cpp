// SPDX-License-Identifier: Apache-2.0
// FR-FCFS request by request; see the header. Everything here is bounded by banks and queue lengths.
#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram {

namespace {

// Among requests that can go at the same clock, row hits go before others, then the oldest. The bank is in
// the lowest bits.
constexpr std::uint32_t bank_bits = 6;
constexpr std::uint64_t miss = std::uint64_t{1} << 63U;

constexpr clocks later(clocks a, clocks b)
{
    return std::max(a, b);
}

} // namespace

std::string policy::contradiction() const
{
    if (read_queue == 0 || read_queue > 1024 || write_queue == 0 || write_queue > 1024) {
        return "queues of 1 to 1024 requests are possible";
    }
    if (arbitration) {
        return arbitration->contradiction();
    }
    if (write_high > write_queue || write_low >= write_high) {
        return "write watermarks: low < high <= queue is needed";
    }
    if (cap == 0) {
        return "a cap of 0 row hits: at least 1 is needed";
    }
    return {};
}

scheduler::scheduler(const organization &shape, const timing &timing, const policy &policy,
                     std::vector<issued> *log)
    : timing_(timing), policy_(policy), banks_(shape, timing), bus_(timing.planned_ahead()), log_(log),
      reads_(policy.read_queue, policy.cap), writes_(policy.write_queue, policy.cap),
      lead_(timing.rp + timing.rcd), refresh_due_(shape.of().ranks, timing.refi != 0 ? timing.refi : never),
      next_refresh_(refresh_due_.front())
{
}

void scheduler::begin_busy(clocks when)
{
    if (!has_requests() && when > busy_until_) {
        statistics_.busy += busy_until_ - busy_from_;
        busy_from_ = when;
        busy_until_ = when;
    }
}

scheduler_statistics scheduler::statistics(clocks now) const
{
    scheduler_statistics result = statistics_;
    const clocks until = pending() != 0 ? now : std::min(now, busy_until_);
    result.busy += until > busy_from_ ? until - busy_from_ : 0;
    return result;
}

[[gnu::flatten]] void scheduler::request(request_id id, const place &at, bool write, clocks when)
{
    floor_ = later(floor_, when);
    begin_busy(when);
    ring<waiting> &line = write ? waiting_writes_ : waiting_reads_;
    if (!line.empty() || !admit(id, at, write, when)) {
        line.push_back({id, at});
    }
    due_ = decision_due();
}

void scheduler::admit_waiting(clocks when)
{
    for (ring<waiting> *const line : {&waiting_reads_, &waiting_writes_}) {
        const bool write = line == &waiting_writes_;
        while (!line->empty() && admit(line->front().id, line->front().at, write, when)) {
            line->pop_front();
        }
    }
}

// Into its queue, or answered without one; false if the queue is full.
bool scheduler::admit(request_id id, const place &at, bool write, clocks when)
{
    const bool known = writes_.size() != 0 && writes_.has(at);
    if (known && !write) {
        ++statistics_.forwarded;
        completions_.push_back({id, when + timing_.burst, false});
        busy_until_ = later(busy_until_, when + timing_.burst);
        return true;
    }
    if (known) {
        ++statistics_.merged;
    } else {
        request_queue &queue = write ? writes_ : reads_;
        if (queue.full()) {
            return false;
        }
        queue.append(id, order_++, at, banks_.open_row(at.bank));
        if (policy_.arbitration) [[unlikely]] {
            queue.stamp_youngest(served());
            planned_ = {};
        } else if (planned_.known() && write == writing_) {
            write ? reconsider<command::write>(queue, at.bank, when)
                  : reconsider<command::read>(queue, at.bank, when);
        }
    }
    if (write) {
        completions_.push_back({id, when, true});
    }
    return true;
}

// The plan after an arrival: only the bank that it goes to can have become faster.
template <command column>
void scheduler::reconsider(const request_queue &queue, std::uint32_t bank, clocks now)
{
    const choice other = prospect<column>(queue, bank, now);
    planned_ = other.before(planned_) ? other : planned_;
}

// Writes go from the high watermark down to the low one, and use what reads leave. Who writes faster than the
// DRAM would keep the queue full, so a drain ends after as many writes as lie between the watermarks, too,
// and as many reads may go before the next one.
void scheduler::choose_direction()
{
    if (writes_.size() == 0 && !draining_ && reads_first_ == 0) [[likely]] {
        writing_ = false;
        return;
    }
    const std::uint32_t count = writes_.size();
    const std::uint32_t turn = policy_.write_high - policy_.write_low;
    reads_first_ = reads_.size() == 0 ? 0 : reads_first_;
    if (draining_ && (count <= policy_.write_low || writes_left_ == 0)) {
        draining_ = false;
        reads_first_ = count <= policy_.write_low ? 0 : turn;
    } else if (!draining_ && count >= policy_.write_high && reads_first_ == 0) {
        draining_ = true;
        writes_left_ = turn;
    }
    writing_ = count != 0 && (draining_ || reads_.size() == 0);
}

// One arbitration between all that is queued; nothing is planned.
[[gnu::noinline]] void scheduler::choose_by_score(clocks now)
{
    const contender winner = arbitrate(*policy_.arbitration, reads_, writes_, banks_, served(), wrote_);
    request_queue &queue = winner.write ? writes_ : reads_;
    const std::uint32_t bank = winner.request->bank;
    queue.prefer(*winner.request, banks_.open_row(bank));
    writing_ = winner.write;
    planned_ =
        writing_ ? prospect<command::write>(queue, bank, now) : prospect<command::read>(queue, bank, now);
}

// When the column command of a bank's candidate can go, as seen at `now`, and what decides among equals.
template <command column>
scheduler::choice scheduler::prospect(const request_queue &queue, std::uint32_t bank, clocks now) const
{
    const std::uint64_t order = queue.candidate(bank).order << bank_bits | bank;
    const clocks ready = banks_.earliest<column>(bank, now);
    if ((queue.hits() >> bank & 1U) != 0) {
        return {ready, order};
    }
    clocks activate = banks_.earliest<command::activate>(bank, now);
    if ((banks_.open_banks() >> bank & 1U) != 0) {
        activate = later(activate, banks_.earliest<command::precharge>(bank, now) + timing_.rp);
    }
    return {later(ready, activate + timing_.rcd), order | miss};
}

// The candidate whose column command can go first. Few banks are looked at: hits, and then misses by age only
// until no younger one can be earlier than the one that was found.
template <command column>
scheduler::choice scheduler::most_urgent(const request_queue &queue, clocks now) const
{
    choice first;
    for (std::uint64_t left = queue.hits(); left != 0; left &= left - 1) {
        const choice other = prospect<column>(queue, static_cast<std::uint32_t>(std::countr_zero(left)), now);
        first = other.before(first) ? other : first;
    }
    std::uint64_t misses = queue.banks() & ~queue.hits();
    if ((misses & (misses - 1)) == 0 && !first.known()) { // there is one
        return prospect<column>(queue, static_cast<std::uint32_t>(std::countr_zero(misses)), now);
    }
    clocks bound = later(banks_.earliest_anywhere<column>(now),
                         banks_.earliest_anywhere<command::activate>(now) + timing_.rcd);
    if ((misses & ~banks_.open_banks()) == 0) {
        bound = later(bound, now + timing_.rp + timing_.rcd);
    }
    for (const auto *i = queue.oldest(); misses != 0 && first.ready > bound; i = i->younger) {
        const std::uint32_t bank = i->bank;
        const std::uint64_t own = std::uint64_t{1} << bank;
        if ((misses & own) != 0) {
            misses &= ~own;
            const choice other = prospect<column>(queue, bank, now);
            first = other.before(first) ? other : first;
        }
    }
    return first;
}

void scheduler::record(command what, std::uint32_t bank, std::uint32_t row, std::uint32_t column, clocks when)
{
    ++statistics_.commands[static_cast<std::size_t>(what)];
    if (log_ != nullptr) [[unlikely]] {
        write_down({when, what, bank, row, column});
    }
}

[[gnu::noinline, gnu::cold]] void scheduler::write_down(const issued &one)
{
    log_->push_back(one);
}

void scheduler::close(std::uint32_t bank, clocks now)
{
    const clocks when = bus_.take(banks_.earliest<command::precharge>(bank, now));
    record(command::precharge, bank, banks_.open_row(bank), 0, when);
    banks_.issue<command::precharge>(bank, 0, when);
}

// For a request of one queue; `other` is the other one.
void scheduler::open(request_queue &other, std::uint32_t bank, std::uint32_t row, clocks now)
{
    if (banks_.open_row(bank) != banks::no_row) {
        close(bank, now);
    }
    const clocks when = bus_.take(banks_.earliest<command::activate>(bank, now));
    record(command::activate, bank, row, 0, when);
    banks_.issue<command::activate>(bank, row, when);
    other.row_changed(bank, row);
}

[[gnu::noinline]] void scheduler::close_unwanted(std::uint32_t bank, std::uint32_t row, clocks now)
{
    if (!reads_.wants(bank, row) && !writes_.wants(bank, row)) {
        close(bank, now);
        reads_.row_changed(bank, banks::no_row);
        writes_.row_changed(bank, banks::no_row);
    }
}

void scheduler::decide(clocks now)
{
    if (!policy_.arbitration) [[likely]] {
        const bool was_writing = writing_;
        choose_direction();
        if (writing_ != was_writing) {
            planned_ = {};
        }
    } else if (!planned_.known()) {
        choose_by_score(now);
    }
    floor_ = now;
    writing_ ? decide<command::write>(writes_, now) : decide<command::read>(reads_, now);
}

template <command column> void scheduler::decide(request_queue &queue, clocks now)
{
    if (!planned_.known()) {
        planned_ = most_urgent<column>(queue, now);
    }
    if (planned_.ready > now + lead_) { // what comes meanwhile may be faster
        due_ = planned_.ready - lead_;
        return;
    }
    const auto bank = static_cast<std::uint32_t>(planned_.order % max_banks_per_channel);
    planned_ = {};
    serve<column>(queue, bank, now);
    if (!waiting_reads_.empty() || !waiting_writes_.empty()) {
        admit_waiting(now);
    }
    due_ = decision_due();
}

// All commands for the bank's candidate.
template <command column> void scheduler::serve(request_queue &queue, std::uint32_t bank, clocks now)
{
    constexpr bool write = column == command::write;
    const request_queue::entry &served = queue.candidate(bank);
    const request_id id = served.id;
    const std::uint32_t row = served.row;
    if (banks_.open_row(bank) != row) {
        open(write ? reads_ : writes_, bank, row, now);
    }
    const clocks when = bus_.take(banks_.earliest<column>(bank, now));
    record(column, bank, row, served.column, when);
    banks_.issue<column>(bank, 0, when);
    turn_after(when);
    wrote_ = write;
    queue.remove_candidate(bank, row);
    std::uint32_t &turn = write ? writes_left_ : reads_first_;
    turn -= turn != 0 ? 1 : 0;
    if (policy_.page == page_policy::closed) {
        close_unwanted(bank, row, now);
    }
    const clocks end = when + (write ? timing_.cwl : timing_.cl) + timing_.burst;
    busy_until_ = later(busy_until_, end);
    if (!write) {
        completions_.push_back({id, end, false});
    }
}

// The rank whose turn it is: its banks are closed, then it is refreshed.
[[gnu::noinline, gnu::cold]] void scheduler::refresh()
{
    const auto due = std::min_element(refresh_due_.begin(), refresh_due_.end());
    const auto rank = static_cast<std::uint32_t>(due - refresh_due_.begin());
    const std::uint64_t all = banks_.banks_of_rank(rank);
    for (std::uint64_t left = banks_.open_banks() & all; left != 0; left &= left - 1) {
        const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
        close(bank, *due);
        reads_.row_changed(bank, banks::no_row);
        writes_.row_changed(bank, banks::no_row);
    }
    planned_ = {};
    due_ = decision_due();
    const clocks when = bus_.take(later(*due, banks_.earliest_refresh(rank)));
    record(command::refresh, static_cast<std::uint32_t>(std::countr_zero(all)), 0, 0, when);
    banks_.refresh(rank, when);
    *due += timing_.refi;
    next_refresh_ = *std::min_element(refresh_due_.begin(), refresh_due_.end());
}

clocks scheduler::decision_due() const
{
    if (!has_requests()) {
        return never;
    }
    const clocks due = due_after(floor_);
    return planned_.known() ? later(due + lead_, planned_.ready) - lead_ : due;
}

[[gnu::flatten]] void scheduler::run(clocks until)
{
    do {
        if (next_refresh_ <= due_) {
            refresh();
        } else {
            decide(due_);
        }
    } while (std::min(due_, next_refresh_) < until);
}

} // namespace bulkhead::machine::dram
