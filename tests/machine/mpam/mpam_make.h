// SPDX-License-Identifier: Apache-2.0
// A small machine with MPAM for tests: one component with the shared level and the memory controller as
// instances, all controls and monitors. And a driver that uses offsets only.
#pragma once

#include "core/mpam_registers.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test {

constexpr std::uint32_t cache_instance = 0;
constexpr std::uint32_t memory_instance = 1;

inline mpam::component_settings full_component()
{
    mpam::component_settings one{.name = "all", .error_interrupt = 90, .overflow_interrupt = 91};
    one.resources.push_back({.level = "l2",
                             .portions = 16,
                             .capacity = {{.bits = 8, .maximum = true, .minimum = true, .soft = true}},
                             .associativity = {{.bits = 4}},
                             .storage_monitors = {{.count = 4, .capture = true}}});
    one.resources.push_back(
        {.bandwidth = {{.bits = 8,
                        .min = true,
                        .max = true,
                        .portions = 32,
                        .proportional = true,
                        .window_ps = 20'000'000,
                        .window_writable = true}},
         .priority = {{.internal = 3, .downstream = 2, .zero_is_low = true}},
         .bandwidth_monitors = {
             {.count = 6, .capture = true, .bits = 44, .by_direction = true, .scale = 4}}});
    return one;
}

// Each core has a port of its own, so that a core whose writes wait does not delay the others.
inline settings machine_with_mpam(std::size_t cores = 4)
{
    settings all = small_machine(cores);
    all.masters.clear();
    for (std::size_t i = 0; i < cores; ++i) {
        all.masters.push_back(
            {.name = "core" + std::to_string(i), .request_ps = 10'000, .answer_ps = 10'000});
        all.cores[i].master = all.masters.back().name;
    }
    all.mpam = mpam::system_settings{.partids = 8, .monitor_groups = 4, .components = {full_component()}};
    return all;
}

// The feature page of a component, as a driver uses it.
class page {
public:
    explicit page(mpam::component &of) : of_(of) {}

    [[nodiscard]] std::uint32_t read(std::uint64_t offset) const
    {
        return static_cast<std::uint32_t>(of_.read(offset, 4, now));
    }
    [[nodiscard]] std::uint64_t read64(std::uint64_t offset) const { return of_.read(offset, 8, now); }
    void write(std::uint64_t offset, std::uint64_t value) { of_.write(offset, 4, value, now); }
    void write64(std::uint64_t offset, std::uint64_t value) { of_.write(offset, 8, value, now); }

    void select(std::uint32_t ris, std::uint32_t partid) { write(MPAMCFG_PART_SEL, ris << 24U | partid); }
    void set(std::uint32_t ris, std::uint32_t partid, std::uint64_t offset, std::uint32_t value)
    {
        select(ris, partid);
        write(offset, value);
    }
    void select_monitor(std::uint32_t ris, std::uint32_t number)
    {
        write(MSMON_CFG_MON_SEL, ris << 24U | number);
    }
    // Counts requests with the label's ids; `more`: other bits of the control register.
    void watch_storage(std::uint32_t number, mpam_label label, std::uint32_t more = 0)
    {
        select_monitor(cache_instance, number);
        write(MSMON_CFG_CSU_FLT, label.partition | std::uint32_t{label.monitor_group} << 16U);
        write(MSMON_CFG_CSU_CTL, MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID | MSMON_CTL_MATCH_PMG | more);
    }
    void watch_bandwidth(std::uint32_t number, mpam_label label, std::uint32_t more = 0)
    {
        select_monitor(memory_instance, number);
        write(MSMON_CFG_MBWU_FLT, label.partition | std::uint32_t{label.monitor_group} << 16U);
        write(MSMON_CFG_MBWU_CTL, MSMON_CTL_EN | MSMON_CTL_MATCH_PARTID | MSMON_CTL_MATCH_PMG | more);
    }
    [[nodiscard]] std::uint32_t error_code() const
    {
        return read(MPAMF_ESR) >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE;
    }

    picoseconds now{};

private:
    mpam::component &of_;
};

inline page page_of(simulated_machine &on)
{
    return page(on.mpam()->at(0));
}

} // namespace bulkhead::machine::test
