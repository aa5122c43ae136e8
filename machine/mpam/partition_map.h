// SPDX-License-Identifier: Apache-2.0
// A component's map from the PARTIDs of requests to internal PARTIDs, whose settings apply (narrowing), and
// which PARTIDs are enabled. All resource instances of a component share it. Requests with a PARTID or group
// out of range get 0 in its place, and are reported.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "machine/mpam/label.h"

namespace bulkhead::machine::mpam {

class partition_map {
public:
    // `internal`: number of internal PARTIDs; 0: no narrowing.
    partition_map(std::uint32_t partids, std::uint32_t groups, std::uint32_t internal)
        : groups_(groups), narrows_(internal != 0), internal_count_(narrows_ ? internal : partids),
          internal_(partids), enabled_(partids, true)
    {
        for (std::uint32_t i = 0; i < partids; ++i) {
            internal_[i] = static_cast<std::uint16_t>(i < internal_count_ ? i : 0);
        }
    }

    [[nodiscard]] std::uint32_t partids() const { return static_cast<std::uint32_t>(internal_.size()); }
    [[nodiscard]] std::uint32_t groups() const { return groups_; }
    [[nodiscard]] bool narrows() const { return narrows_; }
    [[nodiscard]] std::uint32_t internal_count() const { return internal_count_; }

    [[nodiscard]] std::uint16_t internal_of(std::uint16_t partid) const { return internal_[partid]; }
    void map(std::uint16_t partid, std::uint16_t internal) { internal_[partid] = internal; }
    [[nodiscard]] bool enabled(std::uint16_t partid) const { return enabled_[partid]; }
    void enable(std::uint16_t partid, bool enabled) { enabled_[partid] = enabled; }

    // The label that a request or a line counts under: ids out of range become 0.
    [[nodiscard]] mpam_label known(mpam_label label) const
    {
        return {label.partition < internal_.size() ? std::uint32_t{label.partition} : 0,
                label.monitor_group < groups_ ? std::uint32_t{label.monitor_group} : 0};
    }
    // The same for a request; reports it if an id is out of range.
    [[nodiscard]] mpam_label checked(mpam_label label) const
    {
        const mpam_label used = known(label);
        if (used != label && out_of_range_) [[unlikely]] {
            out_of_range_(label);
        }
        return used;
    }
    void when_out_of_range(std::function<void(mpam_label)> what) { out_of_range_ = std::move(what); }

private:
    std::uint32_t groups_;
    bool narrows_;
    std::uint32_t internal_count_;
    std::vector<std::uint16_t> internal_;
    std::vector<bool> enabled_;
    std::function<void(mpam_label)> out_of_range_;
};

} // namespace bulkhead::machine::mpam
