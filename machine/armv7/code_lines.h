// SPDX-License-Identifier: Apache-2.0
// The L1I lines that an interpreter executes from, with a flag for each whether the core has it: a block
// tests the flag and fetches only if its line has left L1I.
#pragma once

#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "machine/core.h"

namespace bulkhead::machine::armv7 {

struct code_line {
    phys_addr where;
    std::uint32_t address; // virtual: L1I is indexed by it
    bool cached;
    bool present = false;
};

class code_lines final : public fetched_text {
public:
    explicit code_lines(const core &on);

    [[nodiscard]] std::uint32_t line_bytes() const { return line_bytes_; }
    // Whether lines must be fetched, because there is an L1I.
    [[nodiscard]] bool asks() const { return has_l1i_; }
    // The line that contains an address. Its object is never moved.
    [[nodiscard]] code_line &at(std::uint32_t address, phys_addr where, bool cached);
    void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) override;

private:
    std::uint32_t line_bytes_;
    bool has_l1i_;
    std::unordered_map<std::uint32_t, std::vector<std::unique_ptr<code_line>>> lines_; // by address
};

} // namespace bulkhead::machine::armv7
