// SPDX-License-Identifier: Apache-2.0
// Accesses to known pages, and all other accesses; see the header.
#include "machine/armv7/a_profile/memory.h"

#include <bit>
#include <cstring>

#include "machine/armv7/interpreter.h"

namespace bulkhead::machine::armv7::a_profile {

namespace {

namespace sd = short_descriptors;
using rights = sd::attributes;

constexpr std::uint32_t alignment_fault = 1, external_abort = 8, written = 1U << 11U;

} // namespace

memory::memory(const surroundings &around) : around_(around), slots_of_(around.translation.first_entries())
{
    around_.translation.on_dropped([this](std::uint32_t entry) { dropped(entry); });
}

void memory::forget_pages()
{
    pages_.fill({});
    std::ranges::fill(slots_of_, 0);
}

void memory::dropped(std::uint32_t entry)
{
    for (std::uint64_t left = slots_of_[entry]; left != 0; left &= left - 1) {
        pages_[static_cast<std::size_t>(std::countr_zero(left))] = {};
    }
    slots_of_[entry] = 0;
}

// The page of an aligned access, if it is known to be allowed.
inline memory::page *memory::known(const access_request &what, std::uint8_t privileged, std::uint8_t user)
{
    page &own = pages_[what.address >> page_bits & (slots - 1)];
    const bool as_user = what.unprivileged || !around_.state.privileged();
    const bool aligned = (what.address & (what.bytes - 1U)) == 0;
    return own.number == what.address >> page_bits && aligned &&
                   (own.rights & (as_user ? user : privileged)) != 0
               ? &own
               : nullptr;
}

std::optional<std::uint32_t> memory::read(const access_request &what)
{
    const page *const own = known(what, rights::privileged_read, rights::user_read);
    if (own == nullptr || (what.address & (what.alignment - 1U)) != 0) [[unlikely]] {
        return read_slowly(what);
    }
    const std::uint32_t offset = what.address & page_mask;
    const phys_addr where{own->physical + offset};
    const std::uint8_t *const content = own->content + offset;
    if (what.dependent) {
        around_.on.dependent_read(where, what.bytes);
    } else {
        around_.on.access(where, what.bytes, access_kind::read);
    }
    std::uint32_t value = 0;
    std::memcpy(&value, content, what.bytes);
    return value;
}

bool memory::write(const access_request &what, std::uint32_t value)
{
    const page *const own = known(what, rights::privileged_write, rights::user_write);
    if (own == nullptr || (what.address & (what.alignment - 1U)) != 0) [[unlikely]] {
        return write_slowly(what, value);
    }
    const std::uint32_t offset = what.address & page_mask;
    const phys_addr where{own->physical + offset};
    std::uint8_t *const content = own->content + offset;
    around_.on.access(where, what.bytes, access_kind::write);
    std::memcpy(content, &value, what.bytes);
    by_->stored(where, what.bytes);
    return true;
}

// --- Translation ---

void memory::fault(std::uint32_t status, std::uint32_t address, bool write)
{
    was_data_ = true;
    around_.control.record_data_fault(status | (write ? written : 0), address);
}

bool memory::is_aligned(const access_request &what)
{
    const std::uint32_t demanded = around_.control.checks_alignment() ? what.bytes : 1;
    return (what.address & (std::max<std::uint32_t>(what.alignment, demanded) - 1)) == 0;
}

std::optional<memory::place> memory::translate(const access_request &what, std::uint32_t address, bool write)
{
    if (!around_.control.translates()) { // DDI 0406C, B3.2: Strongly-ordered
        return place{phys_addr{address}, false, true};
    }
    const mmu::answer found = around_.translation.find(around_.control.regime(), address, access_kind::read);
    if (const auto *const refused = std::get_if<translation_fault>(&found)) {
        fault(sd::status_of(*refused), address, write);
        return std::nullopt;
    }
    const page_translation &made = *std::get<const page_translation *>(found);
    const sd::access access{write ? sd::access::kind::write : sd::access::kind::read,
                            around_.state.privileged() && !what.unprivileged};
    if (const auto refused = sd::refused(made.says, around_.control.dacr(), access)) {
        fault(sd::status_of(*refused), address, write);
        return std::nullopt;
    }
    const bool cached = made.says.memory == sd::memory_kind::cached && around_.control.caches_data();
    if (cached) {
        remember(address, made);
    }
    return place{made.of(address), cached, made.says.memory == sd::memory_kind::ordered};
}

// The rights of all accesses to the page with the present value of DACR.
void memory::remember(std::uint32_t address, const page_translation &found)
{
    const std::uint64_t physical = found.of(address).value & ~std::uint64_t{page_mask};
    std::uint8_t *const content = around_.bus.memory(physical, page_mask + 1);
    if (content == nullptr) {
        return;
    }
    const std::uint32_t slot = address >> page_bits & (slots - 1);
    page made{address >> page_bits, 0, content, physical};
    const auto may = [&](sd::access::kind kind, bool privileged) {
        return !sd::refused(found.says, around_.control.dacr(), {kind, privileged});
    };
    made.rights =
        static_cast<std::uint8_t>((may(sd::access::kind::read, true) ? rights::privileged_read : 0) |
                                  (may(sd::access::kind::write, true) ? rights::privileged_write : 0) |
                                  (may(sd::access::kind::read, false) ? rights::user_read : 0) |
                                  (may(sd::access::kind::write, false) ? rights::user_write : 0));
    pages_[slot] = made;
    if (found.entry < slots_of_.size()) {
        slots_of_[found.entry] |= std::uint64_t{1} << slot;
    }
}

// --- Accesses ---

std::optional<std::uint32_t> memory::load(const place &from, const access_request &what, std::uint32_t bytes)
{
    if (const physical_bus::device *const device = around_.bus.device_at(from.where.value)) {
        around_.on.uncached(from.where, bytes, access_kind::read);
        around_.on.order();
        const std::uint32_t value = device->read(static_cast<std::uint32_t>(from.where.value - device->base));
        return bytes == sizeof value ? value : value & ((1U << (8 * bytes)) - 1);
    }
    const std::uint8_t *const content = around_.bus.memory(from.where.value, bytes);
    if (content == nullptr) {
        fault(external_abort, what.address, false);
        return std::nullopt;
    }
    if (!from.cached) {
        around_.on.past_caches(from.where, bytes, access_kind::read);
    } else if (what.dependent) {
        around_.on.dependent_read(from.where, bytes);
    } else {
        around_.on.access(from.where, bytes, access_kind::read);
    }
    std::uint32_t value = 0;
    std::memcpy(&value, content, bytes);
    return value;
}

bool memory::store(const place &to, const access_request &what, std::uint32_t bytes, std::uint32_t value)
{
    if (const physical_bus::device *const device = around_.bus.device_at(to.where.value)) {
        around_.on.uncached(to.where, bytes, access_kind::write);
        around_.on.order();
        device->write(static_cast<std::uint32_t>(to.where.value - device->base), value);
        return true;
    }
    std::uint8_t *const content = around_.bus.memory(to.where.value, bytes);
    if (content == nullptr) {
        fault(external_abort, what.address, true);
        return false;
    }
    if (to.cached) {
        around_.on.access(to.where, bytes, access_kind::write);
    } else {
        around_.on.past_caches(to.where, bytes, access_kind::write);
    }
    std::memcpy(content, &value, bytes);
    by_->stored(to.where, bytes);
    return true;
}

// An access across the end of a page needs two translations. Both are made before any byte is read, since
// either can fault.
std::optional<std::uint32_t> memory::read_slowly(const access_request &what)
{
    if (!is_aligned(what)) {
        fault(alignment_fault, what.address, false);
        return std::nullopt;
    }
    const auto first = translate(what, what.address, false);
    if (!first) {
        return std::nullopt;
    }
    const bool unaligned = (what.address & (what.bytes - 1U)) != 0;
    if (unaligned && first->ordered) {
        fault(alignment_fault, what.address, false);
        return std::nullopt;
    }
    const std::uint32_t left = page_mask + 1 - (what.address & page_mask);
    if (left >= what.bytes) {
        return load(*first, what, what.bytes);
    }
    const auto second = translate(what, what.address + left, false);
    if (!second) {
        return std::nullopt;
    }
    const auto low = load(*first, what, left);
    const auto high = low ? load(*second, what, what.bytes - left) : std::nullopt;
    return high ? std::optional(*low | *high << (8 * left)) : std::nullopt;
}

bool memory::write_slowly(const access_request &what, std::uint32_t value)
{
    if (!is_aligned(what)) {
        fault(alignment_fault, what.address, true);
        return false;
    }
    const auto first = translate(what, what.address, true);
    if (!first) {
        return false;
    }
    const bool unaligned = (what.address & (what.bytes - 1U)) != 0;
    if (unaligned && first->ordered) {
        fault(alignment_fault, what.address, true);
        return false;
    }
    const std::uint32_t left = page_mask + 1 - (what.address & page_mask);
    if (left >= what.bytes) {
        return store(*first, what, what.bytes, value);
    }
    const auto second = translate(what, what.address + left, true);
    return second && store(*first, what, left, value) &&
           store(*second, what, what.bytes - left, value >> (8 * left));
}

std::optional<code_span> memory::fetch(std::uint32_t address)
{
    const auto refuse = [&](std::uint32_t status) -> std::optional<code_span> {
        was_data_ = false;
        around_.control.record_fetch_fault(status, address);
        return std::nullopt;
    };
    std::uint64_t where = address;
    std::uint32_t shift = page_bits;
    bool cached = around_.control.caches_code();
    if (around_.control.translates()) {
        const mmu::outcome found = around_.translation.fetch(around_.control.regime(), address);
        if (const auto *const refused = std::get_if<translation_fault>(&found)) {
            return refuse(sd::status_of(*refused));
        }
        const page_translation &made = std::get<page_translation>(found);
        const sd::access access{sd::access::kind::fetch, around_.state.privileged()};
        if (const auto refused = sd::refused(made.says, around_.control.dacr(), access)) {
            return refuse(sd::status_of(*refused));
        }
        where = made.of(address).value;
        shift = made.shift;
        cached = cached && made.says.memory == sd::memory_kind::cached;
    }
    const std::uint64_t size = std::uint64_t{1} << shift;
    const auto bytes =
        static_cast<std::uint32_t>(std::min(size - (where & (size - 1)), around_.bus.memory_left(where)));
    if (bytes == 0) {
        return refuse(external_abort);
    }
    return code_span{phys_addr{where}, bytes, cached, around_.bus.memory(where, bytes)};
}

} // namespace bulkhead::machine::armv7::a_profile
