// SPDX-License-Identifier: Apache-2.0
// Hosted software on its core's MMU: the part of machine/hosted/cpu.h that has TLBs. Windows decide whether
// an access is allowed; the hypervisor's tables are walked here for their timing, through the caches. Both
// are checked to agree: a TLB entry that differs from the tables ends the run.
#include "machine/hosted/cpu.h"
#include "machine/hosted/system.h"
#include "machine/program/text.h"

namespace bulkhead::machine::hosted {

std::uint16_t cpu::vmid() const
{
    return static_cast<std::uint16_t>(state_[SYSREG_ID_VTTBR_EL2] >> 48);
}

// A guest's programs have no tables of their own, so stage 1 is off.
translation_regime cpu::guest_regime() const
{
    translation_regime made;
    made.stage2 = stage2().stage;
    made.vmid = vmid();
    return made;
}

void cpu::translation_on()
{
    if (!mmu_) {
        return;
    }
    el2_regime_.stage1 = vmsa::stage1_from(state_[SYSREG_ID_TTBR0_EL2], state_[SYSREG_ID_TCR_EL2]);
    el2_regime_.mair = state_[SYSREG_ID_MAIR_EL2];
    el2_regime_.el2 = true;
    pages_of_entry_.assign(mmu_->first_entries(), nullptr);
    mmu_->on_dropped([this](std::uint32_t entry) {
        if (fast_pages *&who = pages_of_entry_[entry]; who != nullptr) {
            who->dropped(entry);
            who = nullptr;
        }
    });
    el2_pages_ = std::make_unique<fast_pages>(system_.el2_space(), mmu_->first_entries());
    el2_execution_.see(system_.el2_space(), *this, el2_pages_->view());
}

// Called when a VCPU starts.
void cpu::translate_guest()
{
    if (!mmu_) {
        return;
    }
    if (!guest_->pages) {
        guest_->pages = std::make_unique<fast_pages>(space_->pages(), mmu_->first_entries());
    }
    guest_->runs.see(space_->pages(), *this, guest_->pages->view());
}

// Translates an access of the code that runs now.
bool cpu::translate(std::uint64_t address, std::uint64_t ipa, access_kind kind, std::uint64_t code)
{
    const bool at_el1 = in_guest_;
    const window &space = at_el1 ? space_->pages() : system_.el2_space();
    const auto virtual_of = [&](std::uint64_t in_window) {
        return at_el1 ? space_->ipa_at(in_window) : system_.el2_address(in_window);
    };
    const translation_regime &regime = at_el1 ? guest_regime_ : el2_regime_;
    const std::uint64_t here = virtual_of(ipa);
    const bool known = mmu_->knows(regime, here, kind);
    if (!known) {
        if (const auto at = space.ipa_of(code)) {
            (void)mmu_->fetch(regime, virtual_of(*at));
        }
    }
    const mmu::outcome found = mmu_->translate(regime, here, kind);
    const auto *made = std::get_if<page_translation>(&found);
    if (made == nullptr) {
        return false;
    }
    if (const auto seen = space.translate(ipa); known && seen && *seen != made->of(here)) {
        system_.give_up(sentence("a TLB has ", hex{here}, " at ", hex{made->of(here).value},
                                 ", which is mapped to ", hex{seen->value}));
    }
    fast_pages *own = at_el1 ? guest_->pages.get() : el2_pages_.get();
    own->allow(address, made->entry, made->writable);
    pages_of_entry_[made->entry] = own;
    return !known;
}

std::optional<phys_addr> cpu::translate_code(std::uint64_t ipa)
{
    const std::uint64_t here = in_guest_ ? space_->ipa_at(ipa) : system_.el2_address(ipa);
    const mmu::outcome found = mmu_->fetch(in_guest_ ? guest_regime_ : el2_regime_, here);
    const auto *made = std::get_if<page_translation>(&found);
    return made == nullptr ? std::nullopt : std::optional(made->of(here));
}

void cpu::pay_translation(std::uint64_t ipa, access_kind kind)
{
    if (mmu_) {
        (void)mmu_->translate(guest_regime_, ipa, kind);
    }
}

void cpu::invalidate_all()
{
    if (mmu_) {
        mmu_->invalidate_all();
    }
}

void cpu::invalidate_el2_page(std::uint64_t address)
{
    if (mmu_) {
        mmu_->invalidate_el2_page(address);
    }
}

void cpu::invalidate_intermediate(std::uint16_t vmid, std::uint64_t ipa)
{
    if (mmu_) {
        mmu_->invalidate_intermediate(vmid, ipa);
    }
}

void cpu::invalidate_stage1(std::uint16_t vmid)
{
    if (mmu_) {
        mmu_->invalidate_stage1(vmid);
    }
}

} // namespace bulkhead::machine::hosted
