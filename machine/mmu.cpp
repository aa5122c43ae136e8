// SPDX-License-Identifier: Apache-2.0
// TLB lookups and table walks; see the header.
#include "machine/mmu.h"

#include <algorithm>

namespace bulkhead::machine {

namespace {

using cause = translation_fault::cause;

constexpr std::uint32_t last_table_shift =
    vmsa::page_bits + vmsa::level_bits; // log2 of the bytes that such a table maps

translation_fault with_level(cause why, std::uint8_t stage, std::uint32_t level, std::uint64_t intermediate)
{
    return {why, stage, static_cast<std::uint8_t>(level), false, intermediate};
}

} // namespace

std::optional<refusal> mmu::refused(const mmu_settings &wanted)
{
    const std::pair<const char *, const tlb_settings *> parts[] = {
        {"l1", &wanted.l1},
        {"l2", &wanted.l2},
        {"intermediate", &wanted.intermediate},
        {"walk_cache", &wanted.walk_cache},
    };
    for (const auto &[name, settings] : parts) {
        const auto made = translation_cache<std::uint64_t>::make(*settings);
        if (const auto *why = std::get_if<refusal>(&made)) {
            return refusal{std::string(name) + ": " + why->reason};
        }
    }
    if (wanted.l1.hit_cycles != 0) {
        return refusal{"l1: a hit in the first level is part of the access, it has no cycles of its own"};
    }
    return std::nullopt;
}

result<mmu> mmu::make(const mmu_settings &wanted, core &owner, table_reader reader)
{
    if (auto why = refused(wanted)) {
        return *std::move(why);
    }
    tlb_settings first = wanted.l1;
    first.policy = tlb_policy::fifo;
    return mmu{wanted,
               owner,
               std::move(reader),
               std::get<first_tlb>(first_tlb::make(first)),
               std::get<first_tlb>(first_tlb::make(wanted.l2)),
               std::get<translation_cache<mapped>>(translation_cache<mapped>::make(wanted.intermediate)),
               std::get<translation_cache<std::uint64_t>>(
                   translation_cache<std::uint64_t>::make(wanted.walk_cache))};
}

mmu::mmu(const mmu_settings &wanted, core &owner, table_reader reader, first_tlb first, first_tlb main,
         translation_cache<mapped> intermediate, translation_cache<std::uint64_t> walks)
    : settings_(wanted), owner_(&owner), reader_(std::move(reader)), data_(first),
      instructions_(std::move(first)), main_(std::move(main)), intermediate_(std::move(intermediate)),
      walks_(std::move(walks))
{
}

// --- Walks ---

std::variant<std::uint64_t, translation_fault> mmu::read(const translation_stage &stage, std::uint8_t number,
                                                         std::uint64_t where)
{
    owner_->walk_read(phys_addr{where}, stage.cached ? settings_.walks : walk_path::memory);
    if (const std::optional<std::uint64_t> found = reader_(phys_addr{where})) {
        return *found;
    }
    return with_level(cause::external, number, 0, 0);
}

mmu::step mmu::walk_stage1(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    if (!regime.stage1.on) {
        return mapped{address};
    }
    const translation_tag who = regime.tag();
    const auto descriptor = [&](std::uint64_t where) -> std::variant<std::uint64_t, translation_fault> {
        const step below = walk_stage2(regime, where, access_kind::read);
        if (const auto *refused = std::get_if<translation_fault>(&below)) {
            translation_fault of_walk = *refused;
            of_walk.of_table_walk = true;
            return of_walk;
        }
        return read(regime.stage1, 1, std::get<mapped>(below).of(where));
    };
    vmsa::position from = vmsa::start_of(regime.stage1);
    if (const auto *known = walks_.find(address, who)) {
        from = {vmsa::last_level, known->what};
    }
    const std::uint64_t before = invalidated_;
    const auto walked = vmsa::walk(regime.stage1, 1, address, from, descriptor);
    if (const auto *refused = std::get_if<translation_fault>(&walked)) {
        return *refused;
    }
    const auto &[leaf, raw, in] = std::get<vmsa::end>(walked);
    if (!vmsa::accessed(raw)) {
        return with_level(cause::access_flag, 1, in.level, 0);
    }
    const vmsa::stage1_attributes made = vmsa::stage1_of(raw, regime.mair);
    if (kind == access_kind::write && !made.writable) {
        return with_level(cause::permission, 1, in.level, 0);
    }
    // Intermediate results are kept only for mappings of the last level.
    if (in.level == vmsa::last_level && in.level != regime.stage1.start_level && before == invalidated_) {
        walks_.insert(address, last_table_shift, last_table_shift, who, in.table);
    }
    return mapped{leaf.output, leaf.shift, leaf.shift, made.writable, made.user, made.device, made.global};
}

mmu::step mmu::walk_stage2(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    if (!regime.stage2.on) {
        return mapped{address};
    }
    const translation_tag who{false, regime.vmid, 0, true};
    if (const auto *known = intermediate_.find(address, who);
        known != nullptr && (kind == access_kind::read || known->what.writable)) {
        return known->what;
    }
    const std::uint64_t before = invalidated_;
    const auto walked = vmsa::walk(regime.stage2, 2, address, vmsa::start_of(regime.stage2),
                                   [&](std::uint64_t where) { return read(regime.stage2, 2, where); });
    if (const auto *refused = std::get_if<translation_fault>(&walked)) {
        return *refused;
    }
    const auto &[leaf, raw, in] = std::get<vmsa::end>(walked);
    if (!vmsa::accessed(raw)) {
        return with_level(cause::access_flag, 2, in.level, address);
    }
    const vmsa::stage2_attributes made = vmsa::stage2_of(raw);
    if (!made.readable || (kind == access_kind::write && !made.writable)) {
        return with_level(cause::permission, 2, in.level, address);
    }
    const mapped found{leaf.output, leaf.shift, leaf.shift, made.writable, true, made.device, true};
    if (before == invalidated_) {
        if (const std::uint32_t shift = intermediate_.kept(leaf.shift); shift != 0) {
            mapped kept = found;
            kept.output = found.of(address) >> shift << shift;
            kept.shift = shift;
            intermediate_.insert(address, shift, leaf.shift, who, kept);
        }
    }
    return found;
}

mmu::step mmu::walk_both(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    const step upper = walk_stage1(regime, address, kind);
    const auto *one = std::get_if<mapped>(&upper);
    if (one == nullptr) {
        return upper;
    }
    const std::uint64_t between = one->of(address);
    const step lower = walk_stage2(regime, between, kind);
    const auto *two = std::get_if<mapped>(&lower);
    if (two == nullptr) {
        return lower;
    }
    const std::uint32_t shift = std::min({one->shift, two->shift, 48U});
    const std::uint64_t output = two->of(between) >> shift << shift;
    return mapped{output,
                  shift,
                  regime.stage1.on ? one->whole : two->whole,
                  one->writable && two->writable,
                  one->user,
                  one->device || two->device,
                  one->global};
}

// The result does not contain access rights: the same walk serves any access.
mmu::step mmu::walk_short(const translation_regime &regime, std::uint64_t address)
{
    const auto word = [this](std::uint64_t where,
                             walk_path from) -> std::variant<std::uint32_t, translation_fault> {
        owner_->walk_read(phys_addr{where}, from);
        const std::optional<std::uint64_t> both = reader_(phys_addr{where & ~std::uint64_t{7}});
        if (!both) {
            return with_level(cause::external_walk, 1, 0, 0);
        }
        return static_cast<std::uint32_t>(*both >> (where % 8 * 8));
    };
    const auto walked = short_descriptors::walk(*regime.tables32, static_cast<std::uint32_t>(address), word);
    if (const auto *refused = std::get_if<translation_fault>(&walked)) {
        return *refused;
    }
    const auto &leaf = std::get<short_descriptors::descriptor>(walked);
    mapped made{leaf.output, leaf.shift, leaf.shift};
    made.device = leaf.says.memory != short_descriptors::memory_kind::cached;
    made.global = leaf.global;
    made.says = leaf.says;
    return made;
}

// --- Lookups ---

// The part of a mapping, around the address, that one entry can hold. Its fields are written one by one:
// copying the whole structure right after writing its fields would stall the host.
mmu::first_tlb::entry *mmu::keep(first_tlb &where, std::uint64_t address, translation_tag who,
                                 const page_translation &what)
{
    const std::uint32_t shift = where.kept(what.shift);
    const std::uint64_t output = what.of(address).value;
    auto *const into = shift != 0 ? where.place(address, shift, what.whole, who) : nullptr;
    if (into != nullptr) {
        into->what.output = phys_addr{output >> shift << shift};
        into->what.shift = shift;
        into->what.whole = what.whole;
        into->what.writable = what.writable;
        into->what.user = what.user;
        into->what.device = what.device;
        into->what.says = what.says;
    }
    return into;
}

// Returns the entry in which the translation was put.
const page_translation *mmu::keep_first(first_tlb &first, std::uint64_t address, translation_tag who,
                                        const page_translation &what)
{
    auto *const into = keep(first, address, who, what);
    if (into == nullptr) {
        unkept_ = what;
        return &unkept_;
    }
    into->what.entry = first.number_of(*into);
    if (&first == &data_ && dropped_) {
        dropped_(into->what.entry);
    }
    if (&first == &instructions_ && code_dropped_) {
        code_dropped_();
    }
    return &into->what;
}

// A walk fills the lockable entry that software has selected, or one of the other entries.
void mmu::keep_main(std::uint64_t address, translation_tag who, const page_translation &what)
{
    if (!locks_into_) [[likely]] {
        keep(main_, address, who, what);
        return;
    }
    if (const std::uint32_t shift = main_.kept(what.shift); shift != 0) {
        page_translation locked = what;
        locked.output = phys_addr{what.of(address).value >> shift << shift};
        locked.shift = shift;
        main_.lock(*locks_into_, address, shift, what.whole, who, locked);
    }
}

mmu::answer mmu::look_up(first_tlb &first, const translation_regime &regime, std::uint64_t address,
                         access_kind kind)
{
    const auto *const found = first.find(address, regime.tag());
    if (found != nullptr && (kind == access_kind::read || found->what.writable)) {
        return &found->what;
    }
    return miss(first, regime, address, kind);
}

mmu::answer mmu::miss(first_tlb &first, const translation_regime &regime, std::uint64_t address,
                      access_kind kind)
{
    const bool data = &first == &data_;
    const translation_tag who = regime.tag();
    owner_->count_one(data ? core_event::l1_tlb_refill : core_event::l1i_tlb_refill);
    // Other cores run while this core waits, and may invalidate what it has read; in that case the walk is
    // repeated.
    for (;;) {
        const std::uint64_t before = invalidated_;
        const core::walk_stall stalled(*owner_);
        if (const auto *found = main_.find(address, who);
            found != nullptr && (kind == access_kind::read || found->what.writable)) {
            const page_translation known = found->what;
            const translation_tag whose = found->tag;
            owner_->spend_cycles(settings_.l2.hit_cycles, stall_cause::walk);
            stalled.count(data ? core_event::l1_tlb_stall : core_event::l1i_tlb_stall);
            if (before == invalidated_) {
                return keep_first(first, address, whose, known);
            }
            continue;
        }
        owner_->count_one(core_event::l2_tlb_refill);
        owner_->spend_cycles(settings_.walk_cycles, stall_cause::walk);
        const step walked = walk(regime, address, kind);
        stalled.count(data ? core_event::l2_tlb_stall : core_event::l2i_tlb_stall);
        if (walked_) {
            walked_(stalled.time(), regime.asid);
        }
        if (before != invalidated_) {
            continue;
        }
        if (const auto *fault = std::get_if<translation_fault>(&walked)) {
            return *fault;
        }
        const mapped &found = std::get<mapped>(walked);
        translation_tag whose = who;
        whose.global = found.global;
        page_translation made{phys_addr{found.output}, found.shift, found.whole,
                              found.writable,          found.user,  found.device};
        made.says = found.says;
        keep_main(address, whose, made);
        return keep_first(first, address, whose, made);
    }
}

mmu::outcome mmu::copy_of(const answer &one)
{
    const auto *const made = std::get_if<const page_translation *>(&one);
    return made != nullptr ? outcome(**made) : outcome(std::get<translation_fault>(one));
}

mmu::answer mmu::find(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    return look_up(data_, regime, address, kind);
}

mmu::outcome mmu::translate(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    return copy_of(look_up(data_, regime, address, kind));
}

mmu::outcome mmu::fetch(const translation_regime &regime, std::uint64_t address)
{
    return copy_of(look_up(instructions_, regime, address, access_kind::read));
}

bool mmu::knows(const translation_regime &regime, std::uint64_t address, access_kind kind)
{
    const auto *found = data_.find(address, regime.tag());
    return found != nullptr && (kind == access_kind::read || found->what.writable);
}

std::optional<mmu::locked_translation> mmu::locked(std::uint32_t entry) const
{
    const first_tlb::entry &one = main_.locked(entry);
    return one.used == 0 ? std::nullopt : std::optional(locked_translation{one.first, one.tag, one.what});
}

void mmu::set_locked(std::uint32_t entry, const std::optional<locked_translation> &to)
{
    empty_first();
    if (to) {
        main_.lock(entry, to->first, to->what.shift, to->what.whole, to->whose, to->what);
    } else {
        main_.unlock(entry);
    }
}

// --- Maintenance ---

void mmu::empty_first()
{
    ++invalidated_;
    for (std::uint32_t i = 0; dropped_ && i < data_.count(); ++i) {
        dropped_(i);
    }
    data_.invalidate_all();
    instructions_.invalidate_all();
}

template <class Which> void mmu::invalidate_main(Which &&which, locked_entries locked)
{
    empty_first();
    main_.invalidate(which, locked);
    walks_.invalidate(which);
}

void mmu::invalidate_all(locked_entries locked)
{
    empty_first();
    if (locked == locked_entries::too) {
        main_.invalidate_all();
    } else {
        main_.invalidate([](const first_tlb::entry &) { return true; }, locked);
    }
    walks_.invalidate_all();
    intermediate_.invalidate_all();
}

void mmu::invalidate_el2_page(std::uint64_t address)
{
    invalidate_main([=](const auto &one) { return one.tag.el2 && one.is_of(address); });
}

void mmu::invalidate_vmid(std::uint16_t vmid)
{
    invalidate_stage1(vmid);
    intermediate_.invalidate([=](const auto &one) { return one.tag.vmid == vmid; });
}

void mmu::invalidate_stage1(std::uint16_t vmid)
{
    invalidate_main([=](const auto &one) { return !one.tag.el2 && one.tag.vmid == vmid; });
}

void mmu::invalidate_asid(std::uint16_t vmid, std::uint16_t asid)
{
    invalidate_main([=](const auto &one) {
        return !one.tag.el2 && one.tag.vmid == vmid && one.tag.asid == asid && !one.tag.global;
    });
}

void mmu::invalidate_page(std::uint16_t vmid, std::uint64_t address, locked_entries locked)
{
    invalidate_main(
        [=](const auto &one) { return !one.tag.el2 && one.tag.vmid == vmid && one.is_of(address); }, locked);
}

void mmu::invalidate_page_of(std::uint16_t vmid, std::uint16_t asid, std::uint64_t address)
{
    invalidate_main([=](const auto &one) {
        return !one.tag.el2 && one.tag.serves({false, vmid, asid}) && one.is_of(address);
    });
}

void mmu::invalidate_intermediate(std::uint16_t vmid, std::uint64_t address)
{
    ++invalidated_;
    intermediate_.invalidate([=](const auto &one) { return one.tag.vmid == vmid && one.is_of(address); });
}

} // namespace bulkhead::machine
