// SPDX-License-Identifier: Apache-2.0
// See the header.
#include "machine/armv7/code_lines.h"

namespace bulkhead::machine::armv7 {

namespace {

constexpr std::uint32_t bytes_without_cache = 32; // bytes of one read where no cache is used

} // namespace

code_lines::code_lines(const core &on)
    : line_bytes_(on.l1i() != nullptr ? static_cast<std::uint32_t>(on.l1i()->geometry().line().value)
                                      : bytes_without_cache),
      has_l1i_(on.l1i() != nullptr)
{
}

code_line &code_lines::at(std::uint32_t address, phys_addr where, bool cached)
{
    const std::uint32_t offset = address & (line_bytes_ - 1);
    const code_line wanted{phys_addr{where.value - offset}, address - offset, cached, cached && !has_l1i_};
    auto &same = lines_[wanted.address];
    for (const std::unique_ptr<code_line> &each : same) {
        if (each->where == wanted.where && each->cached == cached) {
            return *each;
        }
    }
    return *same.emplace_back(std::make_unique<code_line>(wanted));
}

// Marks all lines with this address as absent. A line that is still in the cache costs one more lookup.
void code_lines::left(std::uint64_t /*core_bit*/, std::uint64_t offset, std::uint64_t bytes)
{
    for (std::uint64_t at = offset; at < offset + bytes; at += line_bytes_) {
        const auto found = lines_.find(static_cast<std::uint32_t>(at));
        if (found == lines_.end()) {
            continue;
        }
        for (const std::unique_ptr<code_line> &each : found->second) {
            each->present = false;
        }
    }
}

} // namespace bulkhead::machine::armv7
