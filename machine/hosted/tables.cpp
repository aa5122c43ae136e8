// SPDX-License-Identifier: Apache-2.0
// Walks of translation tables as the architecture describes them; see the header.
#include "machine/hosted/tables.h"

#include <cstring>

namespace bulkhead::machine::hosted {

std::optional<std::uint64_t> descriptor_at(const ram &memory, phys_addr where)
{
    const auto bytes = memory.bytes(where, {sizeof(std::uint64_t)});
    if (bytes.empty()) {
        return std::nullopt;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::variant<translation, walk_fault> tables::walk(const ram &memory, std::uint64_t input) const
{
    if (input >> stage.input_bits != 0) {
        return walk_fault{0};
    }
    const auto read = [&](std::uint64_t where) -> std::variant<std::uint64_t, translation_fault> {
        if (const auto found = descriptor_at(memory, phys_addr{where})) {
            return *found;
        }
        return translation_fault{translation_fault::cause::external, 0, 0};
    };
    const auto found = vmsa::walk(stage, 2, input, vmsa::start_of(stage), read);
    if (const auto *why = std::get_if<translation_fault>(&found)) {
        return walk_fault{why->level};
    }
    const auto &[leaf, raw, in] = std::get<vmsa::end>(found);
    const std::uint64_t size = std::uint64_t{1} << leaf.shift;
    return translation{phys_addr{leaf.output | (input & (size - 1))}, size, raw & ~vmsa::address_mask,
                       in.level};
}

std::vector<mapping_run> tables::runs(const ram &memory, std::uint64_t first, std::uint64_t bytes) const
{
    std::vector<mapping_run> found;
    std::uint64_t attributes = 0; // of the last run
    const std::uint64_t end = first + bytes;
    for (std::uint64_t at = first; at < end;) {
        const auto answer = walk(memory, at);
        if (const auto *fault = std::get_if<walk_fault>(&answer)) {
            const std::uint64_t size = std::uint64_t{1} << vmsa::shift_of(fault->level);
            at = fault->level == 0 ? end : (at & ~(size - 1)) + size;
            continue;
        }
        const auto &here = std::get<translation>(answer);
        const std::uint64_t next = std::min(end, (at & ~(here.bytes - 1)) + here.bytes);
        const std::uint64_t size = next - at;
        if (memory.offset_of(here.pa, {size}) != ram::absent) {
            if (!found.empty() && here.attributes == attributes &&
                found.back().ipa + found.back().bytes.value == at &&
                found.back().pa.value + found.back().bytes.value == here.pa.value) {
                found.back().bytes.value += size;
            } else {
                found.push_back({at, here.pa, {size}});
                attributes = here.attributes;
            }
        }
        at = next;
    }
    return found;
}

// DDI 0487, D8.6, rules R_VRJSW and R_RHWZM: without FWB the more restrictive stage decides.
stage2_caching stage2_cached(std::uint64_t attributes, bool force)
{
    constexpr std::uint64_t write_back = 0xF;
    constexpr std::uint64_t forced_write_back = 0x6;
    constexpr std::uint64_t forced_as_stage1 = 0x7;
    const std::uint64_t kind = attributes >> 2 & 0xF;
    if (kind == (force ? forced_as_stage1 : write_back)) {
        return stage2_caching::as_stage1;
    }
    return force && kind == forced_write_back ? stage2_caching::always : stage2_caching::never;
}

} // namespace bulkhead::machine::hosted
