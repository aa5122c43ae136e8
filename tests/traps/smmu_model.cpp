// SPDX-License-Identifier: Apache-2.0
// The model of an SMMUv3; see the header.
#include "smmu_model.h"

#include <stdatomic.h>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_gic.h"
#include "arch/hosted/fake_registers.h"
#include "memory/pool.h"
#include "vm/system.h"
}

namespace bulkhead_test {

namespace {

constexpr uint64_t address_bits = 0xFFFFFFFFF000; // of bases and descriptors, with pages of 4 KiB
constexpr uint32_t smmuen = 1, eventqen = 4, cmdqen = 8, atschk = 1u << 4;
constexpr uint32_t has_ats = 1u << 10; // of IDR0
constexpr uint32_t transl_forbidden = 0x07;
constexpr uint32_t gerror_cmdq = 1;
constexpr uint32_t gerror_eventq_abt = 1u << 2;
constexpr uint32_t overflow = 1u << 31;
constexpr uint64_t read_ticks = 62;    // 1 us for each read of a register
constexpr uint64_t hung_ticks = 62500; // 1 ms if the SMMU does not answer

SmmuModel *plugged;

// Memory of the pool as the SMMU reads and writes it.
uint64_t *words_at(uint64_t pa)
{
    return static_cast<uint64_t *>(pool_pointer(system_pool(), paddr(pa)));
}

void time_passes(uint64_t ticks)
{
    fake_clock_set(fake_sysreg(SYSREG_ID_CNTPCT_EL0) + ticks);
}

bool on_read(uint64_t offset, unsigned, uint64_t *value)
{
    *value = plugged->read(offset);
    return true;
}

bool on_write(uint64_t offset, unsigned bytes, uint64_t value)
{
    plugged->write(offset, value, bytes);
    return true;
}

} // namespace

void SmmuModel::plug_in(uint64_t pa)
{
    plugged = this;
    fake_map(pa, 0x20000, on_read, on_write);
}

uint64_t SmmuModel::read(uint64_t offset)
{
    reads++;
    time_passes(answers_registers && consumes ? read_ticks : hung_ticks);
    switch (offset) {
    case 0x00:
        return idr0;
    case 0x04:
        return idr1;
    case 0x0C:
        return idr3;
    case 0x14:
        return idr5;
    case 0x20:
        return cr0;
    case 0x24:
        return cr0ack;
    case 0x44:
        return gbpa;
    case 0x50:
        return irq_ctrl;
    case 0x54:
        return answers_registers ? irq_ctrl : 0x80;
    case 0x60:
        return gerror;
    case 0x64:
        return gerrorn;
    case 0x98:
        return cmdq_prod;
    case 0x9C:
        return cmdq_cons;
    case 0x100A8:
        return eventq_prod;
    case 0x100AC:
        return eventq_cons;
    default:
        violations.push_back("read of register " + std::to_string(offset));
        return 0;
    }
}

void SmmuModel::check_disabled(const char *what, uint32_t bit)
{
    if ((cr0ack & bit) != 0) {
        violations.push_back(std::string(what) + " changes while it is used");
    }
}

// `order` has a letter for each step that the manual orders.
void SmmuModel::write(uint64_t offset, uint64_t value, unsigned bytes)
{
    const auto word = static_cast<uint32_t>(value);
    const bool wide = offset == 0x68 || offset == 0x80 || offset == 0x90 || offset == 0xA0 || offset == 0xB0;

    if (bytes != (wide ? 8 : 4)) {
        violations.push_back("a register of another size");
    }
    switch (offset) {
    case 0x20:
        if ((word & smmuen) != 0 && (cr0ack & eventqen) == 0) {
            violations.push_back("enabled without a queue for events");
        }
        if ((word & smmuen & ~cr0ack) != 0 && (idr0 & has_ats) != 0 && (cr0ack & atschk) == 0) {
            violations.push_back("translated addresses may pass before they are checked"); // 6.3.9
        }
        if ((word & smmuen) != 0 && entries_are_old) {
            violations.push_back("entries are used that were read before ATSCHK was set"); // 6.3.9.2
        }
        entries_are_old |= ((word ^ cr0ack) & atschk) != 0;
        order += word == 0 ? 'd' : (word & smmuen) != 0 ? 'E' : (word & eventqen) != 0 ? 'v' : 'c';
        cr0 = word;
        if (answers_registers) {
            cr0ack = word;
            take_commands();
            if ((word & smmuen) != 0 && on_enabled) {
                on_enabled();
            }
        }
        break;
    case 0x28:
        check_disabled("CR1", smmuen | cmdqen | eventqen);
        cr1 = word;
        break;
    case 0x2C:
        check_disabled("CR2", smmuen);
        cr2 = word;
        break;
    case 0x44:
        order += 'g';
        gbpa = answers_registers ? word & ~(1u << 31) : word;
        break;
    case 0x50:
        irq_ctrl = word;
        break;
    case 0x64:
        gerrorn = word;
        take_commands();
        break;
    case 0x68:
        gerror_message = value;
        break;
    case 0xB0:
        eventq_message = value;
        break;
    case 0x80:
        check_disabled("STRTAB_BASE", smmuen);
        strtab_base = value;
        break;
    case 0x88:
        check_disabled("STRTAB_BASE_CFG", smmuen);
        strtab_cfg = word;
        break;
    case 0x90:
        check_disabled("CMDQ_BASE", cmdqen);
        cmdq_base = value;
        break;
    case 0x98:
        cmdq_prod = word;
        take_commands();
        break;
    case 0x9C:
        check_disabled("CMDQ_CONS", cmdqen);
        cmdq_cons = word;
        break;
    case 0xA0:
        check_disabled("EVENTQ_BASE", eventqen);
        eventq_base = value;
        break;
    case 0x100A8:
        check_disabled("EVENTQ_PROD", eventqen);
        eventq_prod = word;
        break;
    case 0x100AC:
        if (const auto hook = std::exchange(on_events_taken, nullptr)) {
            hook();
        }
        eventq_cons = word;
        break;
    default:
        violations.push_back("write of register " + std::to_string(offset));
        break;
    }
}

bool SmmuModel::execute(const uint64_t *command)
{
    const auto opcode = static_cast<uint32_t>(command[0] & 0xFF);
    const auto stream = static_cast<uint32_t>(command[0] >> 32);
    const auto vmid = static_cast<uint32_t>(command[0] >> 32 & 0xFFFF);

    switch (opcode) {
    case 0x03: // CFGI_STE
        configurations.erase(stream);
        commands.push_back({opcode, stream, 0});
        return true;
    case 0x04: // CFGI_STE_RANGE, of which all is used
        if ((command[1] & 31) != 31) {
            return false;
        }
        configurations.clear();
        entries_are_old = false;
        commands.push_back({opcode, 0, 0});
        return true;
    case 0x28: // TLBI_S12_VMALL
        std::erase_if(translations, [&](const auto &one) { return one.first.first == vmid; });
        commands.push_back({opcode, 0, vmid});
        return true;
    case 0x30: // TLBI_NSNH_ALL
        translations.clear();
        commands.push_back({opcode, 0, 0});
        return true;
    case 0x46: // SYNC
        commands.push_back({opcode, 0, 0});
        return true;
    default:
        return false;
    }
}

void SmmuModel::take_commands()
{
    if (!delays_commands) {
        run_commands();
    }
}

uint32_t SmmuModel::commands_waiting() const
{
    const uint32_t entries = 1u << (cmdq_base & 31);
    return (cmdq_prod - cmdq_cons) & (2 * entries - 1);
}

void SmmuModel::run_commands(size_t most)
{
    const uint32_t entries = 1u << (cmdq_base & 31);

    while ((cr0ack & cmdqen) != 0 && consumes && ((gerror ^ gerrorn) & gerror_cmdq) == 0 &&
           cmdq_cons != cmdq_prod && most-- != 0) {
        if (((cmdq_prod - cmdq_cons) & (2 * entries - 1)) > entries) {
            violations.push_back("more commands than the queue has");
            return;
        }
        if (!execute(words_at(cmdq_base & address_bits) + size_t{cmdq_cons % entries} * 2)) {
            raise_error(gerror_cmdq);
            return;
        }
        cmdq_cons = (cmdq_cons + 1) & (2 * entries - 1);
    }
}

void SmmuModel::raise_error(uint32_t bits)
{
    aborted_writes += ((bits & ~(gerror ^ gerrorn)) & gerror_eventq_abt) != 0 ? 1 : 0;
    gerror ^= bits & ~(gerror ^ gerrorn);
    if ((irq_ctrl & 1) != 0) {
        fake_gic_raise(109);
    }
}

uint32_t SmmuModel::events_waiting() const
{
    const uint32_t entries = 1u << (eventq_base & 31);
    return (eventq_prod - eventq_cons) & (2 * entries - 1);
}

void SmmuModel::record(uint32_t type, uint32_t stream, uint64_t address, bool write)
{
    const uint32_t entries = 1u << (eventq_base & 31);

    if ((cr0ack & eventqen) == 0) {
        return;
    }
    if (events_waiting() == entries) { // EVENTQ_PROD.OVFLG toggles once until it is acknowledged
        if (((eventq_prod ^ eventq_cons) & overflow) == 0) {
            eventq_prod ^= overflow;
            overflows++;
        }
        return;
    }
    const bool was_empty = events_waiting() == 0;
    recorded[stream]++;
    uint64_t *event = words_at(eventq_base & address_bits) + size_t{eventq_prod % entries} * 4;
    event[0] = type | uint64_t{stream} << 32;
    event[1] = write ? 0 : uint64_t{1} << 35;
    event[2] = address;
    event[3] = 0;
    eventq_prod = (eventq_prod & overflow) | ((eventq_prod + 1) & (2 * entries - 1));
    if ((irq_ctrl & 4) != 0 && was_empty) { // IHI 0070, 3.5; the emulator interrupts for each event
        fake_gic_raise(106);
    }
}

SmmuModel::Fetch SmmuModel::fetch(uint32_t stream, Entry &entry) const
{
    const uint32_t log2size = strtab_cfg & 0x3F;
    const uint32_t split = strtab_cfg >> 6 & 0x1F;
    uint64_t base = strtab_base & 0xFFFFFFFFFFC0;
    uint64_t index = stream;

    if (stream >> log2size != 0) {
        return Fetch::bad_stream;
    }
    if ((strtab_cfg >> 16 & 3) == 1) {
        const uint64_t descriptor = words_at(base & address_bits)[stream >> split];
        const uint32_t span = static_cast<uint32_t>(descriptor & 0x1F);
        index = stream & ((1u << split) - 1);
        if (span == 0) {
            return Fetch::bad_stream;
        }
        if (index >> (span - 1) != 0) {
            return Fetch::bad_stream;
        }
        base = descriptor & 0xFFFFFFFFFFC0;
    }
    const uint64_t *words = words_at(base) + index * 8;
    std::copy(words, words + 8, entry.words);
    const uint64_t config = entry.words[0] >> 1 & 7;
    if ((entry.words[0] & 1) == 0 || config == 5 || config == 7) {
        return Fetch::bad_entry;
    }
    if (config == 6) { // stage 2: AArch64, 4 KiB, from level 1 on, no stall
        const uint64_t format = entry.words[2] >> 32;
        const uint64_t bits = 64 - (format & 0x3F);
        const bool good = (entry.words[2] >> 51 & 1) == 1 && (format >> 6 & 3) == 1 &&
                          (format >> 14 & 3) == 0 && bits > 30 && bits <= 43 &&
                          (entry.words[2] >> 57 & 1) == 0 && (entry.words[1] >> 28 & 3) == 0;
        return good ? Fetch::good : Fetch::bad_entry;
    }
    return Fetch::good;
}

// Three levels, as the tables of the CPUs: blocks at levels 1 and 2, pages at level 3.
std::optional<uint64_t> SmmuModel::walk(const Entry &entry, uint64_t address, bool write,
                                        uint32_t &fault) const
{
    const uint64_t bits = 64 - (entry.words[2] >> 32 & 0x3F);
    uint64_t table = entry.words[3] & 0xFFFFFFFFFFF0;

    fault = 0x10;
    if (address >> bits != 0) {
        return std::nullopt;
    }
    for (unsigned shift = 30;; shift -= 9) {
        const uint64_t descriptor = words_at(table)[address >> shift & 0x1FF];
        if ((descriptor & 1) == 0) {
            return std::nullopt;
        }
        if (shift == 12 || (descriptor & 2) == 0) {
            const uint64_t rights = descriptor >> 6 & 3;
            fault = 0x13;
            if ((rights & (write ? 2 : 1)) == 0) {
                return std::nullopt;
            }
            const uint64_t inside = (uint64_t{1} << shift) - 1;
            return ((descriptor & address_bits) & ~inside) | (address & inside);
        }
        table = descriptor & address_bits;
    }
}

std::optional<uint64_t> SmmuModel::refuse(uint32_t type, uint32_t stream, uint64_t address, bool write)
{
    record(type, stream, address, write);
    return std::nullopt;
}

// With ATS, addresses that a function calls translated are checked only if CR0.ATSCHK says so; then EATS of
// the entry must allow them.
std::optional<uint64_t> SmmuModel::translated_access(uint32_t stream, uint64_t address)
{
    Entry entry{};
    if ((idr0 & has_ats) == 0 || (cr0ack & smmuen) == 0) {
        return std::nullopt;
    }
    if ((cr0ack & atschk) == 0) {
        return address;
    }
    const bool good = fetch(stream, entry) == Fetch::good;
    if (good && (entry.words[1] >> 28 & 3) != 0) {
        return address;
    }
    return good && (entry.words[0] & 0xF) != 1 ? refuse(transl_forbidden, stream, address, true)
                                               : std::nullopt;
}

std::optional<uint64_t> SmmuModel::access(uint32_t stream, uint64_t address, bool write)
{
    if ((cr0ack & smmuen) == 0) {
        return (gbpa >> 20 & 1) != 0 ? std::nullopt : std::optional(address);
    }
    auto known = configurations.find(stream);
    if (known == configurations.end()) {
        Entry entry{};
        switch (fetch(stream, entry)) {
        case Fetch::bad_stream:
            return (cr2 & 2) != 0 ? refuse(0x02, stream, address, write) : std::nullopt;
        case Fetch::bad_entry:
            return refuse(0x04, stream, address, write);
        case Fetch::good:
            known = configurations.emplace(stream, entry).first;
        }
    }
    const Entry &entry = known->second;
    const uint64_t config = entry.words[0] >> 1 & 7;
    if (config == 0) {
        return std::nullopt; // without an event
    }
    if (config == 4) {
        return address;
    }
    const std::pair key{static_cast<uint32_t>(entry.words[2] & 0xFFFF), address >> 12 << 1 | (write ? 1 : 0)};
    const auto cached = translations.find(key);
    if (cached != translations.end()) {
        return cached->second | (address & 0xFFF);
    }
    uint32_t fault = 0;
    const auto found = walk(entry, address, write, fault);
    if (!found) {
        return (entry.words[2] >> 58 & 1) != 0 ? refuse(fault, stream, address, write) : std::nullopt;
    }
    translations[key] = *found & ~uint64_t{0xFFF};
    return found;
}

} // namespace bulkhead_test
