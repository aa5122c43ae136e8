// SPDX-License-Identifier: Apache-2.0
// Translation tables for a front end that has physical addresses only: each page is mapped to itself, so a
// walk takes the time of reading tables where they lie and changes nothing else. machine/generator.h uses it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "machine/mmu.h"
#include "machine/types.h"

namespace bulkhead::machine {

class identity_tables {
public:
    // Stage 1 of VMSAv8-64 with 4 KiB granules, for the pages that hold `addresses`. `levels`: table reads of
    // a walk, 1 to 4. `frames`: of the tables, the root's first. Refuses frames that are not aligned or too
    // few, and addresses that so many levels do not reach.
    static result<identity_tables> make(std::uint32_t levels, const std::vector<std::uint64_t> &addresses,
                                        const std::vector<std::uint64_t> &frames);

    [[nodiscard]] const translation_regime &regime() const { return regime_; }
    // The descriptor that stands there; nothing outside of the tables.
    [[nodiscard]] std::optional<std::uint64_t> read(phys_addr where) const;

private:
    static constexpr std::uint64_t table_bytes = 4096;
    using table = std::array<std::uint64_t, table_bytes / sizeof(std::uint64_t)>;

    translation_regime regime_;
    std::unordered_map<std::uint64_t, table> tables_; // by frame
};

} // namespace bulkhead::machine
