// SPDX-License-Identifier: Apache-2.0
// Clock by clock; see the header.
#include "reference_scheduler.h"

#include <algorithm>

namespace bulkhead::machine::dram::test {

reference_scheduler::reference_scheduler(const organization &shape, const timing &timing,
                                         const policy &policy, std::vector<issued> *log)
    : shape_(shape), timing_(timing), policy_(policy), log_(log),
      refresh_due_(shape.of().ranks, timing.refi == 0 ? scheduler::never : timing.refi)
{
    for (const constraint &rule : timing.constraints()) {
        before_.at(static_cast<std::size_t>(rule.then)).push_back(rule);
    }
    constexpr std::int64_t long_ago = -1'000'000;
    last_.fill(std::vector<std::int64_t>(shape.banks_per_channel(), long_ago));
}

std::uint32_t reference_scheduler::group_of(std::uint32_t bank) const
{
    return bank / shape_.of().banks;
}

std::uint32_t reference_scheduler::rank_of(std::uint32_t bank) const
{
    return group_of(bank) / shape_.of().groups;
}

bool reference_scheduler::hits(const queued &one) const
{
    const auto row = open_.find(one.at.bank);
    return row != open_.end() && row->second == one.at.row;
}

bool reference_scheduler::wanted(std::uint32_t bank, std::uint32_t row) const
{
    return std::any_of(queues_.begin(), queues_.end(), [&](const queue &of) {
        return std::any_of(of.begin(), of.end(),
                           [&](const queued &one) { return one.at.bank == bank && one.at.row == row; });
    });
}

// Requests

void reference_scheduler::request(std::uint64_t id, const place &at, bool write, clocks when)
{
    advance(when);
    const queued one{.id = id, .at = at, .write = write, .arrived = when};
    if (!outside_.at(write).empty() || !admit(one, when)) {
        outside_.at(write).push_back(one);
    }
    take_turn(when);
}

bool reference_scheduler::admit(const queued &one, clocks now)
{
    const queue &writes = queues_[1];
    const bool known =
        std::any_of(writes.begin(), writes.end(), [&](const queued &other) { return other.at == one.at; });
    queue &own = queues_.at(one.write);
    if (!known && own.size() == (one.write ? policy_.write_queue : policy_.read_queue)) {
        return false;
    }
    if (!known) {
        own.push_back({one.id, one.at, one.write, now, entered_++, served_});
    }
    if (one.write) {
        completions_.push_back({one.id, now, true});
    } else if (known) {
        completions_.push_back({one.id, now + timing_.burst, false});
    }
    return true;
}

void reference_scheduler::admit_waiting(clocks now)
{
    for (queue &line : outside_) {
        while (!line.empty() && admit(line.front(), now)) {
            line.erase(line.begin());
        }
    }
}

// The request of a bank that goes next: the oldest one for the open row, unless the oldest of all has been
// overtaken too often or is over the age limit.
const reference_scheduler::queued *reference_scheduler::candidate(const queue &of, std::uint32_t bank,
                                                                  clocks now) const
{
    const auto in_bank = [&](const queued &one) { return one.at.bank == bank; };
    const auto oldest = std::find_if(of.begin(), of.end(), in_bank);
    if (oldest == of.end()) {
        return nullptr;
    }
    const bool overdue =
        oldest == of.begin() && !policy_.arbitration && now >= oldest->arrived + policy_.age_limit;
    const auto &overtaken = overtaken_.at(oldest->write);
    const auto times = overtaken.find(bank);
    const bool capped = !policy_.arbitration && times != overtaken.end() && times->second >= policy_.cap;
    if (overdue || capped) {
        return &*oldest;
    }
    const auto hit =
        std::find_if(oldest, of.end(), [&](const queued &one) { return in_bank(one) && hits(one); });
    return hit != of.end() ? &*hit : &*oldest;
}

// Turns

void reference_scheduler::take_turn(clocks now)
{
    if (policy_.arbitration) {
        turn_by_score();
    } else if (policy_.stores) {
        turn_by_stores(now);
    } else {
        turn_by_watermarks();
    }
}

void reference_scheduler::turn_by_watermarks()
{
    const std::size_t reads = queues_[0].size();
    const std::size_t writes = queues_[1].size();
    const std::uint32_t one_drain = policy_.write_high - policy_.write_low;
    if (reads == 0) {
        reads_first_ = 0;
    }
    if (draining_ && (writes <= policy_.write_low || writes_left_ == 0)) {
        draining_ = false;
        reads_first_ = reads != 0 && writes > policy_.write_low ? one_drain : 0;
    }
    if (!draining_ && reads_first_ == 0 && writes >= policy_.write_high) {
        draining_ = true;
        writes_left_ = one_drain;
    }
    writing_ = draining_ ? writes != 0 : writes != 0 && reads == 0;
}

void reference_scheduler::turn_by_stores(clocks now)
{
    for (const std::size_t which : {0U, 1U}) {
        store &own = stores_.at(which);
        const bool empty = queues_.at(which).empty();
        own.unserved = own.empty && !empty ? now : own.unserved;
        own.emptied = !own.empty && empty ? now : own.emptied;
        own.empty = empty;
    }
    const store &own = stores_.at(writing_);
    const store &other = stores_.at(!writing_);
    if (run_left_ != 0 && !own.empty) {
        return;
    }
    run_left_ = 0;
    const bool critical =
        !other.empty && now >= other.unserved + policy_.stores->starve && now >= other.rests_until;
    const clocks gap = writing_ ? 0 : policy_.stores->idle; // reads have the turn by default
    const bool unused = own.empty && now >= own.emptied + gap;
    if (critical || (unused && !other.empty)) {
        writing_ = !writing_;
        run_left_ = critical ? policy_.stores->run : 0;
    }
}

// Every request is considered; the lists are in order of arrival, reads and writes separately.
void reference_scheduler::turn_by_score()
{
    winner_ = nullptr;
    std::uint32_t best = 0;
    for (const queue &of : queues_) {
        for (const queued &one : of) {
            const std::uint32_t score =
                policy_.arbitration->score(hits(one), one.write == wrote_, served_ - one.served_before);
            const bool older = winner_ != nullptr && score == best && one.order < winner_->order;
            if (winner_ == nullptr || score > best || older) {
                winner_ = &one;
                best = score;
            }
        }
    }
    writing_ = winner_ != nullptr && winner_->write;
}

// Commands

void reference_scheduler::advance(clocks until)
{
    for (; now_ < until; ++now_) {
        step(now_);
    }
}

void reference_scheduler::step(clocks now)
{
    take_turn(now);
    if (const std::optional<proposal> next = choose(now)) {
        issue(*next, now);
        take_turn(now);
    }
}

bool reference_scheduler::allowed(command what, std::uint32_t bank, clocks now) const
{
    if (what == command::activate && timing_.faw != 0) {
        const auto found = activates_.find(rank_of(bank));
        if (found != activates_.end() && found->second.size() >= 4 &&
            now < found->second[found->second.size() - 4] + timing_.faw) {
            return false;
        }
    }
    for (const constraint &rule : before_.at(static_cast<std::size_t>(what))) {
        const std::vector<std::int64_t> &last = last_.at(static_cast<std::size_t>(rule.first));
        const auto [first, end] = banks_of(rule.where, bank);
        for (std::uint32_t other = first; other < end; ++other) {
            const bool holds = rule.where != scope::other_rank || rank_of(other) != rank_of(bank);
            if (holds && static_cast<std::int64_t>(now) < last[other] + rule.distance) {
                return false;
            }
        }
    }
    return true;
}

// The first and the last bank that a constraint applies to; for other ranks: all.
std::pair<std::uint32_t, std::uint32_t> reference_scheduler::banks_of(scope where, std::uint32_t bank) const
{
    const std::uint32_t in_group = shape_.of().banks;
    const std::uint32_t in_rank = in_group * shape_.of().groups;
    switch (where) {
    case scope::bank:
        return {bank, bank + 1};
    case scope::group:
        return {group_of(bank) * in_group, (group_of(bank) + 1) * in_group};
    case scope::rank:
        return {rank_of(bank) * in_rank, (rank_of(bank) + 1) * in_rank};
    default:
        return {0, shape_.banks_per_channel()};
    }
}

std::optional<reference_scheduler::proposal> reference_scheduler::choose(clocks now) const
{
    for (const auto how :
         {&reference_scheduler::for_refresh,
          policy_.arbitration ? &reference_scheduler::for_winner : &reference_scheduler::for_direction,
          &reference_scheduler::for_closing}) {
        if (const std::optional<proposal> found = (this->*how)(now)) {
            return found;
        }
    }
    return std::nullopt;
}

// A rank that is due for refresh: its open banks are closed, then it is refreshed.
std::optional<reference_scheduler::proposal> reference_scheduler::for_refresh(clocks now) const
{
    const std::uint32_t of_rank = shape_.of().groups * shape_.of().banks;
    for (std::uint32_t rank = 0; rank < refresh_due_.size(); ++rank) {
        if (now < refresh_due_[rank]) {
            continue;
        }
        bool all_closed = true;
        for (std::uint32_t bank = rank * of_rank; bank < (rank + 1) * of_rank; ++bank) {
            if (open_.count(bank) != 0) {
                all_closed = false;
                if (allowed(command::precharge, bank, now)) {
                    return proposal{command::precharge, bank, nullptr};
                }
            }
        }
        if (all_closed && allowed(command::refresh, rank * of_rank, now)) {
            return proposal{command::refresh, rank * of_rank, nullptr};
        }
    }
    return std::nullopt;
}

// In the direction that has the turn: the oldest row hit that can go, otherwise the oldest request that needs
// another row. No command delays the next command of a request that is over the age limit.
std::optional<reference_scheduler::proposal> reference_scheduler::for_direction(clocks now) const
{
    const queue &own = queues_.at(writing_);
    const command column = writing_ ? command::write : command::read;
    const auto free = [&](std::uint32_t bank) { return now < refresh_due_[rank_of(bank)]; };
    const queued *const oldest = own.empty() ? nullptr : &own.front();
    const bool overdue =
        oldest != nullptr && now >= oldest->arrived + policy_.age_limit && free(oldest->at.bank);
    const bool its_column = overdue && hits(*oldest);
    const bool its_activate = overdue && open_.count(oldest->at.bank) == 0;
    for (const queued &one : own) {
        if (free(one.at.bank) && candidate(own, one.at.bank, now) == &one && hits(one) &&
            (!its_column || &one == oldest) && allowed(column, one.at.bank, now)) {
            return proposal{column, one.at.bank, &one};
        }
    }
    for (const queued &one : own) {
        if (!free(one.at.bank) || candidate(own, one.at.bank, now) != &one || hits(one)) {
            continue;
        }
        const bool open = open_.count(one.at.bank) != 0;
        const command what = open ? command::precharge : command::activate;
        if ((open || !its_activate || &one == oldest) && allowed(what, one.at.bank, now)) {
            return proposal{what, one.at.bank, &one};
        }
    }
    return std::nullopt;
}

// The next command of the winner, otherwise opens the row of the oldest request of another bank whose open
// row no request wants.
std::optional<reference_scheduler::proposal> reference_scheduler::for_winner(clocks now) const
{
    if (winner_ == nullptr) {
        return std::nullopt;
    }
    const std::uint32_t its_bank = winner_->at.bank;
    const auto next_for = [&](const queued &one) {
        return hits(one)                       ? (one.write ? command::write : command::read)
               : open_.count(one.at.bank) != 0 ? command::precharge
                                               : command::activate;
    };
    if (now < refresh_due_[rank_of(its_bank)] && allowed(next_for(*winner_), its_bank, now)) {
        return proposal{next_for(*winner_), its_bank, winner_};
    }
    const queued *found = nullptr;
    for (const queue &of : queues_) {
        for (const queued &one : of) {
            const auto row = open_.find(one.at.bank);
            const bool useful = row != open_.end() && wanted(one.at.bank, row->second);
            if (one.at.bank != its_bank && !useful && now < refresh_due_[rank_of(one.at.bank)] &&
                allowed(next_for(one), one.at.bank, now) && (found == nullptr || one.order < found->order)) {
                found = &one;
            }
        }
    }
    if (found == nullptr) {
        return std::nullopt;
    }
    return proposal{next_for(*found), found->at.bank, found};
}

// With closed pages: closes a row that no request wants any more.
std::optional<reference_scheduler::proposal> reference_scheduler::for_closing(clocks now) const
{
    for (const auto &[bank, row] : open_) {
        if (policy_.page == page_policy::closed && !wanted(bank, row) && now < refresh_due_[rank_of(bank)] &&
            allowed(command::precharge, bank, now)) {
            return proposal{command::precharge, bank, nullptr};
        }
    }
    return std::nullopt;
}

void reference_scheduler::issue(const proposal &what, clocks now)
{
    const std::uint32_t bank = what.bank;
    const place at = what.whose != nullptr ? what.whose->at : place{};
    const bool column = what.what == command::read || what.what == command::write;
    const std::uint32_t row = what.what == command::precharge ? open_.at(bank) : at.row;
    last_.at(static_cast<std::size_t>(what.what)).at(bank) = static_cast<std::int64_t>(now);
    if (log_ != nullptr) {
        log_->push_back({now, what.what, bank, row, column ? at.column : 0});
    }
    if (what.what == command::activate) {
        open_[bank] = at.row;
        activates_[rank_of(bank)].push_back(now);
    } else if (what.what == command::precharge) {
        open_.erase(bank);
    } else if (what.what == command::refresh) {
        refresh_due_[rank_of(bank)] += timing_.refi;
    } else {
        queue &own = queues_.at(what.whose->write);
        const auto served = own.begin() + (what.whose - own.data());
        const auto first =
            std::find_if(own.begin(), own.end(), [&](const queued &one) { return one.at.bank == bank; });
        std::uint32_t &overtaken = overtaken_.at(served->write)[bank];
        overtaken = first == served ? 0 : overtaken + 1;
        if (!served->write) {
            completions_.push_back({served->id, now + timing_.cl + timing_.burst, false});
        }
        wrote_ = served->write;
        store &of = stores_.at(wrote_);
        of.unserved = now;
        if (wrote_ == writing_ && run_left_ != 0 && --run_left_ == 0) {
            of.rests_until = now + policy_.stores->rest;
        }
        std::uint32_t &left = wrote_ ? writes_left_ : reads_first_;
        left -= left != 0 ? 1 : 0;
        own.erase(served);
        ++served_;
        admit_waiting(now);
    }
}

} // namespace bulkhead::machine::dram::test
