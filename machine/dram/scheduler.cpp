// SPDX-License-Identifier: Apache-2.0
// FR-FCFS command by command, event-driven; see the header. All functions are bounded by the number of banks
// and the length of the queues.
#include "machine/dram/scheduler.h"

namespace bulkhead::machine::dram {

namespace {

// Classes of commands that can go in one clock, in the highest bits of a plan's precedence: first commands
// that a refresh needs, then column commands, then rows of requests, then closing rows that no request wants.
constexpr std::uint32_t class_at = 62;
constexpr std::uint32_t bank_bits = 6;
enum : std::uint64_t { for_refresh, for_column, for_row, for_closing };

constexpr std::uint64_t precedence_of(std::uint64_t of_class, std::uint64_t order, bool write,
                                      std::uint32_t bank)
{
    return of_class << class_at | order << (bank_bits + 1) | std::uint64_t{write} << bank_bits | bank;
}

constexpr clocks later(clocks a, clocks b)
{
    return std::max(a, b);
}

constexpr std::uint64_t bit(std::uint32_t bank)
{
    return std::uint64_t{1} << bank;
}

template <class Visit> void each_bank(std::uint64_t set, const Visit &visit)
{
    for (; set != 0; set &= set - 1) {
        visit(static_cast<std::uint32_t>(std::countr_zero(set)));
    }
}

} // namespace

scheduler::scheduler(const organization &shape, const timing &timing, const policy &policy,
                     std::vector<issued> *log)
    : timing_(timing), policy_(policy), banks_(shape, timing), turns_(make_turn_policy(policy)),
      follows_rows_(turns_->follows_rows()), log_(log),
      reads_(policy.read_queue, policy.arbitration ? ~std::uint32_t{0} : policy.cap),
      writes_(policy.write_queue, policy.arbitration ? ~std::uint32_t{0} : policy.cap),
      refresh_due_(shape.of().ranks, timing.refi != 0 ? timing.refi : never),
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

// Arrivals

void scheduler::set_turns(std::unique_ptr<turn_policy> turns)
{
    turns_ = std::move(turns);
    follows_rows_ = turns_->follows_rows();
    tells_partitions_ = turns_->tells_partitions();
    turn_ = {};
    stale_ = all_kinds;
}

[[gnu::flatten]] void scheduler::request(request_id id, const place &at, bool write, clocks when,
                                         std::uint16_t partition)
{
    begin_busy(when);
    ring<waiting> &line = write ? waiting_writes_ : waiting_reads_;
    if (!line.empty() || !admit(id, at, write, when, partition)) [[unlikely]] {
        line.push_back({id, at, partition, when});
    }
    if (changed_) {
        changed_ = false;
        take_turn(when);
        plan_all(later(free_, when));
    }
}

void scheduler::admit_waiting(clocks when)
{
    for (ring<waiting> *const line : {&waiting_reads_, &waiting_writes_}) {
        const bool write = line == &waiting_writes_;
        while (!line->empty()) {
            if (tells_partitions_) [[unlikely]] {
                choose_waiting(*line, when);
            }
            if (!admit(line->front().id, line->front().at, write, when, line->front().partition)) {
                break;
            }
            line->pop_front();
        }
    }
}

// Brings the request that enters next to the front, unless the one there has waited long.
void scheduler::choose_waiting(ring<waiting> &line, clocks when)
{
    if (line.front().arrived + policy_.age_limit < when) {
        return;
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const std::uint16_t own = line.at(i).partition;
        const std::uint16_t other = line.at(best).partition;
        best = own != other && turns_->goes_ahead(own, other, when) ? i : best;
    }
    line.bring_to_front(best);
}

// Puts the request into its queue, or answers it without queueing; false if the queue is full.
bool scheduler::admit(request_id id, const place &at, bool write, clocks when, std::uint16_t partition)
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
        request_queue &queue = queue_of(write);
        if (queue.full()) {
            return false;
        }
        append(id, at, write, when, partition);
    }
    if (write) {
        completions_.push_back({id, when, true});
    }
    return true;
}

[[gnu::always_inline]] inline void scheduler::append(request_id id, const place &at, bool write, clocks when,
                                                     std::uint16_t partition)
{
    request_queue &queue = queue_of(write);
    const std::uint64_t own = bit(at.bank);
    const std::uint32_t open = banks_.open_row(at.bank);
    const bool known = (queue.banks() & own) != 0;
    const bool hit = (queue.hits() & own) != 0;
    queue.append({.id = id, .order = order_++, .when = when, .stamp = served_, .partition = partition}, at,
                 open);
    if ((closing_ & own) != 0 && open == at.row) [[unlikely]] {
        closing_ &= ~own;
    }
    // The plan changes if the bank now needs a command for another request, or if the turn may change.
    const bool another = !known || hit != ((queue.hits() & own) != 0);
    const clocks from = later(free_, when);
    if (!known && joins_plan(write, from)) [[likely]] {
        planned_.yield_to(join(write, at.bank, from));
        due_ = std::min(planned_.when, look_again_);
        return;
    }
    changed_ = !turn_.settled || write || another || overdue_ || closing_ != 0;
    if (another && write == turn_.writing) {
        stale_ |= known ? 1U << precharges : 0; // the request was no row hit
        join(write, at.bank, from);
    }
}

// Whether a request whose bank had none adds its command to the plan, and all else of the plan stays. What
// was planned before is not outdated: all commands that were due before this clock have been issued. The age
// limit stays that of an older request.
bool scheduler::joins_plan(bool write, clocks from) const
{
    return !write && stale_ == 0 && turn_.settled && plainly() && !overdue_ && reads_.size() > 1 &&
           look_again_ > from;
}

void scheduler::take_turn(clocks now)
{
    if (turn_.settled && writes_.size() == 0) [[likely]] {
        return;
    }
    const auto [only, until, writing, settled] =
        turns_->take({.reads = reads_, .writes = writes_, .rows = banks_, .served = served_}, now);
    stale_ = writing != turn_.writing ? all_kinds : stale_;
    // Assigned one by one: see plan::yield_to().
    turn_.only = only;
    turn_.until = until;
    turn_.writing = writing;
    turn_.settled = settled;
}

clocks scheduler::completes_after() const
{
    clocks first = never;
    if (reads_.size() != 0) {
        const bool all_open = (reads_.banks() & ~banks_.open_banks()) == 0;
        const clocks rows = reads_.hits() != 0 ? 0 : timing_.rcd + (all_open ? timing_.rp : 0);
        first = due_ + rows + timing_.cl + timing_.burst;
    }
    if (!waiting_reads_.empty()) [[unlikely]] {
        first = std::min(first, due_ + timing_.burst);
    }
    return waiting_writes_.empty() ? first : std::min(first, due_);
}

clocks scheduler::completes_after(clocks arrival, bool write) const
{
    if (write || !waiting_writes_.empty()) {
        return arrival;
    }
    return arrival + timing_.burst + (writes_.size() != 0 ? 0 : timing_.cl);
}

// Planning

// The clock at which the bank's candidate gets its next command, which is `what`.
template <command what>
[[gnu::always_inline]] inline scheduler::plan scheduler::of(std::uint32_t bank, bool write, clocks from) const
{
    constexpr bool column = what == command::read || what == command::write;
    const std::uint64_t order = queue_of(write).candidate(bank).order;
    return {.when = banks_.earliest<what>(bank, from),
            .precedence = precedence_of(column ? for_column : for_row, order, write, bank)};
}

// The next command of the bank's candidate, whichever it is.
[[gnu::always_inline]] inline scheduler::plan scheduler::next_of(bool write, std::uint32_t bank,
                                                                 clocks from) const
{
    if ((queue_of(write).hits() & bit(bank)) != 0) {
        return write ? of<command::write>(bank, write, from) : of<command::read>(bank, write, from);
    }
    return is_open(bank) ? of<command::precharge>(bank, write, from)
                         : of<command::activate>(bank, write, from);
}

template <command what>
[[gnu::always_inline]] inline scheduler::plan scheduler::first_of(std::uint64_t banks, bool write,
                                                                  clocks from) const
{
    plan first;
    for (; banks != 0; banks &= banks - 1) {
        first.yield_to(of<what>(static_cast<std::uint32_t>(std::countr_zero(banks)), write, from));
    }
    return first;
}

// In the direction that has the turn, a bank has another candidate, or needs another command for its
// candidate.
[[gnu::always_inline]] inline scheduler::plan scheduler::join(bool write, std::uint32_t bank, clocks from)
{
    const bool hits = (queue_of(write).hits() & bit(bank)) != 0;
    const kind which = hits ? columns : is_open(bank) ? precharges : activates;
    const plan own = next_of(write, bank, from);
    first_[which].yield_to(own);
    return own;
}

// Plans the next command at `from` or later; `from` is not before free_.
[[gnu::noinline]] void scheduler::plan_all(clocks from)
{
    planned_ = {};
    overdue_ = false;
    look_again_ = turn_.until;
    if (turn_.only != nullptr) {
        plan_alone(from);
    } else if (turn_.writing) {
        plan_direction<command::write>(stale_, from);
    } else {
        plan_direction<command::read>(stale_, from);
    }
    if (!plainly()) [[unlikely]] {
        plan_closing(from);
        plan_refresh(from);
        stale_ = all_kinds;
    }
    due_ = std::min(planned_.when, look_again_);
}

// The same after a command of kind `changed`, which is nearly all planning. The kind is a template parameter,
// so that the host has no branches to predict.
template <scheduler::kind changed> [[gnu::always_inline]] inline void scheduler::plan_after(clocks from)
{
    if (stale_ != 0 || !plainly()) [[unlikely]] {
        stale_ |= 1U << changed;
        plan_all(from);
        return;
    }
    planned_ = {};
    overdue_ = false;
    look_again_ = turn_.until;
    if (turn_.writing) {
        plan_direction<command::write>(1U << changed, from);
    } else {
        plan_direction<command::read>(1U << changed, from);
    }
    due_ = std::min(planned_.when, look_again_);
}

// `stale`: bit set of the kinds whose first command is not known.
template <command column>
[[gnu::always_inline]] inline void scheduler::plan_direction(std::uint32_t stale, clocks from)
{
    constexpr bool write = column == command::write;
    const request_queue &queue = queue_of(write);
    if (queue.size() == 0) {
        stale_ |= stale;
        return;
    }
    const clocks limit = queue.oldest()->arrived + policy_.age_limit;
    if (limit <= from) [[unlikely]] {
        plan_overdue<column>(from);
        return;
    }
    look_again_ = std::min(look_again_, limit);
    const std::uint64_t hits = queue.hits() & ~refreshing_;
    const std::uint64_t misses = queue.banks() & ~queue.hits() & ~refreshing_;
    if (outdated(columns, stale, from)) {
        first_[columns] = first_of<column>(hits, write, from);
    }
    if (outdated(activates, stale, from)) {
        first_[activates] = first_of<command::activate>(misses & ~banks_.open_banks(), write, from);
    }
    if (outdated(precharges, stale, from)) {
        first_[precharges] = first_of<command::precharge>(misses & banks_.open_banks(), write, from);
    }
    stale_ = 0;
    plan next = first_[columns];
    next.yield_to(first_[activates]);
    next.yield_to(first_[precharges]);
    planned_ = next;
}

// The oldest request of the direction is over the age limit: no command goes that would delay its next one.
template <command column> [[gnu::noinline]] void scheduler::plan_overdue(clocks from)
{
    constexpr bool write = column == command::write;
    overdue_ = true;
    stale_ = all_kinds;
    const request_queue &queue = queue_of(write);
    const request_queue::entry &oldest = *queue.oldest();
    const std::uint32_t its_bank = oldest.bank;
    prefer(write, oldest);
    const bool blocked = (refreshing_ & bit(its_bank)) != 0;
    const bool its_column = !blocked && (queue.hits() & bit(its_bank)) != 0;
    const bool its_activate = !blocked && !is_open(its_bank);
    each_bank(queue.banks() & ~refreshing_, [&](std::uint32_t bank) {
        const bool hits = (queue.hits() & bit(bank)) != 0;
        const bool puts_off = (its_column && hits) || (its_activate && !hits && !is_open(bank));
        if (bank == its_bank || !puts_off) {
            propose(next_of(write, bank, from));
        }
    });
}

// Plans for the one request that has the turn, which goes before all others. Rows of other banks are opened
// meanwhile, unless a request wants the row that is open there.
[[gnu::noinline]] void scheduler::plan_alone(clocks from)
{
    const bool write = turn_.writing;
    const std::uint32_t its_bank = turn_.only->bank;
    prefer(write, *turn_.only);
    if ((refreshing_ & bit(its_bank)) == 0) {
        const bool hits = (queue_of(write).hits() & bit(its_bank)) != 0;
        plan own = next_of(write, its_bank, from);
        own.precedence = hits ? own.precedence : precedence_of(for_row, 0, write, its_bank);
        propose(own);
    }
    const std::uint64_t others = ~(reads_.hits() | writes_.hits() | refreshing_ | bit(its_bank));
    for (const bool writes : {false, true}) {
        each_bank(queue_of(writes).banks() & others,
                  [&](std::uint32_t bank) { propose(next_of(writes, bank, from)); });
    }
}

// Makes the request the candidate of its bank until the next change there. The request that was preferred
// before loses its preference.
void scheduler::prefer(bool write, const request_queue::entry &which)
{
    if (preferred_ == which.bank && preferred_write_ == write &&
        &queue_of(write).candidate(which.bank) == &which) {
        return; // it is preferred already
    }
    if (preferred_ != no_bank) {
        queue_of(preferred_write_).row_opened(preferred_, banks_.open_row(preferred_));
    }
    queue_of(write).prefer(which, banks_.open_row(which.bank));
    preferred_ = which.bank;
    preferred_write_ = write;
}

[[gnu::noinline, gnu::cold]] void scheduler::plan_closing(clocks from)
{
    each_bank(closing_ & ~refreshing_, [&](std::uint32_t bank) {
        propose({.when = banks_.earliest<command::precharge>(bank, from),
                 .precedence = precedence_of(for_closing, 0, false, bank)});
    });
}

// Closes open banks of ranks that are due for refresh, then refreshes the rank.
[[gnu::noinline, gnu::cold]] void scheduler::plan_refresh(clocks from)
{
    for (std::uint32_t rank = 0; rank < refresh_due_.size(); ++rank) {
        const std::uint64_t all = banks_.banks_of_rank(rank) & refreshing_;
        if (all == 0) {
            continue;
        }
        each_bank(all & banks_.open_banks(), [&](std::uint32_t bank) {
            propose({.when = banks_.earliest<command::precharge>(bank, from),
                     .precedence = precedence_of(for_refresh, 0, false, bank)});
        });
        if ((all & banks_.open_banks()) == 0) {
            const auto first = static_cast<std::uint32_t>(std::countr_zero(all));
            propose({.when = later(from, banks_.earliest_refresh(rank)),
                     .precedence = precedence_of(for_refresh, 0, false, first)});
        }
    }
}

// Issuing

[[gnu::flatten]] void scheduler::run(clocks until)
{
    do {
        if (next_refresh_ <= due_) [[unlikely]] {
            begin_refresh();
        } else if (look_again_ <= planned_.when) [[unlikely]] {
            const clocks now = look_again_;
            take_turn(now);
            plan_all(later(free_, now));
        } else {
            issue();
        }
    } while (std::min(due_, next_refresh_) < until);
}

void scheduler::issue()
{
    const clocks when = planned_.when;
    const std::uint32_t bank = planned_.bank();
    const bool write = (planned_.precedence >> bank_bits & 1U) != 0;
    const std::uint64_t of_class = planned_.precedence >> class_at;
    free_ = when + 1;
    if (of_class == for_column) {
        write ? access<command::write>(bank, when) : access<command::read>(bank, when);
        take_turn(when);
        plan_after<columns>(free_);
    } else if (is_open(bank)) {
        precharge(bank, when);
        follow_rows(when);
        plan_after<precharges>(free_);
    } else if (of_class == for_row) {
        activate(bank, write, when);
        follow_rows(when);
        plan_after<activates>(free_);
    } else {
        refresh(bank, when);
        follow_rows(when);
        plan_all(free_);
    }
}

void scheduler::activate(std::uint32_t bank, bool write, clocks when)
{
    const std::uint32_t row = queue_of(write).candidate(bank).row;
    record(command::activate, bank, row, 0, when);
    banks_.issue<command::activate>(bank, row, when);
    reads_.row_opened(bank, row);
    writes_.row_opened(bank, row);
    join(write, bank, when + 1);
}

void scheduler::precharge(std::uint32_t bank, clocks when)
{
    record(command::precharge, bank, banks_.open_row(bank), 0, when);
    banks_.issue<command::precharge>(bank, 0, when);
    closing_ &= ~bit(bank);
    reads_.row_closed(bank);
    writes_.row_closed(bank);
    if ((queue_of(turn_.writing).banks() & bit(bank)) != 0) {
        join(turn_.writing, bank, when + 1);
    }
}

template <command column> void scheduler::access(std::uint32_t bank, clocks when)
{
    constexpr bool write = column == command::write;
    request_queue &queue = queue_of(write);
    const request_queue::entry &served = queue.candidate(bank);
    const request_id id = served.id;
    const std::uint32_t row = served.row;
    record(column, bank, row, served.column, when);
    banks_.issue<column>(bank, 0, when);
    queue.remove_candidate(bank, row);
    if ((queue.banks() & ~queue.hits() & bit(bank)) != 0) {
        join(write, bank, when + 1);
    }
    ++served_;
    if (!turn_.settled) {
        turns_->served_for(served.partition, write,
                           when); // its place is free, but no request has taken it yet
    }
    const clocks end = when + (write ? timing_.cwl : timing_.cl) + timing_.burst;
    busy_until_ = later(busy_until_, end);
    if (!write) {
        completions_.push_back({id, end, false});
    }
    if (policy_.page == page_policy::closed && !reads_.wants(bank, row) && !writes_.wants(bank, row)) {
        closing_ |= bit(bank);
    }
    if (!waiting_reads_.empty() || !waiting_writes_.empty()) [[unlikely]] {
        admit_waiting(when);
    }
}

// From the due time on the rank's banks get only commands that its refresh needs.
[[gnu::noinline, gnu::cold]] void scheduler::begin_refresh()
{
    const clocks now = next_refresh_;
    next_refresh_ = never;
    for (std::uint32_t rank = 0; rank < refresh_due_.size(); ++rank) {
        if (refresh_due_[rank] <= now) {
            refreshing_ |= banks_.banks_of_rank(rank);
        } else {
            next_refresh_ = std::min(next_refresh_, refresh_due_[rank]);
        }
    }
    stale_ = all_kinds;
    plan_all(later(free_, now));
}

[[gnu::noinline, gnu::cold]] void scheduler::refresh(std::uint32_t bank, clocks when)
{
    for (std::uint32_t rank = 0; rank < refresh_due_.size(); ++rank) {
        if ((banks_.banks_of_rank(rank) & bit(bank)) != 0) {
            record(command::refresh, bank, 0, 0, when);
            banks_.refresh(rank, when);
            refreshing_ &= ~banks_.banks_of_rank(rank);
            refresh_due_[rank] += timing_.refi;
            next_refresh_ = std::min(next_refresh_, refresh_due_[rank]);
        }
    }
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

} // namespace bulkhead::machine::dram
