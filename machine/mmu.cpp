// SPDX-License-Identifier: Apache-2.0
// TLB lookups and table walks; see the header. Names of bits are those of DDI 0487 D8.3.
#include "machine/mmu.h"

#include <algorithm>

namespace bulkhead::machine {

namespace {

constexpr std::uint32_t page_bits = 12;
constexpr std::uint32_t level_bits = 9;
constexpr std::uint8_t last_level = 3;
constexpr std::uint64_t output_mask = 0x0000'FFFF'FFFF'F000;

constexpr std::uint64_t bit(std::uint32_t number)
{
    return std::uint64_t{1} << number;
}

constexpr std::uint32_t shift_of(std::uint32_t level)
{
    return page_bits + level_bits * (last_level - level);
}

} // namespace

result<mmu> mmu::make(const mmu_settings &wanted, core &owner, table_reader reader)
{
    auto first = tlb::make(wanted.l1);
    auto second = tlb::make(wanted.l2);
    for (const auto *one : {&first, &second}) {
        if (const auto *refused = std::get_if<refusal>(one)) {
            return refusal{std::string(one == &first ? "l1: " : "l2: ") + refused->reason};
        }
    }
    return mmu{wanted, owner, std::move(reader), std::get<tlb>(std::move(first)),
               std::get<tlb>(std::move(second))};
}

mmu::mmu(const mmu_settings &wanted, core &owner, table_reader reader, tlb first, tlb second)
    : settings_(wanted), owner_(&owner), reader_(std::move(reader)), first_(std::move(first)),
      second_(std::move(second))
{
}

// --- Walks ---

// A table descriptor out of the walk cache, or out of memory, which takes its time.
std::optional<std::uint64_t> mmu::descriptor_at(phys_addr where)
{
    const auto found = std::find_if(walk_cache_.begin(), walk_cache_.end(),
                                    [&](const kept &one) { return one.where == where; });
    if (found != walk_cache_.end()) {
        const std::uint64_t descriptor = found->descriptor;
        std::rotate(found, found + 1, walk_cache_.end());
        return descriptor;
    }
    owner_->walk_read(where, settings_.walks_cached);
    return reader_(where);
}

void mmu::keep(phys_addr where, std::uint64_t descriptor)
{
    if (settings_.walk_cache_entries == 0 ||
        std::any_of(walk_cache_.begin(), walk_cache_.end(),
                    [&](const kept &one) { return one.where == where; })) {
        return;
    }
    if (walk_cache_.size() == settings_.walk_cache_entries) {
        walk_cache_.erase(walk_cache_.begin());
    }
    walk_cache_.push_back({where, descriptor});
}

mmu::step mmu::walk(const translation_regime &regime, std::uint8_t stage, std::uint64_t input,
                    access_kind kind)
{
    using cause = translation_fault::cause;
    const translation_stage &own = stage == 1 ? regime.stage1 : regime.stage2;
    const auto fault = [&](cause why, std::uint32_t level) {
        return translation_fault{why, stage, static_cast<std::uint8_t>(level), false, stage == 2 ? input : 0};
    };
    if (!own.on) {
        return mapped{input, true, false, true};
    }
    if (own.input_bits < 64 && input >> own.input_bits != 0) {
        return fault(cause::translation, own.start_level);
    }
    std::uint64_t table = own.root.value;
    for (std::uint32_t level = own.start_level;; ++level) {
        const std::uint32_t shift = shift_of(level);
        // At the first level all bits that are left, since tables may be joined there.
        const std::uint64_t index =
            level == own.start_level ? input >> shift : (input >> shift) & (bit(level_bits) - 1);
        phys_addr where{table + index * 8};
        if (stage == 1 && regime.stage2.on) {
            const step below = walk(regime, 2, where.value, access_kind::read);
            if (const auto *refused = std::get_if<translation_fault>(&below)) {
                translation_fault of_walk = *refused;
                of_walk.of_table_walk = true;
                return of_walk;
            }
            where = phys_addr{std::get<mapped>(below).address};
        }
        const std::optional<std::uint64_t> read = descriptor_at(where);
        if (!read) {
            return fault(cause::external, level);
        }
        const std::uint64_t descriptor = *read;
        const bool table_or_page = (descriptor & bit(1)) != 0;
        if ((descriptor & bit(0)) == 0 || (level == last_level && !table_or_page) ||
            (level == 0 && !table_or_page)) {
            return fault(cause::translation, level);
        }
        if (level != last_level && table_or_page) {
            keep(where, descriptor);
            table = descriptor & output_mask;
            continue;
        }
        if ((descriptor & bit(10)) == 0) { // AF
            return fault(cause::access_flag, level);
        }
        const std::uint64_t offset_mask = bit(shift) - 1;
        mapped result{(descriptor & output_mask & ~offset_mask) | (input & offset_mask), true, false, true};
        if (stage == 1) {
            result.writable = (descriptor & bit(7)) == 0; // AP[2]
            result.global = (descriptor & bit(11)) == 0;  // nG
            const std::uint64_t attributes = regime.mair >> 8 * (descriptor >> 2 & 7) & 0xFF;
            result.device = (attributes & 0xF0) == 0;
        } else {
            result.writable = (descriptor & bit(7)) != 0; // S2AP[1]
            result.device = (descriptor >> 4 & 3) == 0;   // MemAttr[3:2]
            if ((descriptor & bit(6)) == 0) {             // S2AP[0]
                return fault(cause::permission, level);
            }
        }
        if (kind == access_kind::write && !result.writable) {
            return fault(cause::permission, level);
        }
        return result;
    }
}

mmu::step mmu::translate_both(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    const step upper = walk(regime, 1, address, kind);
    const auto *one = std::get_if<mapped>(&upper);
    if (one == nullptr) {
        return upper;
    }
    const step lower = walk(regime, 2, one->address, kind);
    const auto *two = std::get_if<mapped>(&lower);
    if (two == nullptr) {
        return lower;
    }
    return mapped{two->address, one->writable && two->writable, one->device || two->device, one->global};
}

// --- Lookups ---

mmu::outcome mmu::translate(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    page_key key{address >> page_bits, regime.vmid, regime.asid, false};
    const auto usable = [&](const std::optional<page_translation> &found) {
        return found && (kind == access_kind::read || found->writable);
    };
    if (const auto found = first_.find(key); usable(found)) {
        owner_->spend_cycles(settings_.l1.hit_cycles, stall_cause::walk);
        return *found;
    }
    owner_->count_one(core_event::l1_tlb_refill);
    if (const auto found = second_.find(key); usable(found)) {
        owner_->spend_cycles(settings_.l2.hit_cycles, stall_cause::walk);
        first_.insert(key, *found);
        return *found;
    }
    owner_->count_one(core_event::l2_tlb_refill);
    owner_->spend_cycles(settings_.walk_cycles, stall_cause::walk);
    const step walked = translate_both(regime, address, kind);
    if (const auto *fault = std::get_if<translation_fault>(&walked)) {
        return *fault;
    }
    const mapped &found = std::get<mapped>(walked);
    key.global = found.global;
    const page_translation made{phys_addr{found.address & ~(bit(page_bits) - 1)}, found.writable,
                                found.device};
    first_.insert(key, made);
    second_.insert(key, made);
    return made;
}

bool mmu::lock(const translation_regime &regime, std::uint64_t address)
{
    const outcome found = translate(regime, address, access_kind::read);
    const auto *made = std::get_if<page_translation>(&found);
    if (made == nullptr) {
        return false;
    }
    tlb &into = settings_.l2.entries != 0 ? second_ : first_;
    return into.lock({address >> page_bits, regime.vmid, regime.asid, false}, *made);
}

void mmu::invalidate_all()
{
    first_.invalidate_all();
    second_.invalidate_all();
    walk_cache_.clear();
}

void mmu::invalidate_vmid(std::uint16_t vmid)
{
    first_.invalidate_vmid(vmid);
    second_.invalidate_vmid(vmid);
    walk_cache_.clear();
}

void mmu::invalidate_asid(std::uint16_t vmid, std::uint16_t asid)
{
    first_.invalidate_asid(vmid, asid);
    second_.invalidate_asid(vmid, asid);
    walk_cache_.clear();
}

void mmu::invalidate_page(std::uint16_t vmid, std::uint64_t address)
{
    first_.invalidate_page(vmid, address >> page_bits);
    second_.invalidate_page(vmid, address >> page_bits);
    walk_cache_.clear();
}

} // namespace bulkhead::machine
