// SPDX-License-Identifier: Apache-2.0
//
// Configuration space of PCI beneath its driver's tests, written from the specification and not from the
// driver: registers with the bits that can be written, BARs, capabilities, function-level reset; bridges with
// their bus numbers, windows, ACS and the reset of the bus behind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead_test {

class PciModel {
public:
    static constexpr uint32_t memory = 2, master = 4, intx_off = 0x400;
    static constexpr uint32_t msi = 0x40, express = 0x60, msix = 0x80;
    static constexpr uint32_t virtio = 0xA0, virtio_window = virtio + 4 * 0x14; // by type from 1 on
    static constexpr uint32_t msix_enable = 1u << 31, msix_mask = 1u << 30;
    static constexpr uint32_t acs = 0x104, bridge_control = 0x3C, bus_reset = 1u << 22;
    static constexpr uint32_t not_ready = 0xFFFF0001; // as vendor and device: "Request Retry Status"
    static constexpr uint32_t bridge_rom = 0x38, bridge_msix = 0xA0;
    static constexpr uint32_t bridge_bar = 0x10000000; // where a boot loader has placed its registers

    struct Function {
        std::map<uint32_t, uint32_t> words;    // by offset
        std::map<uint32_t, uint32_t> writable; // bits of them
        unsigned resets = 0;
        std::optional<uint64_t> reset_at; // counter value of the last function-level reset
        bool gone = false;                // it does not answer
        bool unanswered = false; // no read has followed a write that has an effect on accesses to memory

        uint32_t command() const { return words.at(4) & 0xFFFF; }
    };

    std::map<uint32_t, Function> functions;                 // on bus 0, by slot << 3 | number
    std::map<uint32_t, std::map<uint32_t, Function>> links; // the same behind each bridge, by the bridge
    struct Reset {
        unsigned count = 0;
        uint64_t began = 0, ended = 0; // counter values
    };
    std::map<uint32_t, Reset> bus_resets;     // by the bridge
    std::vector<std::string> violations;      // of the specification, by the driver
    std::function<void(Function &)> on_reset; // called after a function-level reset
    std::function<void(uint32_t)> on_command; // called with the slot before a command register changes
    unsigned reads = 0, writes = 0;           // of all functions

    // A function that a boot loader has left running. `bars`: registers with the size, and the kind below.
    Function &add(uint32_t slot, uint32_t id, const std::map<uint32_t, uint64_t> &bars);
    // A bridge that a boot loader has left in use, with everything behind it; its ACS has `acs_bits`.
    Function &add_bridge(uint32_t bridge, uint32_t id, uint32_t acs_bits = 0x1F);
    // A function behind it, as add().
    Function &add_behind(uint32_t bridge, uint32_t place, uint32_t id,
                         const std::map<uint32_t, uint64_t> &bars);
    static void give_acs(Function &function, uint32_t bits);
    // Gives it PCI Express with function-level reset, behind MSI, which is enabled.
    static void give_reset(Function &function);
    // Gives it as many message interrupts (MSI-X), which are enabled, behind the other capabilities.
    static void give_messages(Function &function, uint32_t count);
    // Gives it the capabilities of a virtio device, before all others: structures of types 1 to 4, a page
    // each of the BAR, and the window from configuration space, where writes have an effect.
    static void give_virtio(Function &function, uint32_t bar);
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
    static void give_own_registers(Function &bridge);
    static Function &fill(Function &one, uint32_t id, const std::map<uint32_t, uint64_t> &bars);
    Function *at(uint64_t offset);
    void check_ready(const Function &function, uint32_t place, bool write);
    uint32_t bridge_to(uint32_t bus);
    bool is_in_reset(uint32_t bridge);
    void asked(uint32_t bridge);
    void control_bridge(uint32_t bridge, uint32_t before, uint32_t after);
    void check_bridge(const Function &bridge);
    void check_window(const Function &bridge, const Function &function);
};

} // namespace bulkhead_test
