// SPDX-License-Identifier: Apache-2.0
// MRS, MSR and CPS of Armv7-M (Arm DDI 0403E.e B5.2): registers by SYSm, with the restrictions for
// unprivileged code.
#include "machine/armv7/m_profile/m_profile.h"

namespace bulkhead::machine::armv7::m_profile {
namespace {

enum sysm : std::uint32_t {
    sysm_xpsr_last = 7, // APSR, IAPSR, EAPSR, XPSR, -, IPSR, EPSR, IEPSR: bit 0 IPSR, bit 2 not APSR
    sysm_msp = 8,
    sysm_psp = 9,
    sysm_primask = 16,
    sysm_basepri = 17,
    sysm_basepri_max = 18,
    sysm_faultmask = 19,
    sysm_control = 20,
};

constexpr std::uint32_t sysm_ipsr = 1;
constexpr std::uint32_t sysm_no_apsr = 4;
constexpr std::uint32_t sysm_reserved = 4;
constexpr std::uint32_t control_npriv = 1;
constexpr std::uint32_t control_spsel = 2;
constexpr std::uint32_t mask_nzcvq = 2;
constexpr std::uint32_t mask_ge = 1;

} // namespace

std::uint32_t m_profile::stack_pointer(bool process) const
{
    return (process == process_stack_ ? state_.r[sp] : other_stack_) & ~3U;
}

void m_profile::set_stack_pointer(bool process, std::uint32_t value)
{
    (process == process_stack_ ? state_.r[sp] : other_stack_) = value & ~3U;
}

// Only Thread mode can change SPSEL.
void m_profile::set_control(std::uint32_t value)
{
    unprivileged_thread_ = (value & control_npriv) != 0;
    if (!in_handler()) {
        use_stack((value & control_spsel) != 0);
    }
    mode_changed();
}

std::optional<std::uint32_t> m_profile::mrs(std::uint32_t which)
{
    if (which <= sysm_xpsr_last && which != sysm_reserved) {
        // EPSR reads as zero.
        return ((which & sysm_no_apsr) == 0 ? state_.apsr() : 0) |
               ((which & sysm_ipsr) != 0 ? system_.ipsr : 0);
    }
    const bool seen = is_privileged();
    switch (which) {
    case sysm_msp:
        return seen ? stack_pointer(false) : 0;
    case sysm_psp:
        return seen ? stack_pointer(true) : 0;
    case sysm_primask:
        return seen && system_.masks.primask ? 1 : 0;
    case sysm_basepri:
    case sysm_basepri_max:
        return seen ? system_.masks.basepri : 0;
    case sysm_faultmask:
        return seen && system_.masks.faultmask ? 1 : 0;
    case sysm_control:
        return (unprivileged_thread_ ? control_npriv : 0) |
               (process_stack_ && !in_handler() ? control_spsel : 0);
    default:
        return {};
    }
}

bool m_profile::msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value)
{
    if (which <= sysm_xpsr_last && which != sysm_reserved) {
        if ((which & sysm_no_apsr) == 0) {
            state_.set_apsr(value, ((mask & mask_nzcvq) != 0 ? registers::apsr_nzcvq : 0) |
                                       ((mask & mask_ge) != 0 ? registers::apsr_ge : 0));
        }
        return true; // IPSR and EPSR cannot be written
    }
    if (which != sysm_msp && which != sysm_psp && (which < sysm_primask || which > sysm_control)) {
        return false;
    }
    if (!is_privileged()) {
        return true; // ignored
    }
    priority_masks &masks = system_.masks;
    const std::uint8_t priority = events_.implemented(static_cast<std::uint8_t>(value & 0xFFU));
    switch (which) {
    case sysm_msp:
    case sysm_psp:
        set_stack_pointer(which == sysm_psp, value);
        return true;
    case sysm_primask:
        masks.primask = (value & 1U) != 0;
        break;
    case sysm_basepri:
        masks.basepri = priority;
        break;
    case sysm_basepri_max: // a write can only make it more urgent
        if (priority != 0 && (masks.basepri == 0 || priority < masks.basepri)) {
            masks.basepri = priority;
        }
        break;
    case sysm_faultmask:
        masks.faultmask = (value & 1U) != 0 && (masks.faultmask || execution_priority() > -1);
        break;
    default:
        set_control(value);
        return true;
    }
    mode_changed();
    by().look_for_interrupts();
    return true;
}

bool m_profile::cps(const cps_change &what)
{
    if (!is_privileged()) {
        return true; // ignored
    }
    priority_masks &masks = system_.masks;
    if (what.i) {
        masks.primask = what.disable;
    }
    if (what.f) {
        masks.faultmask = what.disable && (masks.faultmask || execution_priority() > -1);
    }
    mode_changed();
    by().look_for_interrupts();
    return true;
}

} // namespace bulkhead::machine::armv7::m_profile
