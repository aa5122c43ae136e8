// SPDX-License-Identifier: Apache-2.0
// Fields of the lockdown registers (DDI 0388I, tables 4-41 and 4-51 to 4-53); see the header.
#include "machine/armv7/a_profile/tlb_lockdown.h"

namespace bulkhead::machine::armv7::a_profile {

namespace {

constexpr std::uint32_t preserve = 1, victim_shift = 28, victim_mask = 3;
constexpr std::uint32_t page_mask = 0xFFFFF000, global = 1U << 9U, asid_field = 0xFF;
constexpr std::uint32_t valid = 1, size_shift = 6, ap_in_pa = 1;
constexpr std::uint32_t domain_shift = 7, fields_mask = 0x7F, ap_in_fields = 7;

namespace sd = short_descriptors;

// SZ: 16 MiB, 4 KiB, 64 KiB, 1 MiB.
constexpr std::uint32_t shifts[] = {sd::supersection_shift, sd::page_shift, sd::large_page_shift,
                                    sd::section_shift};

std::uint32_t size_of(std::uint32_t shift)
{
    std::uint32_t number = 0;
    while (number < 3 && shifts[number] != shift) {
        ++number;
    }
    return number;
}

} // namespace

void tlb_lockdown::set_lockdown(std::uint32_t value)
{
    lockdown_ = value & (victim_mask << victim_shift | preserve);
    mmu_.lock_walks_into((value & preserve) != 0 ? std::optional(entry(value >> victim_shift & victim_mask))
                                                 : std::nullopt);
}

std::uint32_t tlb_lockdown::va() const
{
    const auto found = mmu_.locked(entry(read_));
    if (!found) {
        return 0;
    }
    return (static_cast<std::uint32_t>(found->first) & page_mask) |
           (found->whose.global ? global : found->whose.asid & asid_field);
}

std::uint32_t tlb_lockdown::pa() const
{
    const auto found = mmu_.locked(entry(read_));
    if (!found) {
        return 0;
    }
    const std::uint32_t ap = found->what.says.fields >> ap_in_fields;
    return (static_cast<std::uint32_t>(found->what.output.value) & page_mask) |
           size_of(found->what.shift) << size_shift | ap << ap_in_pa | valid;
}

std::uint32_t tlb_lockdown::attributes() const
{
    const auto found = mmu_.locked(entry(read_));
    return found ? std::uint32_t{found->what.says.domain} << domain_shift |
                       (found->what.says.fields & fields_mask)
                 : 0;
}

void tlb_lockdown::set_pa(std::uint32_t value, const sd::registers &tables)
{
    if ((value & valid) == 0) {
        mmu_.set_locked(entry(write_), std::nullopt);
        return;
    }
    const std::uint32_t shift = shifts[value >> size_shift & 3U];
    const auto fields =
        static_cast<std::uint16_t>((attributes_ & fields_mask) | (value >> ap_in_pa & 7U) << ap_in_fields);
    mmu::locked_translation made{va_ >> shift << shift, {}, {}};
    made.whose.global = (va_ & global) != 0;
    made.whose.asid = static_cast<std::uint16_t>(made.whose.global ? 0 : va_ & asid_field);
    made.what.output = phys_addr{value >> shift << shift};
    made.what.shift = made.what.whole = shift;
    made.what.says = sd::attributes_of(fields, static_cast<std::uint8_t>(attributes_ >> domain_shift & 0xFU),
                                       shift < sd::section_shift ? 2 : 1, tables);
    made.what.device = made.what.says.memory != sd::memory_kind::cached;
    mmu_.set_locked(entry(write_), made);
}

} // namespace bulkhead::machine::armv7::a_profile
