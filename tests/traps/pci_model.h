// SPDX-License-Identifier: Apache-2.0
//
// Configuration space of a PCI bus beneath its driver's tests, written from the specification and not from
// the driver: registers with the bits that can be written, BARs, capabilities, function-level reset.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bulkhead_test {

class PciModel {
public:
    static constexpr uint32_t memory = 2, master = 4, intx_off = 0x400;
    static constexpr uint32_t msi = 0x40, express = 0x60, msix = 0x80;
    static constexpr uint32_t msix_enable = 1u << 31, msix_mask = 1u << 30;

    struct Function {
        std::map<uint32_t, uint32_t> words;    // by offset
        std::map<uint32_t, uint32_t> writable; // bits of them
        unsigned resets = 0;
        bool gone = false;       // it does not answer
        bool unanswered = false; // no read has followed a write that has an effect on accesses to memory

        uint32_t command() const { return words.at(4) & 0xFFFF; }
    };

    std::map<uint32_t, Function> functions;   // by slot << 3 | number
    std::vector<std::string> violations;      // of the specification, by the driver
    std::function<void(uint32_t)> on_command; // called with the slot before a command register changes
    unsigned reads = 0, writes = 0;           // of all functions

    // A function that a boot loader has left running. `bars`: registers with the size, and the kind below.
    Function &add(uint32_t slot, uint32_t id, const std::map<uint32_t, uint64_t> &bars);
    // Gives it PCI Express with function-level reset, behind MSI, which is enabled.
    static void give_reset(Function &function);
    // Gives it as many message interrupts (MSI-X), which are enabled, behind the other capabilities.
    static void give_messages(Function &function, uint32_t count);
    // Whether it writes messages instead of using its line; messages are writes to memory.
    static bool writes_messages(const Function &function)
    {
        return (function.words.at(msix) & msix_enable) != 0 && (function.command() & master) != 0;
    }

    // Clears what can be written, as a reset does: the driver's, or one that the guest causes.
    static void reset(Function &function);

    // Maps it; called after fake_reset().
    void plug_in(uint64_t pa);

    uint32_t read(uint64_t offset);
    void write(uint64_t offset, uint32_t value);

private:
    Function *at(uint64_t offset);
};

} // namespace bulkhead_test
