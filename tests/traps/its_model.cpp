// SPDX-License-Identifier: Apache-2.0
// The model of an ITS; see the header.
#include "its_model.h"

#include <bit>
#include <cstddef>
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

constexpr uint64_t valid = 1ull << 63, indirect = 1ull << 62;
constexpr uint64_t page_bytes = 0x1000, large_page_bytes = 0x10000;
constexpr uint64_t shareability = 3u << 10;
constexpr uint32_t first_lpi = 8192;
constexpr uint32_t enabled = 1, quiescent = 1u << 31;
constexpr uint32_t enable_lpis_bit = 1;
constexpr uint64_t read_ticks = 62; // 1 us for each read of a register

ItsModel *plugged;

// Memory of the pool as the ITS reads and writes it.
template <typename Word> Word *memory_at(uint64_t pa)
{
    return static_cast<Word *>(pool_pointer(system_pool(), paddr(pa)));
}

void time_passes()
{
    fake_clock_set(fake_sysreg(SYSREG_ID_CNTPCT_EL0) + read_ticks);
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

bool on_redistributor(uint32_t core, uint64_t offset, bool write, uint64_t *value)
{
    return plugged->access_redistributor(core, offset, write, *value);
}

// Fields of GITS_BASER<n> that cannot be written; 0: there is no such table.
uint64_t fixed_fields(const ItsModel::Table &table)
{
    return table.type == 0 ? 0
                           : uint64_t{table.type} << 56 | uint64_t{table.entry_bytes - 1} << 48 |
                                 (table.only_large_pages ? 2u << 8 : 0);
}

uint64_t field(uint64_t word, unsigned high, unsigned low)
{
    return word >> low & ((2ull << (high - low)) - 1);
}

} // namespace

void ItsModel::plug_in(uint64_t pa, uint64_t pending_pa)
{
    plugged = this;
    pending_pa_ = pending_pa;
    fake_map(pa, 0x20000, on_read, on_write);
    fake_map(pending_pa, redistributors.size() * 0x10000, nullptr, nullptr);
    for (uint64_t core = 0; core < redistributors.size() && !memory_is_clear; core++) {
        fake_set_mmio32(pending_pa + core * 0x10000 + 0x404, 8);
    }
    fake_gic_hook_lpis(on_redistributor, keeps_active);
}

void ItsModel::violate(bool violated, const std::string &what)
{
    if (violated) {
        violations.push_back(what);
    }
}

uint64_t ItsModel::read(uint64_t offset)
{
    time_passes();
    switch (offset) {
    case 0x00:
        return ctlr | ((ctlr & enabled) == 0 && becomes_quiet ? quiescent : 0);
    case 0x08:
        return typer;
    case 0x80:
        return cbaser;
    case 0x88:
        return cwriter;
    case 0x90:
        if (pace == Pace::at_reads && creadr != cwriter) {
            execute_one();
        }
        return creadr | (pace == Pace::stalled && creadr != cwriter ? 1 : 0);
    default:
        if (offset >= 0x100 && offset < 0x140 && offset % 8 == 0) {
            return baser[(offset - 0x100) / 8] | fixed_fields(tables[(offset - 0x100) / 8]);
        }
        violations.push_back("read of register " + std::to_string(offset));
        return 0;
    }
}

// `order` has a letter for each step: silent, tables, queue, enabled.
void ItsModel::write(uint64_t offset, uint64_t value, unsigned bytes)
{
    violate(bytes != (offset == 0 ? 4 : 8), "a register of another size");
    if (offset == 0) {
        const bool before = (ctlr & enabled) != 0;
        ctlr = static_cast<uint32_t>(value) & enabled;
        order += ctlr != 0 ? 'E' : 's';
        if (!before && ctlr != 0) {
            enable();
        }
        return;
    }
    violate((ctlr & enabled) != 0 && offset != 0x88, "a base changes while the ITS is enabled");
    if (offset == 0x80) {
        cbaser = queue_is_coherent ? value : value & ~shareability;
        creadr = 0;
        order += 'q';
    } else if (offset == 0x88) {
        if (value % 32 != 0 || value >= (field(cbaser, 7, 0) + 1) * page_bytes) {
            violations.push_back("CWRITER is beyond the queue");
            return;
        }
        cwriter = value;
        run();
    } else if (offset >= 0x100 && offset < 0x140 && offset % 8 == 0) {
        const size_t n = (offset - 0x100) / 8;
        const Table &table = tables[n];
        constexpr uint64_t not_written = 7ull << 56 | 0x1Full << 48;
        uint64_t kept = value & ~(table.only_large_pages ? not_written | 3u << 8 : not_written);
        if (table.type == 0) {
            return;
        }
        kept = table.coherent ? kept : kept & ~shareability;
        kept = table.has_levels ? kept : kept & ~indirect;
        baser[n] = kept | fixed_fields(table);
        if ((value & valid) != 0) {
            order += 't';
        }
    } else {
        violations.push_back("write of register " + std::to_string(offset));
    }
}

// What the registers must be when the ITS starts to use them: memory that is all zero, and no two tables in
// one place.
void ItsModel::enable()
{
    std::vector<uint64_t> places{cbaser & 0xFFFFFFFFFF000};
    violate((cbaser & valid) == 0, "enabled without a queue");
    for (const uint64_t base : baser) {
        if ((base & valid) == 0) {
            continue;
        }
        const uint64_t bytes =
            (field(base, 7, 0) + 1) * (field(base, 9, 8) == 0 ? page_bytes : large_page_bytes);
        const uint64_t place = base & 0xFFFFFFFFF000;
        for (uint64_t done = 0; done < bytes; done += 8) {
            violate(*memory_at<uint64_t>(place + done) != 0, "a table is not zero");
        }
        places.push_back(place);
    }
    for (size_t i = 0; i < places.size(); i++) {
        for (size_t j = 0; j < i; j++) {
            violate(places[i] == places[j], "two tables in one place");
        }
    }
    bool has_devices = false;
    for (const uint64_t base : baser) {
        has_devices = has_devices || ((base & valid) != 0 && field(base, 58, 56) == 1);
    }
    violate(!has_devices, "enabled without a table of devices");
    violate(entry(4, 0) == nullptr, "enabled without a table of collections");
    run();
}

// The entry of a device (1) or of a collection (4); nullptr: its table has no room for it.
uint64_t *ItsModel::entry(uint32_t type, uint32_t index)
{
    for (const uint64_t base : baser) {
        const uint64_t bytes = field(base, 52, 48) + 1;
        const uint64_t room = (field(base, 7, 0) + 1) * page_bytes;
        if ((base & valid) == 0 || field(base, 58, 56) != type) {
            continue;
        }
        if ((base & indirect) != 0) { // the table has addresses of pages with entries
            const uint64_t in_page = page_bytes / bytes;
            if ((index / in_page + 1) * 8 <= room) {
                const uint64_t page = *memory_at<uint64_t>((base & 0xFFFFFFFFF000) + index / in_page * 8);
                if ((page & valid) != 0) {
                    return memory_at<uint64_t>((page & 0xFFFFFFFFF000) + index % in_page * bytes);
                }
            }
        } else if ((index + 1) * bytes <= room) {
            return memory_at<uint64_t>((base & 0xFFFFFFFFF000) + index * bytes);
        }
    }
    return nullptr;
}

// A device's entry is the address of its table, which is 256-byte aligned, with the bits of event ids below.
uint64_t *ItsModel::event_entry(uint32_t device, uint32_t event)
{
    const uint64_t *one = device >> (field(typer, 17, 13) + 1) == 0 ? entry(1, device) : nullptr;
    if (one == nullptr || (*one & valid) == 0 || event >> (field(*one, 4, 0) + 1) != 0) {
        return nullptr;
    }
    return memory_at<uint64_t>((*one & 0xFFFFFFFFFFF00) + event * (field(typer, 7, 4) + 1));
}

void ItsModel::execute(const uint64_t *command)
{
    const auto device = static_cast<uint32_t>(command[0] >> 32), event = static_cast<uint32_t>(command[1]);
    const auto lpi = static_cast<uint32_t>(command[1] >> 32);
    const auto collection = static_cast<uint32_t>(field(command[2], 15, 0));
    const uint64_t target = field(command[2], 50, 16);

    commands.push_back({command[0], command[1], command[2], command[3]});
    switch (command[0] & 0xFF) {
    case 0x05:
        violate((typer >> 19 & 1) == 0 && target >= redistributors.size(), "SYNC of no redistributor");
        break;
    case 0x08: {
        uint64_t *one = entry(1, device);
        const uint64_t bits = field(command[1], 4, 0);
        violate(one == nullptr || device >> (field(typer, 17, 13) + 1) != 0, "MAPD: no such device");
        violate(bits > field(typer, 12, 8), "MAPD: too many events");
        if (one == nullptr) {
            break;
        }
        const uint64_t table = command[2] & 0xFFFFFFFFFFF00;
        for (uint64_t done = 0; done < (field(typer, 7, 4) + 1) << (bits + 1); done += 8) {
            violate(*memory_at<uint64_t>(table + done) != 0, "MAPD: the table is not zero");
        }
        *one = (command[2] & valid) | table | bits;
        break;
    }
    case 0x09: {
        uint64_t *one = entry(4, collection);
        const bool by_address = (typer >> 19 & 1) != 0;
        const uint64_t core = by_address ? ((command[2] & 0x7FFFFFFFF0000) - 0x080A0000) / 0x20000 : target;
        violate(one == nullptr, "MAPC: no such collection");
        violate(core >= redistributors.size(), "MAPC: no such redistributor");
        if (one != nullptr) {
            *one = (command[2] & valid) | core;
        }
        break;
    }
    case 0x0A: {
        uint64_t *one = event_entry(device, event);
        violate(one == nullptr, "MAPTI: no such event");
        violate(lpi < first_lpi || lpi >= first_lpi + 8192, "MAPTI: no LPI");
        violate(entry(4, collection) == nullptr, "MAPTI: no such collection");
        if (one != nullptr) {
            violate((*one & valid) != 0, "MAPTI: mapped already");
            *one = valid | uint64_t{lpi} << 16 | collection;
        }
        break;
    }
    default:
        violations.push_back("command " + std::to_string(command[0] & 0xFF));
        break;
    }
}

void ItsModel::execute_one()
{
    execute(memory_at<uint64_t>((cbaser & 0xFFFFFFFFFF000) + creadr));
    creadr = (creadr + 32) % ((field(cbaser, 7, 0) + 1) * page_bytes);
}

void ItsModel::run()
{
    while ((ctlr & enabled) != 0 && pace == Pace::at_once && creadr != cwriter) {
        execute_one();
    }
}

std::optional<ItsModel::Signal> ItsModel::message(uint32_t device, uint32_t event)
{
    const uint64_t *one = (ctlr & enabled) != 0 ? event_entry(device, event) : nullptr;
    if (one == nullptr || (*one & valid) == 0) {
        return std::nullopt;
    }
    const uint64_t *to = entry(4, static_cast<uint32_t>(field(*one, 15, 0)));
    if (to == nullptr || (*to & valid) == 0) {
        return std::nullopt;
    }
    const Signal signal{static_cast<uint32_t>(*to & 0xFF), static_cast<uint32_t>(field(*one, 47, 16))};
    const Redistributor &redistributor = redistributors[signal.core];
    const uint8_t property =
        *memory_at<uint8_t>((redistributor.propbaser & 0xFFFFFFFFFF000) + signal.intid - first_lpi);
    if ((redistributor.ctlr & enable_lpis_bit) == 0 || (property & 1) == 0) {
        return std::nullopt;
    }
    fake_gic_pend_lpi(signal.core, signal.intid);
    return signal;
}

void ItsModel::enable_lpis(uint32_t core)
{
    const Redistributor &one = redistributors[core];
    const uint64_t table = one.pendbaser & 0xFFFFFFFFF0000;
    violate(field(one.propbaser, 4, 0) < 13, "fewer than 14 bits of LPIs");
    violate(table != pending_pa_ + core * 0x10000ull, "the table of pending LPIs is elsewhere");
    violate((one.pendbaser & 1ull << 62) == 0, "the redistributor reads a table that is zero");
    for (uint64_t done = 0; done < 0x800; done += 4) {
        violate(fake_mmio32(table + done) != 0, "the table of pending LPIs is not zero");
    }
}

bool ItsModel::access_redistributor(uint32_t core, uint64_t offset, bool write, uint64_t &value)
{
    Redistributor &one = redistributors[core];
    const bool is_enabled = (one.ctlr & enable_lpis_bit) != 0;

    switch (offset) {
    case 0x00:
        if (!write) {
            time_passes();
            value = one.ctlr;
        } else if (is_enabled && (value & enable_lpis_bit) == 0) {
            one.ctlr = lpis_can_be_disabled ? 0 : one.ctlr;
        } else if (!is_enabled && (value & enable_lpis_bit) != 0) {
            one.ctlr = enable_lpis_bit;
            enable_lpis(core);
        }
        return true;
    case 0x08:
        value |= !write && redistributors_have_lpis ? 1 : 0;
        return true;
    case 0x70:
        violate(write && is_enabled, "PROPBASER changes while LPIs are enabled");
        if (write) {
            one.propbaser = properties_are_coherent ? value : value & ~shareability;
        }
        value = one.propbaser;
        return true;
    case 0x78:
        violate(write && is_enabled, "PENDBASER changes while LPIs are enabled");
        if (write) {
            one.pendbaser = value;
        }
        value = one.pendbaser & ~(1ull << 62); // reads as zero
        return true;
    default:
        return false;
    }
}

} // namespace bulkhead_test
