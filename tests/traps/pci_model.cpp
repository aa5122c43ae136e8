// SPDX-License-Identifier: Apache-2.0
// The model of configuration space; see the header.
#include "pci_model.h"

#include <stdatomic.h>

extern "C" {
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

namespace {

constexpr uint32_t reset_bit = 0x8000, reset_capable = 1u << 28;

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
    Function &one = functions[slot << 3];
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

void PciModel::plug_in(uint64_t pa)
{
    plugged = this;
    fake_map(pa, 0x100000, on_read, on_write);
}

PciModel::Function *PciModel::at(uint64_t offset)
{
    const auto found = functions.find(static_cast<uint32_t>(offset >> 12));
    return found == functions.end() || found->second.gone ? nullptr : &found->second;
}

uint32_t PciModel::read(uint64_t offset)
{
    Function *one = at(offset);
    reads++;
    if (one == nullptr) {
        return 0xFFFFFFFF;
    }
    one->unanswered = false;
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
    const uint32_t bits = one->writable[place];
    const uint32_t after = (one->words[place] & ~bits) | (value & bits);
    if (place >= 0x10 && place < 0x28 && (one->command() & memory) != 0 && after != one->words[place]) {
        violations.push_back("a BAR moves while the function answers there");
    }
    one->unanswered |= place != 4 || ((after ^ one->words[4]) & (memory | master)) != 0;
    if (place == express + 8 && (value & reset_bit) != 0 && (one->words[express + 4] & reset_capable) != 0) {
        one->resets++;
        reset(*one);
        return;
    }
    if (place == 4 && on_command) {
        on_command(static_cast<uint32_t>(offset >> 15));
    }
    one->words[place] = after;
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
