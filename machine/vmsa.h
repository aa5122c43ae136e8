// SPDX-License-Identifier: Apache-2.0
// VMSAv8-64 translation tables with 4 KiB granules (DDI 0487, D8): decoding of descriptors, and the walk of
// one stage. The only decoder of the machine: the cores' MMUs (machine/mmu.h) use it with timing, hosted
// code's view of the tables (machine/hosted/tables.h) without. Left out: other granules, attributes that
// tables inherit (APTable and the like), hardware update of flags.
#pragma once

#include <cstdint>
#include <variant>

#include "machine/translation_fault.h"
#include "machine/types.h"

namespace bulkhead::machine {

// The tables of one stage. While it is off, addresses are not translated.
struct translation_stage {
    bool on = false;
    phys_addr root{};             // address of the first table; for stage 1 with stage 2 on, an intermediate
                                  // address
    std::uint32_t input_bits = 0; // 64 - TxSZ, 25 to 48
    std::uint32_t start_level = 0;
    bool cached = true; // memory type of the tables (IRGN, ORGN): whether caches may serve them
};

namespace vmsa {

inline constexpr std::uint32_t page_bits = 12;
inline constexpr std::uint32_t level_bits = 9;
inline constexpr std::uint32_t last_level = 3;
inline constexpr std::uint32_t contiguous_bits = 4; // 16 neighbouring descriptors with the contiguous bit are
                                                    // one mapping
inline constexpr std::uint32_t entries = 1U << level_bits;
inline constexpr std::uint64_t address_mask = 0x0000'FFFF'FFFF'F000;

// Log2 of the size that one descriptor of a level maps.
[[nodiscard]] constexpr std::uint32_t shift_of(std::uint32_t level)
{
    return page_bits + level_bits * (last_level - level);
}

struct descriptor {
    enum class kind : std::uint8_t { invalid, table, leaf };
    kind what = kind::invalid;
    std::uint64_t output = 0; // address of the next table, or first address of the mapping
    std::uint32_t shift = 0;  // of a leaf: log2 of the mapped size, including its neighbours if it is
                              // contiguous
};

[[nodiscard]] descriptor decode(std::uint64_t raw, std::uint32_t level);

// Access flag of a leaf.
[[nodiscard]] constexpr bool accessed(std::uint64_t raw)
{
    return (raw >> 10U & 1U) != 0; // AF
}

struct stage1_attributes {
    bool writable;
    bool global;
    bool user; // EL0 may access it
    bool device;
    bool cached; // write-back cacheable, inner and outer
};
[[nodiscard]] stage1_attributes stage1_of(std::uint64_t raw, std::uint64_t mair);

struct stage2_attributes {
    bool readable;
    bool writable;
    bool device;
};
[[nodiscard]] stage2_attributes stage2_of(std::uint64_t raw);

// The stages that register values describe: stage 2 of a VMID; stage 1 of EL2, or of EL1's lower half.
[[nodiscard]] translation_stage stage2_from(std::uint64_t vttbr, std::uint64_t vtcr);
[[nodiscard]] translation_stage stage1_from(std::uint64_t ttbr0, std::uint64_t tcr);

// Position of a walk: the table of a level.
struct position {
    std::uint32_t level;
    std::uint64_t table;
};
[[nodiscard]] constexpr position start_of(const translation_stage &stage)
{
    return {stage.start_level, stage.root.value};
}

// End of a walk: the leaf and the table that contains it.
struct end {
    descriptor leaf;
    std::uint64_t raw;
    position in;
};

// Walks the tables of one stage. `read(address)` returns a descriptor, or the reason why there is none.
// `from` is start_of(), or further down if a walk cache has it. The code that uses the leaf checks the access
// flag.
template <class Read>
[[nodiscard]] std::variant<end, translation_fault> walk(const translation_stage &stage, std::uint8_t number,
                                                        std::uint64_t input, position from, Read &&read)
{
    const auto fault = [&](std::uint32_t level) {
        return translation_fault{translation_fault::cause::translation, number,
                                 static_cast<std::uint8_t>(level), false, number == 2 ? input : 0};
    };
    if (stage.input_bits < 64 && input >> stage.input_bits != 0) {
        return fault(stage.start_level);
    }
    for (position at = from;; ++at.level) {
        // At the first level all remaining bits are the index, since tables may be concatenated there.
        const std::uint64_t left = input >> shift_of(at.level);
        const std::uint64_t index = at.level == stage.start_level ? left : left & (entries - 1);
        const std::variant<std::uint64_t, translation_fault> found = read(at.table + index * 8);
        if (const auto *refused = std::get_if<translation_fault>(&found)) {
            translation_fault why = *refused;
            why.level = why.why == translation_fault::cause::external ? static_cast<std::uint8_t>(at.level)
                                                                      : why.level;
            return why;
        }
        const std::uint64_t raw = std::get<std::uint64_t>(found);
        const descriptor one = decode(raw, at.level);
        if (one.what == descriptor::kind::invalid) {
            return fault(at.level);
        }
        if (one.what == descriptor::kind::leaf) {
            return end{one, raw, at};
        }
        at.table = one.output;
    }
}

} // namespace vmsa

} // namespace bulkhead::machine
