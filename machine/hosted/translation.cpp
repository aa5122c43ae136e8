// SPDX-License-Identifier: Apache-2.0
// What translation costs the core: the part of machine/hosted/cpu.h that has TLBs. Windows decide what may be
// accessed; tables are walked here for their time, through the caches, where the hypervisor has written them.
#include "machine/hosted/cpu.h"
#include "machine/hosted/system.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint16_t el2_vmid = 0; // no domain has it

} // namespace

// Of a guest: its programs have no tables of their own, so stage 1 is off.
translation_regime cpu::guest_regime() const
{
    const tables mapped = stage2();
    translation_regime made;
    made.stage2 = {true, mapped.root, mapped.input_bits, mapped.start_level};
    made.vmid = static_cast<std::uint16_t>(state_[SYSREG_ID_VTTBR_EL2] >> 48);
    return made;
}

void cpu::translation_on()
{
    if (!mmu_) {
        return;
    }
    const tables mapped = el2_tables(state_[SYSREG_ID_TTBR0_EL2], state_[SYSREG_ID_TCR_EL2]);
    el2_regime_.stage1 = {true, mapped.root, mapped.input_bits, mapped.start_level};
    el2_regime_.mair = state_[SYSREG_ID_MAIR_EL2];
    el2_regime_.vmid = el2_vmid;
    el2_execution_.translator = this;
    el2_execution_.forget_translation();
}

// An access of what runs now, by the address in its window.
void cpu::translate(std::uint64_t address, access_kind kind)
{
    if (in_guest_) {
        pay_translation(space_->ipa_at(address), kind);
    } else {
        (void)mmu_->translate(el2_regime_, system_.el2_address(address), kind);
    }
}

void cpu::pay_translation(std::uint64_t ipa, access_kind kind)
{
    if (mmu_) {
        (void)mmu_->translate(guest_regime_, ipa, kind);
    }
}

void cpu::invalidate_translations()
{
    if (mmu_) {
        mmu_->invalidate_all();
        el2_execution_.forget_translation();
    }
}

void cpu::invalidate_el2_page(std::uint64_t address)
{
    if (mmu_) {
        mmu_->invalidate_page(el2_vmid, address);
        el2_execution_.forget_translation();
    }
}

void cpu::invalidate_guest_page(std::uint16_t vmid, std::uint64_t ipa)
{
    if (mmu_) {
        mmu_->invalidate_page(vmid, ipa);
        if (const auto one = guests_.find(vmid); one != guests_.end()) {
            one->second.runs.forget_translation();
        }
    }
}

void cpu::invalidate_guest()
{
    if (mmu_) {
        mmu_->invalidate_vmid(guest_regime_.vmid);
        guest_->runs.forget_translation();
    }
}

} // namespace bulkhead::machine::hosted
