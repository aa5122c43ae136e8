// SPDX-License-Identifier: Apache-2.0
// A memory-system component (MSC) as software sees it: its feature page at the architecture's offsets
// (IHI 0099, chapter 9). MPAMCFG_PART_SEL selects the partition and instance of control registers,
// MSMON_CFG_MON_SEL the monitor of monitor registers. Reserved bits and absent registers read as zero and
// ignore writes. Choices where IHI 0099 leaves one to the implementation:
//
// - the selecting registers refuse a PARTID beyond the last one and a monitor that no kind has, and accept an
//   undefined instance; its registers read as zero, except those that give the number of PARTIDs and
//   instances;
// - errors 1 to 11 are all detected, and accesses with an error read zero and write nothing;
// - lines keep the label they came in with; requests with ids out of range are served as PARTID 0 and PMG 0.
//
// It knows neither bus addresses nor interrupt controllers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "machine/mpam/errors.h"
#include "machine/mpam/partition_map.h"
#include "machine/mpam/resource.h"

namespace bulkhead::machine::mpam {

class component {
public:
    struct surroundings {
        // The geometry of an instance's cache level; null: the instance is memory.
        std::function<const cache_geometry *(const resource_settings &)> shape_of{};
        std::size_t channels = 1; // of memory
        bus_speed bus{64, 1};
        // Makes memory process all requests up to that time, so that counts are complete.
        std::function<void(picoseconds)> settle{};
    };
    static constexpr std::uint64_t page_bytes = 0x10000;

    // The settings were accepted (machine/mpam/check.h).
    component(const system_settings &whole, const component_settings &wanted, const surroundings &around);
    component(const component &) = delete;
    component &operator=(const component &) = delete;
    ~component() = default;

    [[nodiscard]] const component_settings &made_from() const { return settings_; }
    [[nodiscard]] std::size_t instance_count() const { return resources_.size(); }
    [[nodiscard]] resource &instance(std::size_t ris) { return *resources_[ris]; }
    [[nodiscard]] const resource &instance(std::size_t ris) const { return *resources_[ris]; }

    // 4 or 8 bytes at an aligned offset; other reads give zero, other writes are ignored. `now`: time of the
    // access.
    [[nodiscard]] std::uint64_t read(std::uint64_t offset, unsigned bytes, picoseconds now);
    void write(std::uint64_t offset, unsigned bytes, std::uint64_t value, picoseconds now);

    // Connects its interrupt lines. They may change within a call of the memory controller.
    void connect(std::function<void(bool high)> error, std::function<void(bool high)> overflow);

private:
    // machine/mpam/component_controls.cpp
    std::uint32_t read_control(std::uint64_t offset);
    void write_control(std::uint64_t offset, std::uint32_t value);
    void select_partition(std::uint32_t value);
    std::optional<std::uint32_t> selected_controls(bool there);
    [[nodiscard]] bool offers(const resource_settings &of, std::uint64_t offset) const;
    void write_narrowing(std::uint32_t value);
    [[nodiscard]] bool narrowing_selected();
    void enable(std::uint32_t value, bool enabled);
    [[nodiscard]] std::uint32_t enable_flags() const;
    void write_enable_flags(std::uint32_t value);

    // machine/mpam/component_monitors.cpp
    std::uint64_t read_monitor(std::uint64_t offset, picoseconds now);
    void write_monitor(std::uint64_t offset, std::uint64_t value, bool whole, picoseconds now);
    void select_monitor(std::uint32_t value);
    resource *selected_monitors(bool storage);
    [[nodiscard]] std::uint64_t bytes_held(const resource &of, const storage_monitor &by) const;
    void configure(resource &of, bool storage, std::uint32_t control, std::uint32_t filter, picoseconds now);
    [[nodiscard]] bool filter_in_range(std::uint32_t filter) const;
    void capture(picoseconds now);
    [[nodiscard]] std::uint32_t overflow_status() const;
    [[nodiscard]] std::uint32_t overflow_bits(const resource &of) const;
    void follow_overflows();

    [[nodiscard]] std::uint32_t selected_ris() const { return part_sel_ >> MPAM_SEL_RIS_SHIFT & 0xFU; }
    [[nodiscard]] std::uint32_t monitor_ris() const { return mon_sel_ >> MPAM_SEL_RIS_SHIFT & 0xFU; }

    system_settings whole_;
    component_settings settings_;
    std::function<void(picoseconds)> settle_;
    partition_map map_;
    errors errors_;
    std::vector<std::unique_ptr<resource>> resources_;
    std::uint32_t part_sel_ = 0;
    std::uint32_t mon_sel_ = 0;
    std::function<void(bool)> error_line_;
    std::function<void(bool)> overflow_line_;
    bool overflow_high_ = false;
};

} // namespace bulkhead::machine::mpam
