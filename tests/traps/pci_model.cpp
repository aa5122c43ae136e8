// SPDX-License-Identifier: Apache-2.0
// The model of configuration space; see the header.
#include "pci_model.h"

#include <stdatomic.h>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_registers.h"
#include "vm/clock.h"
}

namespace bulkhead_test {

namespace {

constexpr uint32_t reset_bit = 0x8000, reset_capable = 1u << 28;
constexpr uint32_t bus_bytes = 0x100000;
constexpr uint32_t no_bridge = ~0u;
constexpr uint32_t bus_numbers = 0x18, memory_window = 0x20, prefetchable = 0x24;
constexpr uint32_t needed_acs = 0x1D; // source validation, both redirections, upstream forwarding
constexpr uint64_t read_ticks = 1000; // of a board with bridges, so that waits end

PciModel *plugged;

bool on_read(uint64_t offset, unsigned bytes, uint64_t *value)
{
    if (bytes != 4) {
        plugged->violations.push_back("an access of " + std::to_string(bytes) + " bytes");
    }
    *value = plugged->read(offset);
    return true;
}

bool on_write(uint64_t offset, unsigned, uint64_t value)
{
    plugged->write(offset, static_cast<uint32_t>(value));
    return true;
}

} // namespace

PciModel::Function &PciModel::add(uint32_t slot, uint32_t id, const std::map<uint32_t, uint64_t> &bars)
{
    return fill(functions[slot << 3], id, bars);
}

PciModel::Function &PciModel::add_behind(uint32_t bridge, uint32_t place, uint32_t id,
                                         const std::map<uint32_t, uint64_t> &bars)
{
    return fill(links[bridge][place], id, bars);
}

PciModel::Function &PciModel::fill(Function &one, uint32_t id, const std::map<uint32_t, uint64_t> &bars)
{
    one.words = {{0, id}, {4, memory | master}, {8, 0x00FF0000}, {0x0C, 0}, {0x3C, 0x100}};
    one.words[0x30] = 0xFFFC0001; // the boot loader has run its ROM
    one.writable = {{4, memory | master | intx_off}, {0x30, 0xFFFC0001}};
    for (const auto &[offset, bar] : bars) {
        const uint64_t kind = bar & 0xF, mask = ~((bar & ~uint64_t{0xF}) - 1);
        one.words[offset] = static_cast<uint32_t>(kind);
        one.writable[offset] = static_cast<uint32_t>(mask) & 0xFFFFFFF0;
        if ((kind & 4) != 0) {
            one.words[offset + 4] = 0;
            one.writable[offset + 4] = static_cast<uint32_t>(mask >> 32);
        }
    }
    return one;
}

PciModel::Function &PciModel::add_bridge(uint32_t bridge, uint32_t id, uint32_t acs_bits)
{
    Function &one = functions[bridge];
    one.words = {{0, id},
                 {4, memory | master | 1},
                 {8, 0x06040000},
                 {0x0C, 0x00010000},
                 {0x18, 0x090900},
                 {0x1C, 0x0000E0E0},
                 {0x20, 0xEFF0E000},
                 {prefetchable, 0xFFF10001},
                 {0x28, 0},
                 {0x2C, 1},
                 {0x30, 0},
                 {bridge_control, 0x100}};
    one.writable = {{4, memory | master | intx_off | 1},
                    {bus_numbers, 0xFFFFFF},
                    {0x1C, 0xF0F0},
                    {memory_window, 0xFFF0FFF0},
                    {prefetchable, 0xFFF0FFF0},
                    {0x28, 0xFFFFFFFF},
                    {0x2C, 0xFFFFFFFF},
                    {bridge_control, 0x00FF0000}};
    give_acs(one, acs_bits);
    give_own_registers(one);
    links[bridge];
    return one;
}

// A BAR in the window of functions, a ROM, MSI and MSI-X that are enabled, payloads of 512 bytes, ARI; a root
// port that can return PCI_NOT_READY.
void PciModel::give_own_registers(Function &bridge)
{
    const std::map<uint32_t, uint32_t> words = {{0x10, bridge_bar},
                                                {bridge_rom, bridge_bar | 1},
                                                {0x34, msi},
                                                {msi, 1u << 16 | express << 8 | 0x05},
                                                {express, 0x00420010 | bridge_msix << 8},
                                                {express + 8, 0x2850},
                                                {express + 0x1C, 0x10000},
                                                {express + 0x28, 0x20},
                                                {bridge_msix, msix_enable | 0x11}};
    for (const auto &[offset, word] : words) {
        bridge.words[offset] = word;
    }
    bridge.words[4] |= 1u << 20;
    bridge.writable[0x10] = 0xFFFFF000;
    bridge.writable[bridge_rom] = 0xFFFFF801;
    bridge.writable[msi] = 1u << 16;
    bridge.writable[express + 8] = 0x7FFF;
    bridge.writable[express + 0x1C] = 0x1F;
    bridge.writable[express + 0x28] = 0x20;
    bridge.writable[bridge_msix] = msix_enable | msix_mask;
}

void PciModel::give_acs(Function &function, uint32_t bits)
{
    function.words[0x100] = 0x0001000D;
    function.words[acs] = bits;
    // With the enhanced capability also: requests from below to the port's own registers, 2 bits.
    function.writable[acs] = (bits & 0x7F) << 16 | ((bits & 0x80) != 0 ? 0x300u << 16 : 0);
}

void PciModel::give_reset(Function &function)
{
    function.words[4] |= 1u << 20;
    function.words[0x34] = msi;
    function.words[msi] = 1u << 16 | express << 8 | 0x05;
    function.writable[msi] = 1u << 16;
    function.words[express] = 0x00020000 | msi << 8 | 0x10; // the list is a circle
    function.words[express + 4] = reset_capable;
    function.words[express + 8] = 0x2810;
    function.writable[express + 8] = 0x7FFF;
}

void PciModel::give_messages(Function &function, uint32_t count)
{
    const bool alone = (function.words[4] & 1u << 20) == 0;
    function.words[4] |= 1u << 20;
    function.words[msix] = msix_enable | msix_mask | (count - 1) << 16 | 0x11;
    function.writable[msix] = msix_enable | msix_mask;
    function.words[msix + 4] = 0x2000;
    function.words[msix + 8] = 0x3000;
    if (alone) {
        function.words[0x34] = msix;
    } else { // the last one in the circle of give_reset()
        function.words[express] = (function.words[express] & ~0xFF00u) | msix << 8;
        function.words[msix] |= msi << 8;
    }
}

void PciModel::give_virtio(Function &function, uint32_t bar)
{
    const uint32_t first = (function.words[4] & 1u << 20) != 0 ? function.words[0x34] : 0;
    function.words[4] |= 1u << 20;
    function.words[0x34] = virtio;
    for (uint32_t type = 1; type <= 5; type++) {
        const uint32_t at = virtio + (type - 1) * 0x14, next = type == 5 ? first : at + 0x14;
        function.words[at] = type << 24 | (type == 2 || type == 5 ? 20u : 16u) << 16 | next << 8 | 0x09;
        if (type < 5) {
            function.words[at + 4] = bar;
            function.words[at + 8] = 0x1000 * (type - 1);
            function.words[at + 0xC] = 0x1000;
        }
    }
    function.words[virtio + 0x14 + 0x10] = 4; // the multiplier of notifications
    for (uint32_t word = 4; word < 20; word += 4) {
        function.writable[virtio_window + word] = 0xFFFFFFFF;
    }
}

void PciModel::plug_in(uint64_t pa)
{
    plugged = this;
    fake_map(pa, links.empty() ? bus_bytes : 3 * bus_bytes, on_read, on_write);
}

// The bridge that passes accesses to the bus on.
uint32_t PciModel::bridge_to(uint32_t bus)
{
    uint32_t found = no_bridge;
    for (const auto &[bridge, behind] : links) {
        const uint32_t numbers = functions.at(bridge).words.at(bus_numbers);
        if ((numbers >> 8 & 0xFF) <= bus && bus <= (numbers >> 16 & 0xFF)) {
            if (found != no_bridge) {
                violations.push_back("two bridges to one bus");
            }
            found = bridge;
        }
    }
    return found;
}

bool PciModel::is_in_reset(uint32_t bridge)
{
    return (functions.at(bridge).words.at(bridge_control) & bus_reset) != 0;
}

// PCI Express Base 6.6.1: nobody asks a function earlier than 100 ms after its reset.
void PciModel::asked(uint32_t bridge)
{
    if (!is_in_reset(bridge) && clock_now() - bus_resets[bridge].ended < clock_ticks(100'000'000)) {
        violations.push_back("a function is asked too early after a reset of its bus");
    }
}

PciModel::Function *PciModel::at(uint64_t offset)
{
    const auto place = static_cast<uint32_t>(offset >> 12);
    const uint32_t bus = place >> 8;
    const uint32_t bridge = bus == 0 ? no_bridge : bridge_to(bus);
    if (bus != 0 && bridge == no_bridge) {
        return nullptr;
    }
    auto &there = bus == 0 ? functions : links.at(bridge);
    const auto found = there.find(place & 0xFF);
    if (bus != 0) {
        asked(bridge);
    }
    return found == there.end() || found->second.gone || (bus != 0 && is_in_reset(bridge)) ? nullptr
                                                                                           : &found->second;
}

void PciModel::control_bridge(uint32_t bridge, uint32_t before, uint32_t after)
{
    Reset &state = bus_resets[bridge];
    if ((after & ~before & bus_reset) != 0) {
        state.count++;
        state.began = clock_now();
        for (auto &[place, function] : links.at(bridge)) {
            function.resets++;
            reset(function);
        }
    } else if ((before & ~after & bus_reset) != 0) {
        state.ended = clock_now();
        if (state.ended - state.began < clock_ticks(1'000'000)) {
            violations.push_back("a reset of a bus of less than 1 ms");
        }
    }
}

// What must hold when a bridge passes requests of functions up.
void PciModel::check_bridge(const Function &bridge)
{
    const uint32_t control = bridge.words.at(acs) >> 16, window = bridge.words.at(memory_window);
    if ((control & needed_acs) != needed_acs || (control & 0x60) != 0) {
        violations.push_back("a bridge passes requests that its ACS does not keep apart");
    }
    if ((window & 0xFFF0) << 16 > (window & 0xFFF00000)) {
        violations.push_back("a bridge without a window");
    }
    const uint64_t first = uint64_t{bridge.words.at(0x28)} << 32 | (bridge.words.at(prefetchable) & 0xFFF0)
                                                                       << 16;
    const uint64_t last =
        uint64_t{bridge.words.at(0x2C)} << 32 | (bridge.words.at(prefetchable) & 0xFFF00000);
    if (first <= last || (bridge.command() & 1) != 0) {
        violations.push_back("a bridge has a window that nobody planned");
    }
    if ((bridge.words.at(0x10) | bridge.words.at(bridge_rom)) != 0) {
        violations.push_back("a bridge answers itself where functions are");
    }
    if ((bridge.words.at(msi) & 1u << 16) != 0 || (bridge.words.at(bridge_msix) & msix_enable) != 0) {
        violations.push_back("a bridge can write messages");
    }
    if ((bridge.words.at(express + 8) & 0xE0) != 0 || bridge.words.at(express + 0x28) != 0 ||
        (bridge.words.at(express + 0x1C) & 0x10) == 0) {
        violations.push_back("a bridge has the payloads, ARI or waiting that a boot loader has set");
    }
}

// A function that answers is where its bridge passes accesses on.
void PciModel::check_window(const Function &bridge, const Function &function)
{
    const uint32_t window = bridge.words.at(memory_window);
    for (uint32_t bar = 0x10; bar < 0x28; bar += 4) {
        const uint32_t bits = function.writable.contains(bar) ? function.writable.at(bar) : 0;
        const uint32_t first = bits == 0 ? 0 : function.words.at(bar) & bits;
        if (first != 0 && (first < (window & 0xFFF0) << 16 || first + ~bits > (window | 0xFFFFF))) {
            violations.push_back("a function answers where its bridge passes nothing on");
        }
    }
}

// Of a function that is not ready only the first word is read at once. PCI Express Base 6.6.2: nobody asks a
// function earlier than 100 ms after its reset.
void PciModel::check_ready(const Function &function, uint32_t place, bool write)
{
    if (function.reset_at && clock_now() - *function.reset_at < clock_ticks(100'000'000)) {
        violations.push_back("a function is asked too early after its reset");
    }
    if (function.words.at(0) == not_ready && (place != 0 || write)) {
        violations.push_back("an access waits until a function is ready");
    }
}

uint32_t PciModel::read(uint64_t offset)
{
    if (!links.empty()) {
        fake_clock_set(clock_now() + read_ticks);
    } else if (offset == 0) { // what is read while nothing else may be asked
        fake_clock_set(clock_now() + clock_ticks(1'000'000));
    }
    Function *one = at(offset);
    reads++;
    if (one == nullptr) {
        return 0xFFFFFFFF;
    }
    one->unanswered = false;
    check_ready(*one, static_cast<uint32_t>(offset & 0xFFF), false);
    const auto found = one->words.find(static_cast<uint32_t>(offset & 0xFFF));
    return found == one->words.end() ? 0 : found->second;
}

void PciModel::write(uint64_t offset, uint32_t value)
{
    Function *one = at(offset);
    const auto place = static_cast<uint32_t>(offset & 0xFFF);
    writes++;
    if (one == nullptr) {
        violations.push_back("a write where no function is");
        return;
    }
    check_ready(*one, place, true);
    const uint32_t bits = one->writable[place];
    const uint32_t after = (one->words[place] & ~bits) | (value & bits);
    if (place >= 0x10 && place < 0x28 && (one->command() & memory) != 0 && after != one->words[place]) {
        violations.push_back("a BAR moves while the function answers there");
    }
    one->unanswered |= place != 4 || ((after ^ one->words[4]) & (memory | master)) != 0;
    if (place == express + 8 && (value & reset_bit) != 0 && (one->words[express + 4] & reset_capable) != 0) {
        one->resets++;
        one->reset_at = clock_now();
        reset(*one);
        if (on_reset) {
            on_reset(*one);
        }
        return;
    }
    if (place == 4 && on_command) {
        on_command(static_cast<uint32_t>(offset >> 15));
    }
    const auto requester = static_cast<uint32_t>(offset >> 12);
    const uint32_t before = one->words[place];
    one->words[place] = after;
    if (links.contains(requester)) {
        if (place == bridge_control) {
            control_bridge(requester, before, after);
        } else if (place == 4 && (after & master) != 0) {
            check_bridge(*one);
        }
        return;
    }
    if (place == 4 && (after & memory) != 0 && requester >> 8 != 0) {
        check_window(functions.at(bridge_to(requester >> 8)), *one);
    }
    if (place == 4 && (after & memory) != 0) {
        for (uint32_t bar = 0x10; bar < 0x28; bar += 4) {
            if (one->writable[bar] != 0 && (one->words[bar] & one->writable[bar]) == 0 &&
                (bar == 0x10 || (one->words[bar - 4] & 6) != 4)) {
                violations.push_back("a function answers at a BAR that has no place");
            }
        }
    }
}

void PciModel::reset(Function &function)
{
    for (const auto &[offset, bits] : function.writable) {
        function.words[offset] &= ~bits;
    }
}

} // namespace bulkhead_test
