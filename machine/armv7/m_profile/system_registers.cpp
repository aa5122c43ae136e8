// SPDX-License-Identifier: Apache-2.0
// Registers of the system control space by offset; see the header.
#include "machine/armv7/m_profile/system_registers.h"

#include <array>
#include <bit>
#include <utility>

namespace bulkhead::machine::armv7::m_profile {
namespace {

enum place : std::uint32_t {
    dwt_ctrl = 0xE0001000,
    dwt_cyccnt = 0xE0001004,
    scs = 0xE000E000,
};

// Offsets in the system control space.
enum scs_offset : std::uint32_t {
    ictr = 0x004,
    syst_csr = 0x010,
    syst_rvr = 0x014,
    syst_cvr = 0x018,
    syst_calib = 0x01C,
    nvic_first = 0x100,
    nvic_iser = 0x100,
    nvic_icer = 0x180,
    nvic_ispr = 0x200,
    nvic_icpr = 0x280,
    nvic_iabr = 0x300,
    nvic_ipr = 0x400,
    nvic_end = 0x4F0,
    scb_cpuid = 0xD00,
    scb_icsr = 0xD04,
    scb_vtor = 0xD08,
    scb_aircr = 0xD0C,
    scb_scr = 0xD10,
    scb_ccr = 0xD14,
    scb_shpr1 = 0xD18,
    scb_shpr3 = 0xD20,
    scb_shcsr = 0xD24,
    scb_cfsr = 0xD28,
    scb_hfsr = 0xD2C,
    scb_mmfar = 0xD34,
    scb_bfar = 0xD38,
    id_pfr0 = 0xD40,
    id_pfr1 = 0xD44,
    id_mmfr0 = 0xD50,
    id_isar0 = 0xD60,
    scb_clidr = 0xD78,
    scb_ctr = 0xD7C,
    scb_ccsidr = 0xD80,
    scb_csselr = 0xD84,
    scb_cpacr = 0xD88,
    mpu_first = 0xD90,
    demcr = 0xDFC,
    scb_stir = 0xF00,
    iciallu = 0xF50,
    icimvau = 0xF58,
    dcimvac = 0xF5C,
    dcisw = 0xF60,
    dccmvau = 0xF64,
    dccmvac = 0xF68,
    dccsw = 0xF6C,
    dccimvac = 0xF70,
    dccisw = 0xF74,
};

constexpr std::uint32_t icsr_nmipendset = 1U << 31U;
constexpr std::uint32_t icsr_pendsvset = 1U << 28U;
constexpr std::uint32_t icsr_pendsvclr = 1U << 27U;
constexpr std::uint32_t icsr_pendstset = 1U << 26U;
constexpr std::uint32_t icsr_pendstclr = 1U << 25U;
constexpr std::uint32_t icsr_isrpending = 1U << 22U;
constexpr std::uint32_t icsr_rettobase = 1U << 11U;
constexpr std::uint32_t aircr_key = 0x05FA;
constexpr std::uint32_t aircr_key_read = 0xFA05U << 16U;
constexpr std::uint32_t aircr_sysresetreq = 1U << 2U;
constexpr std::uint32_t csr_enable = 1;
constexpr std::uint32_t csr_tickint = 2;
constexpr std::uint32_t csr_core_clock = 4; // the only one there is
constexpr std::uint32_t csr_countflag = 1U << 16U;
constexpr std::uint32_t calib_noref = 1U << 31U;
constexpr std::uint32_t counter_mask = 0xFFFFFF;
constexpr std::uint32_t vtor_mask = 0xFFFFFF80;
constexpr std::uint32_t scr_mask = 0x16;
constexpr std::uint32_t ccr_mask = 0x3011B; // BFHFNMIGN, the traps, USERSETMPEND, NONBASETHRDENA, DC, IC
constexpr std::uint32_t cfsr_mask = 0x030FBFBF;
constexpr std::uint32_t hfsr_mask = 0xC0000002;
constexpr std::uint32_t demcr_trcena = 1U << 24U;
constexpr std::uint32_t ctr_value = 0x8303C003;   // Cortex-M7: lines of 32 bytes in both caches
constexpr std::uint32_t clidr_value = 0x09000003; // one level, separate caches

// Fields of SHCSR: a bit for each exception.
struct handler_bit {
    std::uint32_t number;
    std::uint32_t active;
    std::uint32_t pending; // 0: SHCSR does not show it
    std::uint32_t enabled;
};
constexpr std::array handler_bits{
    handler_bit{exception::mem_manage, 1U << 0U, 1U << 13U, 1U << 16U},
    handler_bit{exception::bus_fault, 1U << 1U, 1U << 14U, 1U << 17U},
    handler_bit{exception::usage_fault, 1U << 3U, 1U << 12U, 1U << 18U},
    handler_bit{exception::svcall, 1U << 7U, 1U << 15U, 0},
    handler_bit{exception::debug_monitor, 1U << 8U, 0, 0},
    handler_bit{exception::pendsv, 1U << 10U, 0, 0},
    handler_bit{exception::systick, 1U << 11U, 0, 0},
};

// Exceptions whose priorities are in SHPR1 to SHPR3.
bool has_priority(std::uint32_t number)
{
    return (number >= exception::mem_manage && number <= exception::usage_fault) ||
           number == exception::svcall || number == exception::debug_monitor || number == exception::pendsv ||
           number >= exception::systick;
}

std::uint32_t merged(std::uint32_t old, std::uint32_t value, std::uint32_t lanes)
{
    return (old & ~lanes) | (value & lanes);
}

// Registers for 32 interrupts each: returns the exception number of the first interrupt.
std::uint32_t first_of(std::uint32_t offset)
{
    return exception::first_interrupt + (offset & 0x7FU) * 8;
}

} // namespace

system_registers::system_registers(const shape &has, system_state &state, exceptions &events, mpu &protection,
                                   devices::down_counter &systick, effects said)
    : has_(has), state_(state), events_(events), mpu_(protection), systick_(systick), said_(std::move(said))
{
}

std::uint32_t system_registers::read(std::uint32_t address, picoseconds now)
{
    if (address == dwt_ctrl) {
        return counts_cycles_ ? 1 : 0;
    }
    if (address == dwt_cyccnt) {
        return cycle_count();
    }
    const std::uint32_t offset = address - scs;
    if (offset >= syst_csr && offset <= syst_calib) {
        return read_systick(offset, now);
    }
    if (offset >= nvic_first && offset < nvic_end) {
        return read_nvic(offset);
    }
    if (offset >= mpu_first && offset < mpu_first + mpu::registers_end) {
        return mpu_.read(offset - mpu_first);
    }
    return read_scb(offset);
}

void system_registers::write(std::uint32_t address, std::uint32_t value, std::uint32_t lanes, picoseconds now)
{
    const std::uint32_t offset = address - scs;
    if (address == dwt_ctrl) {
        count_cycles(trace_on_, (value & 1U) != 0);
    } else if (address == dwt_cyccnt) {
        cycles_held_ = value;
        cycles_from_ = said_.cycles() - value;
    } else if (offset >= syst_csr && offset <= syst_calib) {
        write_systick(offset, value, now);
    } else if (offset >= nvic_first && offset < nvic_end) {
        write_nvic(offset, value, lanes);
    } else if (offset >= mpu_first && offset < mpu_first + mpu::registers_end) {
        mpu_.write(offset - mpu_first, value);
        said_.code();
    } else {
        write_scb(offset, value, lanes);
    }
}

// --- Cycle counter ---

std::uint32_t system_registers::cycle_count() const
{
    return trace_on_ && counts_cycles_ ? static_cast<std::uint32_t>(said_.cycles() - cycles_from_)
                                       : cycles_held_;
}

void system_registers::count_cycles(bool trace_on, bool counts)
{
    cycles_held_ = cycle_count();
    trace_on_ = trace_on;
    counts_cycles_ = counts;
    cycles_from_ = said_.cycles() - cycles_held_;
}

// --- SysTick ---

void system_registers::systick_zero()
{
    tick_flag_ = true;
    if (tick_interrupts_) {
        events_.set_pending(exception::systick, true);
        said_.interrupts();
    }
}

std::uint32_t system_registers::read_systick(std::uint32_t offset, picoseconds now)
{
    switch (offset) {
    case syst_csr: {
        const std::uint32_t value = (systick_.running() ? csr_enable : 0) |
                                    (tick_interrupts_ ? csr_tickint : 0) | csr_core_clock |
                                    (tick_flag_ ? csr_countflag : 0);
        tick_flag_ = false;
        return value;
    }
    case syst_rvr:
        return systick_.reload();
    case syst_cvr:
        return systick_.value(now);
    default:
        return calib_noref;
    }
}

void system_registers::write_systick(std::uint32_t offset, std::uint32_t value, picoseconds now)
{
    switch (offset) {
    case syst_csr:
        tick_interrupts_ = (value & csr_tickint) != 0;
        systick_.run((value & csr_enable) != 0, now);
        break;
    case syst_rvr:
        systick_.set_reload(value & counter_mask, now);
        break;
    case syst_cvr: // any write clears it
        systick_.set_value(0, now);
        tick_flag_ = false;
        break;
    default:
        break;
    }
}

// --- NVIC ---

std::uint32_t system_registers::priorities(std::uint32_t first) const
{
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        if (first + i < events_.count() && has_priority(first + i)) {
            value |= static_cast<std::uint32_t>(events_.priority_byte(first + i)) << 8 * i;
        }
    }
    return value;
}

void system_registers::write_priorities(std::uint32_t first, std::uint32_t value, std::uint32_t lanes)
{
    for (std::uint32_t i = 0; i < 4; ++i) {
        const bool written = (lanes >> 8 * i & 0xFFU) != 0;
        if (written && first + i < events_.count() && has_priority(first + i)) {
            events_.set_priority(first + i, static_cast<std::uint8_t>(value >> 8 * i & 0xFFU));
        }
    }
    said_.interrupts();
}

std::uint32_t system_registers::read_nvic(std::uint32_t offset) const
{
    if (offset >= nvic_ipr) {
        return priorities(exception::first_interrupt + (offset - nvic_ipr));
    }
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 32 && first_of(offset) + i < events_.count(); ++i) {
        const std::uint32_t number = first_of(offset) + i;
        const bool is_set = offset >= nvic_iabr   ? events_.is_active(number)
                            : offset >= nvic_ispr ? events_.is_pending(number)
                                                  : events_.is_enabled(number);
        value |= is_set ? std::uint32_t{1} << i : 0;
    }
    return value;
}

void system_registers::write_nvic(std::uint32_t offset, std::uint32_t value, std::uint32_t lanes)
{
    if (offset >= nvic_ipr) {
        write_priorities(exception::first_interrupt + (offset - nvic_ipr), value, lanes);
        return;
    }
    if (offset >= nvic_iabr) {
        return; // read-only
    }
    const bool sets = (offset & 0x80U) == 0;
    for (std::uint32_t i = 0; i < 32 && first_of(offset) + i < events_.count(); ++i) {
        if ((value >> i & 1U) == 0) {
            continue;
        }
        if (offset < nvic_ispr) {
            events_.set_enabled(first_of(offset) + i, sets);
        } else {
            events_.set_pending(first_of(offset) + i, sets);
        }
    }
    said_.interrupts();
}

// --- System control block ---

std::uint32_t system_registers::icsr() const
{
    std::uint32_t value = state_.ipsr;
    const auto pending = events_.most_urgent();
    value |= (pending ? *pending : 0) << 12U;
    for (std::uint32_t number = exception::first_interrupt; number < events_.count(); ++number) {
        value |= events_.is_pending(number) ? icsr_isrpending : 0;
    }
    value |= events_.is_pending(exception::nmi) ? icsr_nmipendset : 0;
    value |= events_.is_pending(exception::pendsv) ? icsr_pendsvset : 0;
    value |= events_.is_pending(exception::systick) ? icsr_pendstset : 0;
    // The executing exception is the only active one.
    value |= events_.active_count() <= 1 ? icsr_rettobase : 0;
    return value;
}

void system_registers::write_icsr(std::uint32_t value)
{
    if ((value & icsr_nmipendset) != 0) {
        events_.set_pending(exception::nmi, true);
    }
    if ((value & (icsr_pendsvset | icsr_pendsvclr)) != 0) {
        events_.set_pending(exception::pendsv, (value & icsr_pendsvset) != 0);
    }
    if ((value & (icsr_pendstset | icsr_pendstclr)) != 0) {
        events_.set_pending(exception::systick, (value & icsr_pendstset) != 0);
    }
    said_.interrupts();
}

std::uint32_t system_registers::shcsr() const
{
    std::uint32_t value = 0;
    for (const handler_bit &one : handler_bits) {
        value |= events_.is_active(one.number) ? one.active : 0;
        value |= events_.is_pending(one.number) ? one.pending : 0;
        value |= events_.is_enabled(one.number) ? one.enabled : 0;
    }
    return value;
}

void system_registers::write_shcsr(std::uint32_t value, std::uint32_t lanes)
{
    value = merged(shcsr(), value, lanes);
    for (const handler_bit &one : handler_bits) {
        events_.set_active(one.number, (value & one.active) != 0);
        if (one.pending != 0) {
            events_.set_pending(one.number, (value & one.pending) != 0);
        }
        events_.set_enabled(one.number, (value & one.enabled) != 0);
    }
    said_.interrupts();
}

void system_registers::write_aircr(std::uint32_t value)
{
    if (value >> 16U != aircr_key) {
        return;
    }
    events_.set_priority_group(value >> 8U & 7U);
    if ((value & aircr_sysresetreq) != 0) {
        said_.reset();
    }
    said_.interrupts();
}

void system_registers::write_ccr(std::uint32_t value, std::uint32_t lanes)
{
    constexpr std::uint32_t always = ccr_bit::stkalign | 1U << 18U; // and enables branch prediction
    const std::uint32_t caches = (has_.data_cache != nullptr ? ccr_bit::data_cache : 0) |
                                 (has_.instruction_cache != nullptr ? ccr_bit::instruction_cache : 0);
    const std::uint32_t writable = ccr_mask & (caches | ~(ccr_bit::data_cache | ccr_bit::instruction_cache));
    state_.ccr = (merged(state_.ccr, value, lanes) & writable) | always;
    said_.code();
}

// Describes the cache that CSSELR selects: bit 0 is the instruction side.
std::uint32_t system_registers::ccsidr() const
{
    const cache_geometry *const one = (csselr_ & 1U) != 0 ? has_.instruction_cache : has_.data_cache;
    if (one == nullptr || csselr_ > 1) {
        return 0;
    }
    constexpr std::uint32_t policies = 0xF0000000; // write-through, write-back, read and write allocate
    constexpr std::uint32_t policies_of_code = 0x20000000;
    const auto words = static_cast<std::uint32_t>(one->line().value) / 4;
    return ((csselr_ & 1U) != 0 ? policies_of_code : policies) | (one->sets() - 1) << 13U |
           (one->ways() - 1) << 3U | (static_cast<std::uint32_t>(std::countr_zero(words)) - 2);
}

std::uint32_t system_registers::read_scb(std::uint32_t offset)
{
    switch (offset) {
    case ictr:
        return (events_.count() - exception::first_interrupt + 31) / 32 - 1;
    case scb_cpuid:
        return has_.cpuid;
    case scb_icsr:
        return icsr();
    case scb_vtor:
        return state_.vtor;
    case scb_aircr:
        return aircr_key_read | events_.priority_group() << 8U;
    case scb_scr:
        return state_.scr;
    case scb_ccr:
        return state_.ccr;
    case scb_shpr1:
    case scb_shpr1 + 4:
    case scb_shpr3:
        return priorities(exception::mem_manage + (offset - scb_shpr1));
    case scb_shcsr:
        return shcsr();
    case scb_cfsr:
        return state_.cfsr;
    case scb_hfsr:
        return state_.hfsr;
    case scb_mmfar:
        return state_.mmfar;
    case scb_bfar:
        return state_.bfar;
    case id_pfr0:
        return 0x30; // T32 with all its encodings
    case id_pfr1:
        return 0x200; // M profile's programmers' model
    case id_mmfr0:
        return 0x00100030; // PMSAv7
    case scb_clidr:
        return has_.data_cache != nullptr || has_.instruction_cache != nullptr ? clidr_value : 0;
    case scb_ctr:
        return ctr_value;
    case scb_ccsidr:
        return ccsidr();
    case scb_csselr:
        return csselr_;
    case scb_cpacr:
        return state_.cpacr;
    case demcr:
        return trace_on_ ? demcr_trcena : 0;
    default:
        return 0;
    }
}

void system_registers::write_scb(std::uint32_t offset, std::uint32_t value, std::uint32_t lanes)
{
    switch (offset) {
    case scb_icsr:
        write_icsr(value);
        break;
    case scb_vtor:
        state_.vtor = value & vtor_mask;
        break;
    case scb_aircr:
        write_aircr(value);
        break;
    case scb_scr:
        state_.scr = merged(state_.scr, value, lanes) & scr_mask;
        break;
    case scb_ccr:
        write_ccr(value, lanes);
        break;
    case scb_shpr1:
    case scb_shpr1 + 4:
    case scb_shpr3:
        write_priorities(exception::mem_manage + (offset - scb_shpr1), value, lanes);
        break;
    case scb_shcsr:
        write_shcsr(value, lanes);
        break;
    case scb_cfsr: // writing ones clears both
        state_.cfsr &= ~(value & cfsr_mask);
        break;
    case scb_hfsr:
        state_.hfsr &= ~(value & hfsr_mask);
        break;
    case scb_mmfar:
        state_.mmfar = value;
        break;
    case scb_bfar:
        state_.bfar = value;
        break;
    case scb_csselr:
        csselr_ = value & 0xF;
        break;
    case scb_cpacr: // there is no coprocessor: RAZ/WI
        break;
    case demcr:
        count_cycles((value & demcr_trcena) != 0, counts_cycles_);
        break;
    case scb_stir:
        if ((value & 0x1FFU) + exception::first_interrupt < events_.count()) {
            events_.set_pending((value & 0x1FFU) + exception::first_interrupt, true);
            said_.interrupts();
        }
        break;
    case iciallu:
        said_.caches(maintenance::invalidate_code, value);
        break;
    case icimvau:
        said_.caches(maintenance::invalidate_code_line, value);
        break;
    case dcimvac:
        said_.caches(maintenance::invalidate_line, value);
        break;
    case dcisw:
        said_.caches(maintenance::invalidate_way, value);
        break;
    case dccmvau:
    case dccmvac:
        said_.caches(maintenance::clean_line, value);
        break;
    case dccsw:
        said_.caches(maintenance::clean_way, value);
        break;
    case dccimvac:
        said_.caches(maintenance::flush_line, value);
        break;
    case dccisw:
        said_.caches(maintenance::flush_way, value);
        break;
    default:
        break;
    }
}

} // namespace bulkhead::machine::armv7::m_profile
