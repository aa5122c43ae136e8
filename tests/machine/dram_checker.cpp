// SPDX-License-Identifier: Apache-2.0
// Rule by rule, in the words of JESD79-4B chapter 4; see the header.
#include "dram_checker.h"

#include <algorithm>
#include <map>

namespace bulkhead::machine::dram::test {

namespace {

class judge {
public:
    judge(const organization &shape, const timing &timing) : shape_(shape), t_(timing) {}

    void see(const issued &now)
    {
        if (!past_.empty() && now.when <= past_.back().when) {
            object(now, "shares its clock with or comes before the command before it");
        }
        check_state(now);
        for (auto before = past_.rbegin(); before != past_.rend() && now.when - before->when <= horizon();
             ++before) {
            check_pair(*before, now);
        }
        check_four_activates(now);
        past_.push_back(now);
    }

    void check_refreshes(clocks end)
    {
        for (std::uint32_t rank = 0; t_.refi != 0 && rank < shape_.of().ranks; ++rank) {
            // JESD79-4B 4.24: at most eight may be postponed, here one.
            if ((refreshes_[rank] + 1) * t_.refi + t_.refi < end) {
                found.push_back("rank " + std::to_string(rank) + " was refreshed " +
                                std::to_string(refreshes_[rank]) + " times in " + std::to_string(end) +
                                " clocks");
            }
        }
    }

    std::vector<std::string> found;

private:
    [[nodiscard]] std::uint32_t rank_of(std::uint32_t bank) const
    {
        return bank / (shape_.of().groups * shape_.of().banks);
    }
    [[nodiscard]] clocks horizon() const
    {
        return std::max<clocks>({t_.rfc, t_.faw, t_.rc(), t_.cwl + t_.burst + t_.wr + t_.wtr_l + t_.cl});
    }

    void object(const issued &now, const std::string &what)
    {
        if (found.size() < 10) {
            found.push_back(std::string(name_of(now.what)) + " to bank " + std::to_string(now.bank) + " at " +
                            std::to_string(now.when) + " " + what);
        }
    }

    // A command must be valid in the state of its bank.
    void check_state(const issued &now)
    {
        const auto open = open_.find(now.bank);
        switch (now.what) {
        case command::activate:
            if (open != open_.end()) {
                object(now, "finds a row open");
            }
            open_[now.bank] = now.row;
            break;
        case command::precharge:
            if (open == open_.end()) {
                object(now, "finds no row open");
            }
            open_.erase(now.bank);
            break;
        case command::refresh:
            ++refreshes_[rank_of(now.bank)];
            for (const auto &[bank, row] : open_) {
                if (rank_of(bank) == rank_of(now.bank)) {
                    object(now, "while bank " + std::to_string(bank) + " is open");
                }
            }
            break;
        default:
            if (open == open_.end() || open->second != now.row) {
                object(now, "does not find its row open");
            }
            break;
        }
    }

    void need(const issued &before, const issued &now, clocks distance, const char *rule)
    {
        if (now.when < before.when + distance) {
            object(now, "is " + std::to_string(now.when - before.when) + " clocks after " +
                            name_of(before.what) + " to bank " + std::to_string(before.bank) + "; " + rule +
                            " is " + std::to_string(distance));
        }
    }

    static bool is_column(command what) { return what == command::read || what == command::write; }

    void check_pair(const issued &before, const issued &now)
    {
        const bool same_rank = rank_of(before.bank) == rank_of(now.bank);
        if (is_column(before.what) && is_column(now.what)) {
            check_columns(before, now, same_rank);
        }
        if (!same_rank) {
            return;
        }
        if (now.what == command::refresh || before.what == command::refresh) {
            check_refresh(before, now);
            return;
        }
        const bool same_group = before.bank / shape_.of().banks == now.bank / shape_.of().banks;
        if (before.what == command::activate && now.what == command::activate) {
            need(before, now, same_group ? t_.rrd_l : t_.rrd_s, "tRRD");
        }
        if (before.bank == now.bank) {
            check_bank(before, now);
        }
    }

    void check_refresh(const issued &before, const issued &now)
    {
        if (before.what == command::refresh) {
            need(before, now, t_.rfc, "tRFC");
        } else if (before.what == command::precharge) {
            need(before, now, t_.rp, "tRP");
        } else if (before.what == command::activate) {
            need(before, now, t_.ras + t_.rp, "tRC");
        }
    }

    void check_bank(const issued &before, const issued &now)
    {
        switch (before.what) {
        case command::activate:
            if (is_column(now.what)) {
                need(before, now, t_.rcd, "tRCD");
            } else if (now.what == command::precharge) {
                need(before, now, t_.ras, "tRAS");
            } else {
                need(before, now, t_.ras + t_.rp, "tRC");
            }
            break;
        case command::precharge:
            need(before, now, t_.rp, "tRP");
            break;
        case command::read:
            if (now.what == command::precharge) {
                need(before, now, t_.rtp, "tRTP");
            }
            break;
        default:
            if (now.what == command::precharge) {
                need(before, now, t_.cwl + t_.burst + t_.wr, "write recovery");
            }
            break;
        }
    }

    // Data of two commands on the bus, and the turnaround between directions.
    void check_columns(const issued &before, const issued &now, bool same_rank)
    {
        const bool wrote = before.what == command::write;
        const bool writes = now.what == command::write;
        const clocks data_before = before.when + (wrote ? t_.cwl : t_.cl);
        const clocks data_now = now.when + (writes ? t_.cwl : t_.cl);
        const bool same_group = same_rank && before.bank / shape_.of().banks == now.bank / shape_.of().banks;
        clocks gap = 0;
        if (!same_rank) {
            gap = t_.rank_switch;
        } else if (!wrote && writes) {
            gap = t_.turnaround;
        }
        if (data_now < data_before + t_.burst + gap) {
            object(now, "has its data on the bus at " + std::to_string(data_now) +
                            ", the data before it ends at " + std::to_string(data_before + t_.burst));
        }
        if (same_rank && wrote == writes) {
            need(before, now, same_group ? t_.ccd_l : t_.ccd_s, "tCCD");
        }
        if (same_rank && wrote && !writes) {
            need(before, now, t_.cwl + t_.burst + (same_group ? t_.wtr_l : t_.wtr_s), "tWTR");
        }
    }

    void check_four_activates(const issued &now)
    {
        if (now.what != command::activate || t_.faw == 0) {
            return;
        }
        std::vector<clocks> &all = activates_[rank_of(now.bank)];
        if (all.size() >= 4 && now.when < all[all.size() - 4] + t_.faw) {
            object(now, "is the fifth activate within tFAW");
        }
        all.push_back(now.when);
    }

    organization shape_;
    timing t_;
    std::vector<issued> past_;
    std::map<std::uint32_t, std::uint32_t> open_; // bank: row
    std::map<std::uint32_t, std::vector<clocks>> activates_;
    std::map<std::uint32_t, std::uint64_t> refreshes_;
};

} // namespace

std::vector<std::string> violations(const organization &shape, const timing &timing,
                                    const std::vector<issued> &log)
{
    judge judge(shape, timing);
    for (const issued &one : log) {
        judge.see(one);
    }
    if (!log.empty()) {
        judge.check_refreshes(log.back().when);
    }
    return judge.found;
}

} // namespace bulkhead::machine::dram::test
