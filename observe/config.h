// SPDX-License-Identifier: Apache-2.0
// What the observer is told about a system: RAM, who owns which frame, caches, and the store that starts the
// count. The builder writes the file, the plugin reads it when the emulator starts; docs/design/observer.md
// has its format. Unknown keys and values are refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/cache_geometry.h"
#include "machine/owner_map.h"
#include "machine/replacement.h"
#include "machine/types.h"

namespace bulkhead::observe {

struct cache_shape {
    machine::cache_geometry geometry;
    machine::replacement policy;
};

// A 32-bit store of `value` to `address`.
struct start_store {
    machine::phys_addr address;
    std::uint32_t value;
};

struct address_range {
    machine::phys_addr start;
    machine::byte_count bytes; // 0: there is none

    [[nodiscard]] bool contains(machine::phys_addr address) const
    {
        return address.value - start.value < bytes.value;
    }
};

// Numbers fixed by the owners map: 0 is nobody, 1 the hypervisor, then the domains.
inline constexpr machine::owner_id hypervisor_owner{1};

struct config {
    machine::owner_map owners;
    std::vector<std::string> names; // by owner id; 0 nobody, 1 the hypervisor
    std::uint32_t cores;
    cache_shape l1d;
    cache_shape l1i; // a copy of l1d if the file does not give it
    cache_shape llc;
    address_range uncached; // memory that nobody accesses through caches: the hypervisor maps it as
                            // device memory
    address_range configuration_space; // of PCI, which the hypervisor accesses at virtual addresses that are
                                       // the physical ones
    std::uint64_t seed;
    std::optional<start_store> start; // none: counts from the beginning
    std::uint64_t window_accesses;    // 0: no time series
};

machine::result<config> read_config(const std::string &path);

} // namespace bulkhead::observe
