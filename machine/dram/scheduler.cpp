// SPDX-License-Identifier: Apache-2.0
// FR-FCFS request by request; see the header. Everything here is bounded by banks and queue lengths.
#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram {

namespace {

constexpr clocks never = ~clocks{0};

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
    : timing_(timing), policy_(policy), banks_(shape, timing), log_(log),
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

void scheduler::request(request_id id, const place &at, bool write, clocks when)
{
    floor_ = later(floor_, when);
    begin_busy(when);
    if (waiting_count() != 0 || !admit(id, at, write, when)) {
        waiting_.push_back({id, at, write});
    }
}

void scheduler::admit_waiting(clocks when)
{
    while (waiting_first_ < waiting_.size()) {
        const waiting &first = waiting_[waiting_first_];
        if (!admit(first.id, first.at, first.write, when)) {
            return;
        }
        ++waiting_first_;
    }
    waiting_.clear();
    waiting_first_ = 0;
}

// Into its queue, or answered without one; false if the queue is full.
bool scheduler::admit(request_id id, const place &at, bool write, clocks when)
{
    const bool known = writes_.size() != 0 && writes_.find(at) != request_queue::none;
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
        reconsider(queue, at.bank, when);
    }
    if (write) {
        completions_.push_back({id, when, true});
    }
    return true;
}

// The plan after an arrival: only the bank that it goes to can have become faster.
void scheduler::reconsider(const request_queue &queue, std::uint32_t bank, clocks now)
{
    if (planned_ && &queue == (writing_ ? &writes_ : &reads_)) {
        const choice other = prospect(queue, bank, now);
        planned_ = other.before(*planned_) ? other : *planned_;
    }
}

// Writes go from the high watermark down to the low one, and use what reads leave.
void scheduler::choose_direction()
{
    const std::uint32_t count = writes_.size();
    draining_ = count > policy_.write_low && (draining_ || count >= policy_.write_high);
    writing_ = count != 0 && (draining_ || reads_.size() == 0);
}

// When the column command of a bank's candidate can go, as seen at `now`, and what decides among equals.
scheduler::choice scheduler::prospect(const request_queue &queue, std::uint32_t bank, clocks now) const
{
    const command column = writing_ ? command::write : command::read;
    const request_queue::entry &candidate = queue.at(queue.candidate(bank));
    const std::uint32_t open = banks_.open_row(bank);
    const std::uint64_t order = candidate.order << bank_bits | bank;
    const clocks ready = later(now, banks_.earliest(column, bank));
    if (candidate.row == open) {
        return {ready, order};
    }
    clocks activate = later(now, banks_.earliest(command::activate, bank));
    if (open != banks::no_row) {
        activate = later(activate, later(now, banks_.earliest(command::precharge, bank)) + timing_.rp);
    }
    return {later(ready, activate + timing_.rcd), order | miss};
}

// The candidate whose column command can go first.
scheduler::choice scheduler::most_urgent(const request_queue &queue, clocks now) const
{
    choice first{never, never};
    for (std::uint64_t left = queue.banks(); left != 0; left &= left - 1) {
        const choice other = prospect(queue, static_cast<std::uint32_t>(std::countr_zero(left)), now);
        first = other.before(first) ? other : first;
    }
    return first;
}

void scheduler::record(command what, std::uint32_t bank, std::uint32_t row, std::uint32_t column, clocks when)
{
    ++statistics_.commands[static_cast<std::size_t>(what)];
    if (log_ != nullptr) {
        log_->push_back({when, what, bank, row, column});
    }
}

void scheduler::close(std::uint32_t bank, clocks now)
{
    const clocks when = bus_.take(later(now, banks_.earliest(command::precharge, bank)));
    record(command::precharge, bank, banks_.open_row(bank), 0, when);
    banks_.issue(command::precharge, bank, 0, when);
}

void scheduler::open(std::uint32_t bank, std::uint32_t row, clocks now)
{
    if (banks_.open_row(bank) != banks::no_row) {
        close(bank, now);
    }
    const clocks when = bus_.take(later(now, banks_.earliest(command::activate, bank)));
    record(command::activate, bank, row, 0, when);
    banks_.issue(command::activate, bank, row, when);
    (writing_ ? reads_ : writes_).choose(bank, row);
}

void scheduler::decide(clocks now)
{
    const bool was_writing = writing_;
    choose_direction();
    request_queue &queue = writing_ ? writes_ : reads_;
    if (!planned_ || writing_ != was_writing) {
        planned_ = most_urgent(queue, now);
    }
    floor_ = now;
    if (planned_->ready > now + lead_) {
        return; // what comes meanwhile may be faster
    }
    const auto bank = static_cast<std::uint32_t>(planned_->order % max_banks_per_channel);
    const command column = writing_ ? command::write : command::read;
    planned_.reset();
    const request_queue::entry served = queue.at(queue.candidate(bank));
    if (banks_.open_row(bank) != served.row) {
        open(bank, served.row, now);
    }
    const clocks when = bus_.take(later(now, banks_.earliest(column, bank)));
    record(column, bank, served.row, served.column, when);
    banks_.issue(column, bank, 0, when);
    last_column_ = when;
    queue.remove_candidate(bank, served.row);
    if (policy_.page == page_policy::closed && !reads_.wants(bank, served.row) &&
        !writes_.wants(bank, served.row)) {
        close(bank, now);
        reads_.choose(bank, banks::no_row);
        writes_.choose(bank, banks::no_row);
    }
    const clocks end = when + (writing_ ? timing_.cwl : timing_.cl) + timing_.burst;
    busy_until_ = later(busy_until_, end);
    if (!writing_) {
        completions_.push_back({served.id, end, false});
    }
    if (waiting_count() != 0) {
        admit_waiting(now);
    }
}

// The rank whose turn it is: its banks are closed, then it is refreshed.
void scheduler::refresh()
{
    const auto due = std::min_element(refresh_due_.begin(), refresh_due_.end());
    const auto rank = static_cast<std::uint32_t>(due - refresh_due_.begin());
    const std::uint64_t all = banks_.banks_of_rank(rank);
    for (std::uint64_t left = banks_.open_banks() & all; left != 0; left &= left - 1) {
        const auto bank = static_cast<std::uint32_t>(std::countr_zero(left));
        close(bank, *due);
        reads_.choose(bank, banks::no_row);
        writes_.choose(bank, banks::no_row);
    }
    planned_.reset();
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
    const clocks column = later(last_column_, planned_ ? planned_->ready : 0);
    return later(floor_, column > lead_ ? column - lead_ : 0);
}

void scheduler::advance(clocks until)
{
    for (;;) {
        const clocks due = decision_due();
        if (std::min(due, next_refresh_) >= until) {
            return;
        }
        if (next_refresh_ <= due) {
            refresh();
        } else {
            decide(due);
        }
    }
}

std::optional<clocks> scheduler::next() const
{
    return has_requests() ? std::optional(decision_due()) : std::nullopt;
}

} // namespace bulkhead::machine::dram
