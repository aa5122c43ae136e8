// SPDX-License-Identifier: Apache-2.0
// Components as IHI 0099 defines them, as far as a driver of controls and monitors uses them; see the header.
#include "mpam_component.h"
#include "core/mpam_registers.h"
#include "sample_manifest.h"

#include <stdatomic.h> // what C headers need of C11, before any of them

extern "C" {
#include "arch/hosted/fake_gic.h"
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

MpamComponent first_component;
MpamComponent second_component;

namespace {

constexpr uint32_t extended = 1u << 28;
constexpr uint32_t narrows = 1u << 31;
constexpr uint32_t ris_of_idr = 1u << 0; // of the upper half
constexpr uint32_t esr_of_idr = 1u << 7;
constexpr uint32_t longer = 1u << 30; // MPAMF_MBWUMON_IDR.HAS_LONG

template <MpamComponent *component> bool read_page(uint64_t offset, unsigned, uint64_t *value)
{
    *value = component->read(static_cast<uint32_t>(offset));
    return true;
}

template <MpamComponent *component> bool write_page(uint64_t offset, unsigned, uint64_t value)
{
    component->write(static_cast<uint32_t>(offset), static_cast<uint32_t>(value));
    return true;
}

bool is_control(uint32_t offset)
{
    return (offset >= MPAMCFG_CMAX && offset < 0x800) || (offset >= 0x1000 && offset < MPAM_PAGE_BYTES);
}

} // namespace

uint32_t MpamComponent::idr() const
{
    const uint32_t features = instances.at(ris(part_select_)).ids.at(MPAMF_IDR);

    return partid_max | pmg_max << 16 | features | (has_ris() ? extended : 0) |
           (intpartid_max != 0 ? narrows : 0);
}

void MpamComponent::report(uint32_t code)
{
    const bool second = (esr_ >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE) != 0;

    esr_ = code << MPAMF_ESR_ERRCODE_SHIFT | (part_select_ & 0xFFFF) | (second ? MPAMF_ESR_OVRWR : 0);
    update_line();
}

void MpamComponent::update_line()
{
    const bool high = (ecr_ & MPAMF_ECR_INTEN) != 0 && esr_ != 0;

    if (error_irq != 0) {
        interrupts += high ? 1 : 0;
        fake_gic_set_line(error_irq, high);
    }
}

void MpamComponent::raise_error(uint32_t code, uint32_t partid)
{
    const uint32_t kept = part_select_;

    part_select_ = partid;
    report(code);
    part_select_ = kept;
}

uint32_t MpamComponent::control(uint32_t instance, uint32_t partid, uint32_t offset) const
{
    const auto found = values_.find({instance, partid, offset});
    return found == values_.end() ? 0xDEAD : found->second;
}

uint32_t MpamComponent::internal_of(uint32_t partid) const
{
    const auto found = internal_.find(partid);
    return found == internal_.end() ? 0xDEAD : found->second;
}

void MpamComponent::set_monitor(uint32_t instance, bool storage, uint32_t number, uint64_t value, bool ready)
{
    Monitor &monitor = monitors_[{instance, storage, number}];
    monitor.value = value;
    monitor.ready = ready;
}

int64_t MpamComponent::filter(uint32_t instance, bool storage, uint32_t number) const
{
    const auto found = monitors_.find({instance, storage, number});
    if (found == monitors_.end() || (found->second.control & MSMON_CTL_EN) == 0 ||
        (found->second.control & MSMON_CTL_MATCH_PARTID) == 0) {
        return -1;
    }
    return found->second.filter & 0xFFFF;
}

uint32_t MpamComponent::read(uint32_t offset)
{
    const uint32_t instance = ris(part_select_);
    switch (offset) {
    case MPAMF_IDR:
        return idr();
    case MPAMF_IDR + 4:
        return has_ris() ? ris_of_idr | (error_irq != 0 ? esr_of_idr : 0) |
                               static_cast<uint32_t>(instances.size() - 1) << 24
                         : 0;
    case MPAMF_AIDR:
        return aidr;
    case MPAMF_PARTID_NRW_IDR:
        return intpartid_max;
    case MPAMF_ECR:
        return ecr_;
    case MPAMF_ESR:
        return esr_;
    case MPAMCFG_PART_SEL:
        return part_select_;
    case MPAMCFG_INTPARTID:
        return MPAMCFG_INTPARTID_INTERNAL | internal_[part_select_ & 0xFFFF];
    case MSMON_CSU:
        return static_cast<uint32_t>(selected(true).value) | (selected(true).ready ? 0 : MSMON_NRDY);
    case MSMON_MBWU:
        return static_cast<uint32_t>(selected(false).value & MSMON_VALUE) |
               (selected(false).ready ? 0 : MSMON_NRDY);
    case MSMON_MBWU_L:
        return static_cast<uint32_t>(selected(false).value);
    case MSMON_MBWU_L + 4:
        return static_cast<uint32_t>(selected(false).value >> 32) |
               (selected(false).ready ? 0 : static_cast<uint32_t>(MSMON_L_NRDY >> 32));
    default:
        break;
    }
    if (is_control(offset)) {
        return values_[{instance, part_select_ & 0xFFFF, offset}];
    }
    const auto &ids = instances.at(instance).ids;
    const auto found = ids.find(offset);
    return found == ids.end() ? 0 : found->second;
}

void MpamComponent::write(uint32_t offset, uint32_t value)
{
    const uint32_t instance = ris(part_select_);
    switch (offset) {
    case MPAMF_ECR:
        ecr_ = value & MPAMF_ECR_INTEN;
        update_line();
        return;
    case MPAMF_ESR:
        esr_ = value;
        update_line();
        return;
    case MPAMCFG_PART_SEL:
        part_select_ = value;
        if ((value & 0xFFFF) > partid_max) {
            report(MPAM_ERROR_PARTID_SEL_RANGE);
        } else if (ris(value) >= instances.size()) {
            report(MPAM_ERROR_UNDEFINED_RIS_PART_SEL);
        }
        return;
    case MPAMCFG_INTPARTID:
        if ((value & 0xFFFF) > intpartid_max) {
            report(MPAM_ERROR_INTPARTID_RANGE);
        }
        internal_[part_select_ & 0xFFFF] = value & 0xFFFF;
        return;
    case MSMON_CFG_MON_SEL:
        monitor_select_ = value;
        return;
    case MSMON_CFG_CSU_FLT:
    case MSMON_CFG_MBWU_FLT:
        selected(offset == MSMON_CFG_CSU_FLT).filter = value;
        monitor_writes++;
        return;
    case MSMON_CFG_CSU_CTL:
    case MSMON_CFG_MBWU_CTL:
        selected(offset == MSMON_CFG_CSU_CTL).control = value;
        monitor_writes++;
        return;
    case MSMON_MBWU:
    case MSMON_MBWU_L:
    case MSMON_MBWU_L + 4:
        selected(false).value = 0;
        monitor_writes++;
        return;
    default:
        break;
    }
    const auto &controls = instances.at(instance).controls;
    const auto found = controls.find(offset);
    if (!is_control(offset) || found == controls.end()) {
        report(MPAM_ERROR_RIS_NO_CONTROL);
    } else if (offset != stuck_offset) {
        values_[{instance, part_select_ & 0xFFFF, offset}] = value & found->second;
    }
}

void reset_components()
{
    first_component = {};
    first_component.page = sample_mpam_page;
    first_component.error_irq = sample_mpam_irq;
    MpamInstance cache; // 40 portions, CMAX, CMIN of 8 bits, CASSOC of 5, 4 monitors of storage
    cache.ids = {{MPAMF_IDR, 1u << 24 | 1u << 25 | 1u << 30},
                 {MPAMF_CPOR_IDR, 40},
                 {MPAMF_CCAP_IDR, 8 | 5u << 8 | 1u << 28 | 1u << 29 | 1u << 31},
                 {MPAMF_MSMON_IDR, 1u << 16},
                 {MPAMF_CSUMON_IDR, 4}};
    cache.controls = {{MPAMCFG_CPBM(0), ~0u},
                      {MPAMCFG_CPBM(1), 0xFF},
                      {MPAMCFG_CMAX, 0x8000FF00},
                      {MPAMCFG_CMIN, 0xFF00},
                      {MPAMCFG_CASSOC, 0xF800}};
    MpamInstance memory; // minimum and maximum of 8 bits, stride, windows, 32 portions, internal priority
    memory.ids = {{MPAMF_IDR, 1u << 26 | 1u << 27 | 1u << 30},
                  {MPAMF_MBW_IDR, 8 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 1u << 14 | 32u << 16},
                  {MPAMF_PRI_IDR, 1u << 0 | 1u << 1 | 3u << 4},
                  {MPAMF_MSMON_IDR, 1u << 17},
                  {MPAMF_MBWUMON_IDR, 8 | longer}};
    memory.controls = {{MPAMCFG_MBW_MIN, 0xFF00},        {MPAMCFG_MBW_MAX, 0x8000FF00},
                       {MPAMCFG_MBW_WINWD, 0xFFFFFF},    {MPAMCFG_MBW_PROP, 0x800000FF},
                       {MPAMCFG_MBW_PBM(0), 0xFFFFFFFF}, {MPAMCFG_PRI, 7}};
    first_component.instances = {cache, memory};

    second_component = {};
    second_component.page = sample_mpam_other_page;
    second_component.aidr = 0x10;
    second_component.intpartid_max = 7;
    MpamInstance other; // 16 portions, 2 monitors of storage, 4 of bandwidth
    other.ids = {{MPAMF_IDR, 1u << 25 | 1u << 30},
                 {MPAMF_CPOR_IDR, 16},
                 {MPAMF_MSMON_IDR, 3u << 16},
                 {MPAMF_CSUMON_IDR, 2},
                 {MPAMF_MBWUMON_IDR, 4}};
    other.controls = {{MPAMCFG_CPBM(0), 0xFFFF}};
    second_component.instances = {other};
}

void plug_in()
{
    fake_map(first_component.page, BH_MPAM_PAGE_BYTES, read_page<&first_component>,
             write_page<&first_component>);
    fake_map(second_component.page, BH_MPAM_PAGE_BYTES, read_page<&second_component>,
             write_page<&second_component>);
}

void give_cores_mpam(uint64_t ids)
{
    for (uint32_t core = 0; core < FAKE_CORES; core++) {
        fake_set_core_sysreg(core, SYSREG_ID_ID_AA64PFR0_EL1, uint64_t{1} << 40);
        fake_set_core_sysreg(core, SYSREG_ID_ID_AA64PFR1_EL1, uint64_t{1} << 16);
        fake_set_core_sysreg(core, SYSREG_ID_MPAMIDR_EL1, ids);
        // Unknown out of reset.
        fake_set_core_sysreg(core, SYSREG_ID_MPAMHCR_EL2, 3);
        fake_set_core_sysreg(core, SYSREG_ID_MPAM1_EL1, 0xF000F);
    }
}

std::unique_ptr<HostedMachine> boot_with_mpam(const std::function<void(SampleManifest &)> &change)
{
    return std::make_unique<HostedMachine>(
        [&](SampleManifest &m) {
            give_mpam(m);
            change(m);
        },
        [] {
            give_cores_mpam();
            plug_in();
        });
}

} // namespace bulkhead_test
