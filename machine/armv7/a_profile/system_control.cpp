// SPDX-License-Identifier: Apache-2.0
// The registers of CP15 by CRn, opc1, CRm, opc2; see the header.
#include "machine/armv7/a_profile/system_control.h"

#include <utility>

namespace bulkhead::machine::armv7::a_profile {

namespace {

constexpr std::uint32_t midr = 0x413FC090; // Cortex-A9 r3p0, of a Zynq-7000
constexpr std::uint32_t multiprocessor = 1U << 31U;
constexpr std::uint32_t asid_mask = 0xFF;
constexpr std::uint16_t no_vmid = 0;
constexpr std::uint32_t par_failed = 1, par_page = 0xFFFFF000;

} // namespace

system_control::system_control(surroundings around)
    : around_(std::move(around)), lockdown_(around_.translation), monitors_(around_.on, around_.missing)
{
    make_regime();
}

// --- Registers that read as last written ---

std::uint32_t *system_control::kept(key which)
{
    switch (which) {
    case key_of(1, 0, 0, 0):
        return &sctlr_;
    case key_of(1, 0, 0, 1):
        return &actlr_;
    case key_of(1, 0, 0, 2):
        return &cpacr_;
    case key_of(1, 0, 1, 0):
        return &scr_;
    case key_of(1, 0, 1, 1):
        return &sder_;
    case key_of(1, 0, 1, 2):
        return &nsacr_;
    case key_of(2, 0, 0, 0):
        return &ttbr0_;
    case key_of(2, 0, 0, 1):
        return &ttbr1_;
    case key_of(2, 0, 0, 2):
        return &ttbcr_;
    case key_of(3, 0, 0, 0):
        return &dacr_;
    case key_of(5, 0, 0, 0):
        return &dfsr_;
    case key_of(5, 0, 0, 1):
        return &ifsr_;
    case key_of(5, 0, 1, 0):
        return &adfsr_;
    case key_of(5, 0, 1, 1):
        return &aifsr_;
    case key_of(6, 0, 0, 0):
        return &dfar_;
    case key_of(6, 0, 0, 2):
        return &ifar_;
    case key_of(7, 0, 4, 0):
        return &par_;
    case key_of(10, 0, 2, 0):
        return &prrr_;
    case key_of(10, 0, 2, 1):
        return &nmrr_;
    case key_of(12, 0, 0, 0):
        return &vbar_;
    case key_of(12, 0, 0, 1):
        return &mvbar_;
    case key_of(13, 0, 0, 1):
        return &contextidr_;
    case key_of(13, 0, 0, 2):
        return &user_thread_;
    case key_of(13, 0, 0, 3):
        return &read_only_thread_;
    case key_of(13, 0, 0, 4):
        return &privileged_thread_;
    case key_of(0, 2, 0, 0):
        return &csselr_;
    case key_of(15, 0, 0, 0):
        return &power_;
    case key_of(15, 0, 0, 1):
        return &diagnostic_;
    default:
        return nullptr;
    }
}

std::uint32_t system_control::cache_size() const
{
    const cache *const which = (csselr_ & 1U) != 0 ? around_.on.l1i() : &around_.on.l1d();
    if (which == nullptr) {
        return 0;
    }
    const cache_geometry &shape = which->geometry();
    constexpr std::uint32_t write_back_allocate = 7U << 28U, read_allocate = 1U << 29U;
    return ((csselr_ & 1U) != 0 ? read_allocate : write_back_allocate) |
           static_cast<std::uint32_t>(shape.sets() - 1) << 13U | (shape.ways() - 1) << 3U |
           (shape.line_bits() - 4);
}

// Values of a Cortex-A9 without NEON (DDI 0388I, table 4-2 and 4.3).
std::optional<std::uint32_t> system_control::identification(key which) const
{
    switch (which) {
    case key_of(0, 0, 0, 0):
        return midr;
    case key_of(0, 0, 0, 1): // CTR: lines of 32 bytes
        return 0x83338003;
    case key_of(0, 0, 0, 2): // TCMTR
        return 0;
    case key_of(0, 0, 0, 3): // TLBTR: 128 entries, the lockable ones
        return 1U << 1U | around_.translation.lockable_entries() << 8U;
    case key_of(0, 0, 0, 5):
        return multiprocessor | around_.on.id().value;
    case key_of(0, 0, 1, 0): // ID_PFR0, ID_PFR1, ID_DFR0
        return 0x00001231;
    case key_of(0, 0, 1, 1):
        return 0x00000011;
    case key_of(0, 0, 1, 2):
        return 0x00010444;
    case key_of(0, 0, 1, 4): // ID_MMFR0 to 3
        return 0x00100103;
    case key_of(0, 0, 1, 5):
        return 0x20000000;
    case key_of(0, 0, 1, 6):
        return 0x01230000;
    case key_of(0, 0, 1, 7):
        return 0x00102111;
    case key_of(0, 0, 2, 0): // ID_ISAR0 to 4
        return 0x00101111;
    case key_of(0, 0, 2, 1):
        return 0x13112111;
    case key_of(0, 0, 2, 2):
        return 0x21232041;
    case key_of(0, 0, 2, 3):
        return 0x11112131;
    case key_of(0, 0, 2, 4):
        return 0x00011142;
    case key_of(0, 1, 0, 0):
        return cache_size();
    case key_of(0, 1, 0, 1): // CLIDR: separate caches of level 1
        return 0x09200003;
    case key_of(15, 4, 0, 0):
        return around_.peripherals_at;
    default:
        return std::nullopt;
    }
}

std::optional<monitor_register> system_control::monitor_of(key which)
{
    switch (which) {
    case key_of(9, 0, 12, 0):
        return monitor_register::control;
    case key_of(9, 0, 12, 1):
        return monitor_register::enable_set;
    case key_of(9, 0, 12, 2):
        return monitor_register::enable_clear;
    case key_of(9, 0, 12, 3):
        return monitor_register::overflow;
    case key_of(9, 0, 12, 4):
        return monitor_register::increment;
    case key_of(9, 0, 12, 5):
        return monitor_register::select;
    case key_of(9, 0, 13, 0):
        return monitor_register::cycles;
    case key_of(9, 0, 13, 1):
        return monitor_register::event_type;
    case key_of(9, 0, 13, 2):
        return monitor_register::event_count;
    case key_of(9, 0, 14, 0):
        return monitor_register::user_enable;
    case key_of(9, 0, 14, 1):
        return monitor_register::interrupt_set;
    case key_of(9, 0, 14, 2):
        return monitor_register::interrupt_clear;
    default:
        return std::nullopt;
    }
}

// --- MRC, MCR ---

std::optional<std::uint32_t> system_control::read(const coprocessor_register &which, bool privileged)
{
    const key one = key_of(which);
    if (const auto monitor = monitor_of(one)) {
        const bool allowed = privileged || monitors_.for_users() || *monitor == monitor_register::user_enable;
        return allowed ? std::optional(monitors_.read(*monitor)) : std::nullopt;
    }
    if (!privileged && one != key_of(13, 0, 0, 2) && one != key_of(13, 0, 0, 3)) {
        return std::nullopt;
    }
    if (const auto constant = identification(one)) {
        return constant;
    }
    if (const std::uint32_t *const found = kept(one)) {
        return *found;
    }
    switch (one) {
    case key_of(10, 0, 0, 0):
        return lockdown_.lockdown();
    case key_of(15, 5, 5, 2):
        return lockdown_.va();
    case key_of(15, 5, 6, 2):
        return lockdown_.pa();
    case key_of(15, 5, 7, 2):
        return lockdown_.attributes();
    default:
        report(which, true);
        return 0;
    }
}

bool system_control::write(const coprocessor_register &which, bool privileged, std::uint32_t value)
{
    const key one = key_of(which);
    if (const auto monitor = monitor_of(one)) {
        if (!privileged && (!monitors_.for_users() || *monitor == monitor_register::user_enable)) {
            return false;
        }
        monitors_.write(*monitor, value);
        return true;
    }
    switch (one) { // barriers and WFI as encoded before Armv7; User mode may use the barriers
    case key_of(7, 0, 5, 4):
    case key_of(7, 0, 10, 4):
    case key_of(7, 0, 10, 5):
        return true;
    default:
        break;
    }
    if (!privileged && one != key_of(13, 0, 0, 2)) {
        return false;
    }
    if (std::uint32_t *const found = kept(one)) {
        *found = value;
        if (translation_written(one)) {
            regime_changed();
        }
        return true;
    }
    if (!maintain_caches(one, value) && !maintain_tlb(one, value) && !write_lockdown(one, value)) {
        report(which, false);
    }
    return true;
}

// --- Translation ---

// Registers whose change empties the micro-TLBs: those of DDI 0388I, 6.2.1, and those that walks depend on.
bool system_control::translation_written(key which)
{
    return which == key_of(1, 0, 0, 0) || which == key_of(13, 0, 0, 1) || which >> 12U == 2 ||
           which >> 12U == 3 || which >> 4U == key_of(10, 0, 2, 0) >> 4U;
}

void system_control::make_regime()
{
    regime_.asid = static_cast<std::uint16_t>(contextidr_ & asid_mask);
    regime_.tables32 = short_descriptors::registers{.ttbr0 = ttbr0_,
                                                    .ttbr1 = ttbr1_,
                                                    .ttbcr = ttbcr_,
                                                    .prrr = prrr_,
                                                    .nmrr = nmrr_,
                                                    .tex_remap = (sctlr_ & 1U << 28U) != 0,
                                                    .access_flag = (sctlr_ & 1U << 29U) != 0,
                                                    .caches = caches_data()};
}

void system_control::regime_changed()
{
    make_regime();
    around_.translation.empty_first();
    around_.translation_changed();
}

std::optional<phys_addr> system_control::physical(std::uint32_t address)
{
    if (!translates()) {
        return phys_addr{address};
    }
    const mmu::outcome found = around_.translation.translate(regime_, address, access_kind::read);
    const auto *const made = std::get_if<page_translation>(&found);
    return made == nullptr ? std::nullopt : std::optional(made->of(address));
}

void system_control::find_physical(std::uint32_t address, short_descriptors::access what)
{
    if (!translates()) {
        par_ = address & par_page;
        return;
    }
    const mmu::outcome found = around_.translation.translate(regime_, address, access_kind::read);
    std::optional<translation_fault> fault;
    if (const auto *const made = std::get_if<page_translation>(&found)) {
        fault = short_descriptors::refused(made->says, dacr_, what);
        par_ = static_cast<std::uint32_t>(made->of(address).value) & par_page;
    } else {
        fault = std::get<translation_fault>(found);
    }
    if (fault) { // FS in bits 6 to 1
        const std::uint32_t status = short_descriptors::status_of(*fault);
        par_ = (status & 0xFU) << 1U | par_failed;
    }
}

// --- Maintenance ---

void system_control::maintain_set_way(std::uint32_t value, bool clean, bool invalidate)
{
    const cache_geometry &shape = around_.on.l1d().geometry();
    const std::uint32_t way_shift = 32 - static_cast<std::uint32_t>(std::bit_width(shape.ways() - 1));
    const std::uint64_t set = value >> shape.line_bits() & (shape.sets() - 1);
    if (const auto line = around_.on.l1d().line_at(set, value >> way_shift)) {
        around_.on.maintain(*line, clean, invalidate);
    }
}

void system_control::maintain_address(std::uint32_t address, bool clean, bool invalidate)
{
    if (const auto where = physical(address)) {
        around_.on.maintain(*where, clean, invalidate);
    }
}

bool system_control::maintain_caches(key which, std::uint32_t value)
{
    using sd_access = short_descriptors::access;
    switch (which) {
    case key_of(7, 0, 1, 0): // ICIALLUIS, ICIALLU
    case key_of(7, 0, 5, 0):
        around_.on.forget_instructions();
        return true;
    case key_of(7, 0, 5, 1): // ICIMVAU
        if (const auto where = physical(value)) {
            around_.on.forget_instructions(*where);
        }
        return true;
    case key_of(7, 0, 0, 4): // WFI as encoded before Armv7, and branch predictors, which are not modelled
    case key_of(7, 0, 1, 6):
    case key_of(7, 0, 5, 6):
    case key_of(7, 0, 5, 7):
    case key_of(7, 0, 13, 1):
        return true;
    case key_of(7, 0, 6, 1): // DCIMVAC
        maintain_address(value, false, true);
        return true;
    case key_of(7, 0, 6, 2): // DCISW
        maintain_set_way(value, false, true);
        return true;
    case key_of(7, 0, 10, 1): // DCCMVAC, DCCMVAU
    case key_of(7, 0, 11, 1):
        maintain_address(value, true, false);
        return true;
    case key_of(7, 0, 10, 2): // DCCSW
        maintain_set_way(value, true, false);
        return true;
    case key_of(7, 0, 14, 1): // DCCIMVAC
        maintain_address(value, true, true);
        return true;
    case key_of(7, 0, 14, 2): // DCCISW
        maintain_set_way(value, true, true);
        return true;
    case key_of(7, 0, 8, 0): // ATS1CPR and its like
        find_physical(value, {sd_access::kind::read, true});
        return true;
    case key_of(7, 0, 8, 1):
        find_physical(value, {sd_access::kind::write, true});
        return true;
    case key_of(7, 0, 8, 2):
        find_physical(value, {sd_access::kind::read, false});
        return true;
    case key_of(7, 0, 8, 3):
        find_physical(value, {sd_access::kind::write, false});
        return true;
    default:
        return false;
    }
}

// By table 4-26 of DDI 0388I, operations by address and ASID, and by ASID, invalidate locked entries too; the
// others keep them. Operations for all cores act on this core only, since no other core translates.
bool system_control::maintain_tlb(key which, std::uint32_t value)
{
    const auto asid = static_cast<std::uint16_t>(value & asid_mask);
    if (which >> 8U != key_of(8, 0, 0, 0) >> 8U) {
        return false;
    }
    const std::uint32_t crm = which >> 4U & 0xFU;
    if (crm != 3 && (crm < 5 || crm > 7)) {
        return false;
    }
    switch (which & 0xFU) {
    case 0:
        around_.translation.invalidate_all(locked_entries::stay);
        break;
    case 1:
        around_.translation.invalidate_page_of(no_vmid, asid, value & par_page);
        break;
    case 2:
        around_.translation.invalidate_asid(no_vmid, asid);
        break;
    case 3:
        around_.translation.invalidate_page(no_vmid, value & par_page, locked_entries::stay);
        break;
    default:
        return false;
    }
    around_.translation_changed();
    return true;
}

bool system_control::write_lockdown(key which, std::uint32_t value)
{
    switch (which) {
    case key_of(10, 0, 0, 0):
        lockdown_.set_lockdown(value);
        return true;
    case key_of(15, 5, 4, 2):
        lockdown_.select_for_read(value);
        return true;
    case key_of(15, 5, 4, 4):
        lockdown_.select_for_write(value);
        return true;
    case key_of(15, 5, 5, 2):
        lockdown_.set_va(value);
        return true;
    case key_of(15, 5, 6, 2):
        lockdown_.set_pa(value, *regime_.tables32);
        around_.translation_changed();
        return true;
    case key_of(15, 5, 7, 2):
        lockdown_.set_attributes(value);
        return true;
    default:
        return false;
    }
}

void system_control::report(const coprocessor_register &which, bool read)
{
    std::string name = std::string(read ? "MRC" : "MCR") + " p15, " + std::to_string(which.opc1) + ", c" +
                       std::to_string(which.crn) + ", c" + std::to_string(which.crm) + ", " +
                       std::to_string(which.opc2);
    if (reported_.insert(name).second) {
        around_.missing(name);
    }
}

} // namespace bulkhead::machine::armv7::a_profile
