// SPDX-License-Identifier: Apache-2.0
// Walks the translation tables that the hypervisor has written into simulated memory: EL2's stage 1 and the
// guests' stage 2, with 4 KiB granules (DDI 0487, D8). What it finds is what is mapped, so it is also a
// witness of what the hypervisor has done. It reads memory behind the caches' back and costs no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/program/ram.h"
#include "machine/program/window.h"

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
    phys_addr root;
    std::uint32_t start_level; // of the root: 1 for 39 bits
    std::uint32_t input_bits;

    [[nodiscard]] std::variant<translation, walk_fault> walk(const ram &memory, std::uint64_t input) const;
    // All that is mapped to memory in [first, first + bytes), as runs of equal attributes, in order. Devices
    // are left out.
    [[nodiscard]] std::vector<mapping_run> runs(const ram &memory, std::uint64_t first,
                                                std::uint64_t bytes) const;
};

// Eight bytes of memory; nothing where there is none.
[[nodiscard]] std::optional<std::uint64_t> descriptor_at(const ram &memory, phys_addr where);

// By the registers that hold them. Stage 2 of a VMID; EL2's stage 1.
[[nodiscard]] tables stage2_tables(std::uint64_t vttbr, std::uint64_t vtcr);
[[nodiscard]] tables el2_tables(std::uint64_t ttbr0, std::uint64_t tcr);

// Of a translation's attributes. Stage 1 has read-only in the same place as stage 2 has "may not be written".
[[nodiscard]] bool stage1_writable(std::uint64_t attributes);
[[nodiscard]] bool stage2_writable(std::uint64_t attributes);
// Whether stage 1 maps it write-back, by what MAIR says of its attribute index.
[[nodiscard]] bool stage1_cached(std::uint64_t attributes, std::uint64_t mair);

// What caches may do with memory, by MemAttr of its stage-2 descriptor, with HCR_EL2.FWB or without.
enum class stage2_caching : std::uint8_t { as_stage1, always, never };
[[nodiscard]] stage2_caching stage2_cached(std::uint64_t attributes, bool force);

} // namespace bulkhead::machine::hosted
