// SPDX-License-Identifier: Apache-2.0
// What the memory-system components of Arm's MPAM offer, as plain values: the keys of a platform file's
// `mpam` with numbers in base units. They are part of machine/settings.h; machine/mpam/check.h checks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead::machine::mpam {

// Fractions of a cache: MPAMCFG_CMAX and MPAMCFG_CMIN.
struct capacity_settings {
    std::uint32_t bits = 0;
    bool maximum = true;
    bool minimum = false;
    bool soft = false; // CMAX.SOFTLIM
};

struct associativity_settings {
    std::uint32_t bits = 0;
};

struct bandwidth_settings {
    std::uint32_t bits = 0; // of minimum, maximum and the proportional stride
    bool min = false;
    bool max = false;
    std::uint32_t portions = 0; // bits of MPAMCFG_MBW_PBM; 0: no such control
    bool proportional = false;
    std::uint64_t window_ps = 20'000'000; // in which bandwidth is accounted
    bool window_writable = false;
};

struct priority_settings {
    std::uint32_t internal = 0; // bits; 0: no such control
    std::uint32_t downstream = 0;
    bool zero_is_low = true;
};

struct storage_monitor_settings {
    std::uint32_t count = 0;
    bool capture = false;
};

struct bandwidth_monitor_settings {
    std::uint32_t count = 0;
    bool capture = false;
    std::uint32_t bits = 31; // of the value: 44 and 63 are those of the long counter
    bool by_direction = false;
    std::uint32_t scale = 0; // bits by which the short counter can be shifted
};

enum class portion_kind : std::uint8_t { ways, sets };

// A resource instance (RIS).
struct resource_settings {
    std::string level{};        // name of the shared level; empty: the memory controller
    std::uint32_t portions = 0; // bits of MPAMCFG_CPBM; 0: no such control
    portion_kind portions_are = portion_kind::ways;
    std::optional<capacity_settings> capacity{};
    std::optional<associativity_settings> associativity{};
    std::optional<bandwidth_settings> bandwidth{};
    std::optional<priority_settings> priority{};
    std::optional<storage_monitor_settings> storage_monitors{};
    std::optional<bandwidth_monitor_settings> bandwidth_monitors{};
};

struct component_settings {
    std::string name{};
    std::uint64_t at = 0; // of its feature page
    std::string version = "1.1";
    std::uint32_t error_interrupt = 0; // INTIDs; 0: not connected
    std::uint32_t overflow_interrupt = 0;
    std::uint64_t not_ready_ps = 0;     // of a monitor, after a change of its configuration
    std::uint32_t internal_partids = 0; // narrowing; 0: there is none
    std::vector<resource_settings> resources{};

    [[nodiscard]] bool has_ris() const { return version != "1.0"; }
};

struct system_settings {
    std::uint32_t partids = 1;         // MPAMIDR_EL1.PARTID_MAX + 1
    std::uint32_t monitor_groups = 1;  // MPAMIDR_EL1.PMG_MAX + 1
    std::uint32_t virtual_partids = 0; // entries of MPAMVPM<n>_EL2; 0: MPAMIDR_EL1.HAS_HCR is 0
    std::vector<component_settings> components{};
};

} // namespace bulkhead::machine::mpam
