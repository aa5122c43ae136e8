// SPDX-License-Identifier: Apache-2.0
// One function for each device and direction; an access tries them one after the other.
#include "machine/hosted/sysregs.h"

namespace bulkhead::machine::hosted {
namespace {

using devices::timer_kind;

constexpr std::uint64_t list_register_description =
    4u << 29 | 4u << 26; // five bits of priority, all used for preemption

struct timer_register {
    timer_kind kind;
    bool control; // otherwise the compare value
};

std::optional<timer_register> timer_register_of(sysreg_id id)
{
    switch (id) {
    case SYSREG_ID_CNTP_CTL_EL0:
        return timer_register{timer_kind::physical, true};
    case SYSREG_ID_CNTP_CVAL_EL0:
        return timer_register{timer_kind::physical, false};
    case SYSREG_ID_CNTV_CTL_EL0:
        return timer_register{timer_kind::virtual_, true};
    case SYSREG_ID_CNTV_CVAL_EL0:
        return timer_register{timer_kind::virtual_, false};
    case SYSREG_ID_CNTHP_CTL_EL2:
        return timer_register{timer_kind::hypervisor, true};
    case SYSREG_ID_CNTHP_CVAL_EL2:
        return timer_register{timer_kind::hypervisor, false};
    default:
        return std::nullopt;
    }
}

struct monitors_register {
    devices::pmu_register which;
    std::uint32_t counter = 0;
};

std::optional<monitors_register> monitors_register_of(sysreg_id id)
{
    using reg = devices::pmu_register;
    if (id >= SYSREG_ID_PMEVCNTR0_EL0) { // the last of the table: alternates counter and type
        const auto place = static_cast<std::uint32_t>(id) - SYSREG_ID_PMEVCNTR0_EL0;
        return monitors_register{place % 2 == 0 ? reg::pmevcntr : reg::pmevtyper, place / 2};
    }
    switch (id) {
    case SYSREG_ID_PMCR_EL0:
        return monitors_register{reg::pmcr};
    case SYSREG_ID_PMCNTENSET_EL0:
        return monitors_register{reg::pmcntenset};
    case SYSREG_ID_PMCNTENCLR_EL0:
        return monitors_register{reg::pmcntenclr};
    case SYSREG_ID_PMOVSSET_EL0:
        return monitors_register{reg::pmovsset};
    case SYSREG_ID_PMOVSCLR_EL0:
        return monitors_register{reg::pmovsclr};
    case SYSREG_ID_PMINTENSET_EL1:
        return monitors_register{reg::pmintenset};
    case SYSREG_ID_PMINTENCLR_EL1:
        return monitors_register{reg::pmintenclr};
    case SYSREG_ID_PMSELR_EL0:
        return monitors_register{reg::pmselr};
    case SYSREG_ID_PMXEVTYPER_EL0:
        return monitors_register{reg::pmxevtyper};
    case SYSREG_ID_PMXEVCNTR_EL0:
        return monitors_register{reg::pmxevcntr};
    case SYSREG_ID_PMCEID0_EL0:
        return monitors_register{reg::pmceid0};
    case SYSREG_ID_PMCEID1_EL0:
        return monitors_register{reg::pmceid1};
    case SYSREG_ID_PMCCNTR_EL0:
        return monitors_register{reg::pmccntr};
    case SYSREG_ID_PMCCFILTR_EL0:
        return monitors_register{reg::pmccfiltr};
    case SYSREG_ID_PMUSERENR_EL0:
        return monitors_register{reg::pmuserenr};
    case SYSREG_ID_MDCR_EL2:
        return monitors_register{reg::mdcr_el2};
    default:
        return std::nullopt;
    }
}
static_assert(SYSREG_ID_PMEVTYPER30_EL0 + 1 == SYSREG_ID_COUNT);

std::uint64_t *list_register(devices::gic_virtual_interface &guest, sysreg_id id)
{
    const auto n = static_cast<std::uint32_t>(id) - SYSREG_ID_ICH_LR0_EL2;
    return id >= SYSREG_ID_ICH_LR0_EL2 && n < guest.list_registers() ? &guest.lr[n] : nullptr;
}

} // namespace

std::optional<std::uint64_t> sysregs::read_timer(core_id which, sysreg_id id) const
{
    if (const auto one = timer_register_of(id)) {
        return one->control ? timer_.control(which, one->kind) : timer_.compare(which, one->kind);
    }
    switch (id) {
    case SYSREG_ID_CNTVOFF_EL2:
        return timer_.offset(which);
    case SYSREG_ID_CNTFRQ_EL0:
        return timer_.frequency_hz();
    case SYSREG_ID_CNTPCT_EL0:
        return timer_.counter();
    default:
        return std::nullopt;
    }
}

bool sysregs::write_timer(core_id which, sysreg_id id, std::uint64_t value)
{
    if (const auto one = timer_register_of(id)) {
        if (one->control) {
            timer_.set_control(which, one->kind, value);
        } else {
            timer_.set_compare(which, one->kind, value);
        }
        return true;
    }
    if (id == SYSREG_ID_CNTVOFF_EL2) {
        timer_.set_offset(which, value);
        return true;
    }
    return id == SYSREG_ID_CNTFRQ_EL0; // set by firmware, once
}

std::optional<std::uint64_t> sysregs::read_interface(core_id which, sysreg_id id)
{
    switch (id) {
    case SYSREG_ID_ICC_IAR1_EL1:
        return gic_->acknowledge(which);
    case SYSREG_ID_ICC_PMR_EL1:
        return gic_->priority_mask(which);
    case SYSREG_ID_ICC_CTLR_EL1:
        return gic_->control(which);
    case SYSREG_ID_ICC_IGRPEN1_EL1:
        return gic_->group_enable(which);
    case SYSREG_ID_ICC_AP1R0_EL1:
        return gic_->active_priorities(which);
    default:
        return std::nullopt;
    }
}

bool sysregs::write_interface(core_id which, sysreg_id id, std::uint64_t value)
{
    switch (id) {
    case SYSREG_ID_ICC_PMR_EL1:
        gic_->set_priority_mask(which, value);
        return true;
    case SYSREG_ID_ICC_CTLR_EL1:
        gic_->set_control(which, value);
        return true;
    case SYSREG_ID_ICC_IGRPEN1_EL1:
        gic_->set_group_enable(which, value);
        return true;
    case SYSREG_ID_ICC_AP1R0_EL1:
        gic_->set_active_priorities(which, value);
        return true;
    case SYSREG_ID_ICC_EOIR1_EL1:
        gic_->end(which, static_cast<std::uint32_t>(value));
        return true;
    case SYSREG_ID_ICC_DIR_EL1:
        gic_->deactivate(which, static_cast<std::uint32_t>(value));
        return true;
    case SYSREG_ID_ICC_SGI1R_EL1:
        gic_->send_sgi(which, value);
        return true;
    default:
        return false;
    }
}

std::optional<std::uint64_t> sysregs::read_virtual(core_id which, sysreg_id id)
{
    devices::gic_virtual_interface &guest = gic_->virtual_interface(which);
    if (const std::uint64_t *lr = list_register(guest, id)) {
        return *lr;
    }
    switch (id) {
    case SYSREG_ID_ICH_VTR_EL2:
        return list_register_description | (guest.list_registers() - 1);
    case SYSREG_ID_ICH_ELRSR_EL2:
        return guest.empty();
    case SYSREG_ID_ICH_EISR_EL2:
        return guest.ended();
    case SYSREG_ID_ICH_MISR_EL2:
        return guest.maintenance();
    case SYSREG_ID_ICH_HCR_EL2:
        return guest.hcr;
    case SYSREG_ID_ICH_VMCR_EL2:
        return guest.vmcr;
    case SYSREG_ID_ICH_AP1R0_EL2:
        return guest.active_priorities;
    default:
        return std::nullopt;
    }
}

bool sysregs::write_virtual(core_id which, sysreg_id id, std::uint64_t value)
{
    devices::gic_virtual_interface &guest = gic_->virtual_interface(which);
    if (std::uint64_t *lr = list_register(guest, id)) {
        *lr = value;
    } else if (id == SYSREG_ID_ICH_HCR_EL2) {
        guest.hcr = value;
    } else if (id == SYSREG_ID_ICH_VMCR_EL2) {
        guest.vmcr = value;
    } else if (id == SYSREG_ID_ICH_AP1R0_EL2) {
        guest.active_priorities = static_cast<std::uint32_t>(value);
    } else {
        return false;
    }
    gic_->virtual_changed(which);
    return true;
}

std::optional<std::uint64_t> sysregs::read_monitors(core_id which, sysreg_id id)
{
    const auto one = monitors_register_of(id);
    if (!one || monitors_.empty()) {
        return std::nullopt;
    }
    return monitors_[which.value]->read(one->which, one->counter);
}

bool sysregs::write_monitors(core_id which, sysreg_id id, std::uint64_t value)
{
    const auto one = monitors_register_of(id);
    if (!one || monitors_.empty()) {
        return false;
    }
    monitors_[which.value]->write(one->which, value, one->counter);
    return true;
}

std::optional<std::uint64_t> sysregs::read(core_id which, sysreg_id id)
{
    if (const auto value = read_timer(which, id)) {
        return value;
    }
    if (const auto value = gic_ != nullptr ? read_interface(which, id) : std::nullopt) {
        return value;
    }
    if (const auto value = gic_ != nullptr ? read_virtual(which, id) : std::nullopt) {
        return value;
    }
    if (const auto value = read_monitors(which, id)) {
        return value;
    }
    return partitions_.empty() ? std::nullopt : partitions_[which.value]->read(id);
}

bool sysregs::write(core_id which, sysreg_id id, std::uint64_t value)
{
    return write_timer(which, id, value) ||
           (gic_ != nullptr && (write_interface(which, id, value) || write_virtual(which, id, value))) ||
           write_monitors(which, id, value) ||
           (!partitions_.empty() && partitions_[which.value]->write(id, value));
}

} // namespace bulkhead::machine::hosted
