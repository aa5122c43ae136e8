// SPDX-License-Identifier: Apache-2.0
// What the translation tables map that the hypervisor has written into simulated memory: EL2's stage 1 and
// the guests' stage 2. It is also a witness of what the hypervisor has done. The walk is machine/vmsa.h's, as
// the cores' MMUs make it; here it reads memory behind the caches' back and costs no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/program/ram.h"
#include "machine/program/window.h"
#include "machine/vmsa.h"

namespace bulkhead::machine::hosted {

struct translation {
    phys_addr pa;             // of the input address itself
    std::uint64_t bytes;      // of the page or block that holds it
    std::uint64_t attributes; // the descriptor's bits that are no address
    std::uint32_t level;
};

// Where a walk ended without a result.
struct walk_fault {
    std::uint32_t level;
};

struct tables {
    translation_stage stage; // by vmsa::stage1_from() or stage2_from()

    [[nodiscard]] std::variant<translation, walk_fault> walk(const ram &memory, std::uint64_t input) const;
    // All that is mapped to memory in [first, first + bytes), as runs of equal attributes, in order. Devices
    // are left out.
    [[nodiscard]] std::vector<mapping_run> runs(const ram &memory, std::uint64_t first,
                                                std::uint64_t bytes) const;
};

// Eight bytes of memory; nothing where there is none.
[[nodiscard]] std::optional<std::uint64_t> descriptor_at(const ram &memory, phys_addr where);

// What caches may do with memory, by MemAttr of its stage-2 descriptor, with HCR_EL2.FWB or without.
enum class stage2_caching : std::uint8_t { as_stage1, always, never };
[[nodiscard]] stage2_caching stage2_cached(std::uint64_t attributes, bool force);

} // namespace bulkhead::machine::hosted
