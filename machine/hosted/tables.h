// SPDX-License-Identifier: Apache-2.0
// Reads the translation tables that the hypervisor has written to simulated memory: EL2's stage 1 and the
// guests' stage 2. They show what the hypervisor has mapped. The walk is that of machine/vmsa.h, as in the
// cores' MMUs, but here it reads memory without the caches and costs no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/program/ram.h"
#include "machine/program/window.h"
#include "machine/vmsa.h"

namespace bulkhead::machine::hosted {

struct translation {
    phys_addr pa;             // of the input address
    std::uint64_t bytes;      // size of the page or block that contains it
    std::uint64_t attributes; // bits of the descriptor that are not the address
    std::uint32_t level;
};

// The level at which a walk ended without a result.
struct walk_fault {
    std::uint32_t level;
};

struct tables {
    translation_stage stage; // by vmsa::stage1_from() or stage2_from()

    [[nodiscard]] std::variant<translation, walk_fault> walk(const ram &memory, std::uint64_t input) const;
    // All mappings to memory in [first, first + bytes), as runs of equal attributes, in order. Mappings of
    // devices are left out.
    [[nodiscard]] std::vector<mapping_run> runs(const ram &memory, std::uint64_t first,
                                                std::uint64_t bytes) const;
};

// Eight bytes of memory; nothing if there is no memory.
[[nodiscard]] std::optional<std::uint64_t> descriptor_at(const ram &memory, phys_addr where);

// Cacheability of memory by MemAttr of its stage-2 descriptor. `force`: HCR_EL2.FWB is set.
enum class stage2_caching : std::uint8_t { as_stage1, always, never };
[[nodiscard]] stage2_caching stage2_cached(std::uint64_t attributes, bool force);

} // namespace bulkhead::machine::hosted
