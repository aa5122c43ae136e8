// SPDX-License-Identifier: Apache-2.0
// One window over both parts of the address space; see the header.
#include "machine/hosted/guest_space.h"

#include <utility>

#include "machine/program/image.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t first_ipa = 0x40000000; // guests/arch/hosted: where the guest is linked

} // namespace

guest_space::guest_space(window pages, std::uint64_t own_end, std::uint64_t others_first, byte_count others)
    : pages_(std::move(pages)), own_end_(own_end), others_first_(others_first), others_(others)
{
}

result<std::unique_ptr<guest_space>> guest_space::make(const ram &bytes, memory_range memory,
                                                       std::uint64_t memory_end, std::uint64_t others_at)
{
    const std::uint64_t own = (memory_end - first_ipa + page_bytes - 1) / page_bytes * page_bytes;
    const byte_count others{others_at == 0 ? 0 : memory.bytes.value};
    auto pages = window::make(
        bytes, {.first = first_ipa, .bytes = {own + others.value}, .below = image::below(), .above = {0}});
    if (auto *bad = std::get_if<refusal>(&pages)) {
        return std::move(*bad);
    }
    return std::unique_ptr<guest_space>(new guest_space(std::get<window>(std::move(pages)), first_ipa + own,
                                                        others_at + memory.first.value, others));
}

std::uint64_t guest_space::ipa_at(std::uint64_t in_window) const
{
    return in_window >= own_end_ && in_window - own_end_ < others_.value
               ? others_first_ + (in_window - own_end_)
               : in_window;
}

std::uint64_t guest_space::in_window(std::uint64_t ipa) const
{
    return is_others(ipa) ? own_end_ + (ipa - others_first_) : ipa;
}

bool guest_space::is_others(std::uint64_t ipa) const
{
    return ipa >= others_first_ && ipa - others_first_ < others_.value;
}

} // namespace bulkhead::machine::hosted
