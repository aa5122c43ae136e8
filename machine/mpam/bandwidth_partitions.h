// SPDX-License-Identifier: Apache-2.0
// How MPAM divides the bandwidth of a memory controller. Settings of a partition: a minimum below which its
// requests go first (MBW_MIN), a maximum above which they go last or wait for the next accounting window
// (MBW_MAX, HARDLIM), the parts of the window in which they may enter (MBW_PBM), its share among partitions
// of the same class (MBW_PROP), its priority (PRI). Windows begin at multiples of their width; fractions are
// of the bytes that a channel's data bus can move in a window. A disabled partition, or one without portions,
// is served while no other has requests: no setting blocks it for good.
#pragma once

#include <functional>
#include <vector>

#include "machine/dram/bandwidth_control.h"
#include "machine/mpam/controls.h"
#include "machine/mpam/partition_map.h"

namespace bulkhead::machine::mpam {

// Speed of one channel's data bus.
struct bus_speed {
    std::uint64_t burst_bytes;
    std::uint64_t burst_fs; // duration of a burst
    [[nodiscard]] std::uint64_t bytes_in(std::uint64_t ps) const
    {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::uint64_t>(static_cast<wide>(burst_bytes) * ps * 1000 / burst_fs);
    }
};

class bandwidth_partitions final : public dram::bandwidth_control {
public:
    // `map` and `controls` (by internal PARTID) belong to the component and must outlive this object. The
    // component calls controls_changed() when it has changed `controls`.
    bandwidth_partitions(const resource_settings &of, const bus_speed &bus, std::size_t channels,
                         const partition_map &map, const std::vector<partition_controls> &controls);
    void controls_changed();
    // Sets the function that is called with each request that enters.
    void when_entered(std::function<void(mpam_label, access_kind, byte_count, picoseconds)> what)
    {
        entered_ = std::move(what);
    }

    picoseconds admit(const request &what, picoseconds when) override;
    void entered(const request &what, picoseconds when) override;
    void moved(std::size_t channel, std::uint16_t partition, byte_count bytes, picoseconds when) override;
    void waits_from(std::size_t channel, std::uint64_t deadline) override
    {
        first_[channel] = std::max(first_[channel], deadline);
    }
    [[nodiscard]] dram::standing standing_of(std::size_t channel, std::uint16_t partition,
                                             picoseconds when) override;
    [[nodiscard]] picoseconds stands_until(picoseconds when) override;

private:
    // A partition's use of a channel.
    struct use {
        std::uint64_t entered_in = 0; // number of the window
        std::uint64_t entered = 0;    // bytes
        std::uint64_t moved_in = 0;
        std::uint64_t moved = 0;
        std::uint64_t finished = 0; // position of its next request in the order of proportional shares
    };
    // The controls of one partition in bytes and picoseconds, computed once: every DRAM command needs them.
    struct limits {
        std::uint64_t window_ps = 1;
        std::uint64_t min_bytes = 0;
        std::uint64_t max_bytes = ~std::uint64_t{0};
        bool hard = false;
        bool any_portion = true;
        bool every_portion = true;  // it never waits for one
        std::uint32_t priority = 0; // a greater one goes first
        std::uint32_t stride = 1;
    };
    enum preference : std::uint32_t { left_over, above_maximum, between, below_minimum };

    [[nodiscard]] use &use_of(std::size_t channel, std::uint16_t internal)
    {
        return uses_[channel * map_.internal_count() + internal];
    }
    [[nodiscard]] limits limits_of(const partition_controls &own) const;
    [[nodiscard]] picoseconds next_portion(const partition_controls &own, picoseconds when) const;

    resource_settings of_;
    bus_speed bus_;
    const partition_map &map_;
    const std::vector<partition_controls> &controls_;
    std::vector<limits> limits_;         // by internal PARTID
    std::vector<std::uint64_t> windows_; // window widths, without duplicates
    bool proportional_ = false;          // some partition has a share
    std::vector<use> uses_;              // by channel and internal PARTID
    std::vector<std::uint64_t> first_;   // by channel: the smallest position in that order of a waiting
                                         // request
    std::function<void(mpam_label, access_kind, byte_count, picoseconds)> entered_;
};

} // namespace bulkhead::machine::mpam
