// SPDX-License-Identifier: Apache-2.0
// Accesses and fetches: alignment, the MPU, memory or device at the address, and the timing. See the header.
#include "machine/armv7/m_profile/m_profile.h"

#include <algorithm>
#include <cstring>

#include "machine/armv7/m_profile/fault_status.h"

namespace bulkhead::machine::armv7::m_profile {
namespace {

const cache_geometry *geometry_if(bool there, const cache *one)
{
    return there && one != nullptr ? &one->geometry() : nullptr;
}

constexpr std::uint32_t all_lanes = ~std::uint32_t{0};

std::uint32_t mask_of(std::uint32_t bytes)
{
    return bytes >= 4 ? all_lanes : (std::uint32_t{1} << 8 * bytes) - 1;
}

} // namespace

m_profile::m_profile(core &on, registers &state, physical_bus &bus, engine &timeline, const frames &ram,
                     const m_profile_settings &wanted)
    : on_(on), state_(state), bus_(bus), timeline_(timeline), ram_(ram),
      wanted_(wanted), has_{.m_profile = true,
                            .divide_thumb = true,
                            .divide_arm = false,
                            .words_per_cycle = wanted.words_per_cycle},
      events_(wanted.interrupts, wanted.priority_bits), mpu_(wanted.mpu_regions),
      systick_(timeline, devices::device_clock(on.settings().frequency_hz),
               [this] { registers_.systick_zero(); }),
      registers_({wanted.cpuid, geometry_if(wanted.caches, &on.l1d()), geometry_if(wanted.caches, on.l1i())},
                 system_, events_, mpu_, systick_,
                 {.interrupts = [this] { interrupts_changed(); },
                  .code =
                      [this] {
                          mode_changed();
                          by().translation_changed();
                      },
                  .reset = [this] { finish(core_end::reset, "software asked for a reset"); },
                  .caches = [this](maintenance what, std::uint32_t value) { maintain(what, value); },
                  .cycles = [this] { return on_.counts().cycles; }})
{
    system_.ccr = ccr_bit::stkalign | 1U << 18U;
}

bool m_profile::reset(std::uint32_t vector_table)
{
    const std::uint8_t *const vectors = bus_.memory(vector_table, 8);
    if (vectors == nullptr) {
        return false;
    }
    std::uint32_t stack = 0;
    std::uint32_t start = 0;
    std::memcpy(&stack, vectors, sizeof stack);
    std::memcpy(&start, vectors + sizeof stack, sizeof start);
    system_.vtor = vector_table;
    state_.r[sp] = stack & ~3U;
    state_.r[lr] = ~std::uint32_t{0};
    state_.r[pc] = start & ~1U;
    state_.thumb = (start & 1U) != 0;
    state_.it = 0;
    return true;
}

// --- Access rights ---

void m_profile::fail(std::uint32_t number, std::uint32_t status, std::uint32_t address)
{
    fault_ = {number, status, address};
}

answered_span m_profile::span_of(std::uint32_t address, bool privileged)
{
    if (default_view_) {
        return default_map(address);
    }
    constexpr std::uint32_t granule_bits = 8;
    remembered &one = spans_[privileged ? 1 : 0][address >> granule_bits & ((1U << remembered_bits) - 1)];
    if (one.change != mpu_.changes() || address - one.span.first > one.span.last - one.span.first) {
        one = {mpu_.changes(), mpu_.answer(address, privileged)};
    }
    return one.span;
}

bool m_profile::is_aligned(const access_request &what)
{
    const std::uint32_t demanded =
        (system_.ccr & ccr_bit::unalign_trp) != 0 ? std::max(what.alignment, what.bytes) : what.alignment;
    if ((what.address & (demanded - 1U)) != 0) {
        fail(exception::usage_fault, cfsr::unaligned);
        return false;
    }
    return true;
}

// For the MPU an unaligned access is one of single bytes (B2.3, MemU): each byte is checked, and the first
// that is refused is the address of the fault. So an access that crosses two regions needs both.
std::optional<memory_attributes> m_profile::allowed(const access &what)
{
    const std::uint32_t last = what.address + (what.bytes - 1);
    std::uint32_t at = what.address;
    for (;;) {
        const answered_span span = span_of(at, what.privileged);
        if (!span.mapped || !span.rights.allow(what.privileged, what.write)) {
            fail(exception::mem_manage, cfsr::daccviol | cfsr::mmarvalid, at);
            return {};
        }
        if (last - at <= span.last - at) {
            if (span.attributes.type != memory_type::normal && (what.address & (what.bytes - 1U)) != 0) {
                fail(exception::usage_fault, cfsr::unaligned); // A3.2.1
                return {};
            }
            return span.attributes;
        }
        at = span.last + 1;
    }
}

// Unprivileged accesses to the system control space are bus errors, except to STIR if USERSETMPEND opens it.
bool m_profile::private_bus_allows(const access &what)
{
    const bool opened =
        what.write && what.address == system_registers::stir && (system_.ccr & ccr_bit::usersetmpend) != 0;
    if (!what.privileged && !opened) {
        fail(exception::bus_fault, cfsr::preciserr | cfsr::bfarvalid, what.address);
        return false;
    }
    if (what.address % what.bytes != 0) {
        fail(exception::usage_fault, cfsr::unaligned);
        return false;
    }
    return true;
}

// --- Memory and devices at an address, and timing ---

void m_profile::charge(const access &what, memory_attributes attributes)
{
    const phys_addr where{what.address};
    const access_kind kind = what.write ? access_kind::write : access_kind::read;
    const bool cached = attributes.cacheable && (!wanted_.caches || (system_.ccr & ccr_bit::data_cache) != 0);
    if (!cached) {
        on_.past_caches(where, what.bytes, kind);
    } else if (what.dependent) {
        on_.dependent_read(where, what.bytes);
    } else {
        on_.access(where, what.bytes, kind);
    }
}

std::optional<std::uint32_t> m_profile::read_checked(const access &what)
{
    if (is_private_bus(what.address)) {
        if (!private_bus_allows(what)) {
            return {};
        }
        on_.count_one(core_event::memory_access);
        const picoseconds now = on_.order();
        return registers_.read(what.address & ~3U, now) >> 8 * (what.address & 3U) & mask_of(what.bytes);
    }
    const auto attributes = allowed(what);
    if (!attributes) {
        return {};
    }
    if (const std::uint8_t *const host = bus_.memory(what.address, what.bytes)) [[likely]] {
        charge(what, *attributes);
        std::uint32_t value = 0;
        std::memcpy(&value, host, what.bytes);
        return value;
    }
    on_.past_caches(phys_addr{what.address}, what.bytes, access_kind::read);
    on_.order();
    const physical_bus::device *const device = bus_.device_at(what.address);
    if (device == nullptr) {
        fail(exception::bus_fault, cfsr::preciserr | cfsr::bfarvalid, what.address);
        return {};
    }
    const auto offset = static_cast<std::uint32_t>(what.address - device->base);
    return device->read(offset & ~3U) >> 8 * (offset & 3U) & mask_of(what.bytes);
}

bool m_profile::write_checked(const access &what, std::uint32_t value)
{
    value &= mask_of(what.bytes);
    if (is_private_bus(what.address)) {
        if (!private_bus_allows(what)) {
            return false;
        }
        on_.count_one(core_event::memory_access);
        const picoseconds now = on_.order();
        const std::uint32_t shift = 8 * (what.address & 3U);
        registers_.write(what.address & ~3U, value << shift, mask_of(what.bytes) << shift, now);
        return true;
    }
    const auto attributes = allowed(what);
    if (!attributes) {
        return false;
    }
    if (std::uint8_t *const host = bus_.memory(what.address, what.bytes)) [[likely]] {
        charge(what, *attributes);
        std::memcpy(host, &value, what.bytes);
        by().stored(phys_addr{what.address}, what.bytes);
        return true;
    }
    on_.past_caches(phys_addr{what.address}, what.bytes, access_kind::write);
    on_.order();
    if (const physical_bus::device *const device = bus_.device_at(what.address)) {
        const auto offset = static_cast<std::uint32_t>(what.address - device->base);
        device->write(offset & ~3U, value << 8 * (offset & 3U));
    } else if (what.of_frame) {
        fail(exception::bus_fault, 0);
        return false;
    } else {
        write_nowhere();
    }
    return true;
}

// The store has left the core before the bus answers. The fault is imprecise: it stays pending until it can
// be taken.
void m_profile::write_nowhere()
{
    system_.cfsr |= cfsr::impreciserr;
    if (events_.is_enabled(exception::bus_fault)) {
        events_.set_pending(exception::bus_fault, true);
    } else {
        system_.hfsr |= hfsr::forced;
        events_.set_pending(exception::hard_fault, true);
    }
    by().look_for_interrupts();
}

std::optional<std::uint32_t> m_profile::read(const access_request &what)
{
    if (!is_aligned(what)) [[unlikely]] {
        return {};
    }
    return read_checked({.address = what.address,
                         .bytes = what.bytes,
                         .privileged = is_privileged() && !what.unprivileged,
                         .write = false,
                         .dependent = what.dependent});
}

bool m_profile::write(const access_request &what, std::uint32_t value)
{
    if (!is_aligned(what)) [[unlikely]] {
        return false;
    }
    return write_checked({.address = what.address,
                          .bytes = what.bytes,
                          .privileged = is_privileged() && !what.unprivileged,
                          .write = true},
                         value);
}

std::optional<code_span> m_profile::fetch(std::uint32_t address)
{
    const answered_span span = span_of(address, is_privileged());
    if (!span.mapped || !span.rights.allow_fetch(is_privileged())) {
        fail(exception::mem_manage, cfsr::iaccviol, address);
        return {};
    }
    const std::uint64_t bytes =
        std::min<std::uint64_t>(bus_.memory_left(address), span.last - address + 1ULL);
    if (bytes == 0) {
        fail(exception::bus_fault, cfsr::ibuserr);
        return {};
    }
    const bool cached = !wanted_.caches || ram_.find(phys_addr{address}) == nullptr ||
                        (span.attributes.cacheable && (system_.ccr & ccr_bit::instruction_cache) != 0);
    return code_span{phys_addr{address},
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 1U << 31U)), cached,
                     bus_.memory(address, 1)};
}

// --- Effects of system registers, and of devices ---

void m_profile::interrupts_changed()
{
    mode_changed();
    by().look_for_interrupts();
    on_.signal(timeline_.now()); // ends a wait
}

void m_profile::set_interrupt(std::uint32_t number, bool high)
{
    events_.set_level(exception::first_interrupt + number, high);
    interrupts_changed();
}

// By set and way: the way is in the uppermost bits, the set above the offset in the line (B2.2.7).
void m_profile::maintain(maintenance what, std::uint32_t value)
{
    if (!wanted_.caches) {
        return;
    }
    const cache_geometry &shape = on_.l1d().geometry();
    const auto by_place = [&]() -> std::optional<phys_addr> {
        std::uint32_t way_bits = 0;
        while ((1U << way_bits) < shape.ways()) {
            ++way_bits;
        }
        const std::uint32_t way = way_bits == 0 ? 0 : value >> (32 - way_bits);
        return on_.l1d().line_at(value >> shape.line_bits() & (shape.sets() - 1), way);
    };
    const auto flush = [&](std::optional<phys_addr> line, bool keeps) {
        if (line) {
            on_.maintain(*line, true, !keeps);
        }
    };
    switch (what) {
    case maintenance::invalidate_code:
        on_.forget_instructions();
        break;
    case maintenance::invalidate_code_line:
        on_.forget_instructions(phys_addr{value & ~(shape.line().value - 1)});
        break;
    case maintenance::clean_line:
        flush(phys_addr{value}, true);
        break;
    case maintenance::clean_way:
        flush(by_place(), true);
        break;
    // Invalidating without cleaning loses no data here: the cache model has no contents, memory has them.
    case maintenance::invalidate_line:
    case maintenance::flush_line:
        flush(phys_addr{value}, false);
        break;
    case maintenance::invalidate_way:
    case maintenance::flush_way:
        flush(by_place(), false);
        break;
    }
}

void m_profile::not_implemented(std::string_view name, std::uint32_t /*word*/)
{
    missing_.emplace_back(name);
}

} // namespace bulkhead::machine::armv7::m_profile
