// SPDX-License-Identifier: Apache-2.0
//
// A small ITS, and the registers for LPIs of the redistributors, beneath their driver's tests. Written from
// Arm IHI 0069 (chapters 5, 12.11 and 12.19) and not from the driver. Its tables are in the memory that the
// driver gives it, in the hosted hypervisor's pool, and it has nothing else to remember devices and events
// with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead_test {

class ItsModel {
public:
    // What the board has. As the emulator: entries of 8 bytes in a function's table, 16 bits of events and of
    // devices, redistributors by number, and tables whose pages can have 4 KiB.
    uint64_t typer = 1u | 7u << 4 | 15u << 8 | 15u << 13;
    struct Table {
        uint32_t type, entry_bytes;
        bool only_large_pages = false; // 64 KiB
        bool coherent = true;
        bool has_levels = true; // it can have the addresses of pages with entries
    };
    std::array<Table, 8> tables{Table{1, 8}, Table{4, 8}, Table{2, 8}};
    bool queue_is_coherent = true;
    bool redistributors_have_lpis = true;
    bool properties_are_coherent = true;
    bool lpis_can_be_disabled = true;
    bool becomes_quiet = true;
    bool memory_is_clear = true; // for pending LPIs, at the start
    bool keeps_active = false;   // an LPI in a list register, until its end: see fake_gic_hook_lpis()

    // How it executes commands: at once; one at each read of CREADR; or not one, with an error.
    enum class Pace { at_once, at_reads, stalled } pace = Pace::at_once;

    uint32_t ctlr = 0;
    uint64_t cbaser = 0, cwriter = 0, creadr = 0;
    std::array<uint64_t, 8> baser{};
    struct Redistributor {
        uint32_t ctlr = 0;
        uint64_t propbaser = 0, pendbaser = 0;
    };
    std::array<Redistributor, 4> redistributors{};

    std::vector<std::array<uint64_t, 4>> commands; // executed ones
    std::vector<std::string> violations;           // of the manual, by the driver
    std::string order;                             // a letter for each step: see write()

    // Maps it, and the memory for pending LPIs; called after fake_reset().
    void plug_in(uint64_t pa, uint64_t pending_pa);

    // A device writes a message. Where the LPI has been signalled, or nothing: it was dropped.
    struct Signal {
        uint32_t core, intid;
        auto operator<=>(const Signal &) const = default;
    };
    std::optional<Signal> message(uint32_t device, uint32_t event);

    uint64_t read(uint64_t offset);
    void write(uint64_t offset, uint64_t value, unsigned bytes);
    bool access_redistributor(uint32_t core, uint64_t offset, bool write, uint64_t &value);

private:
    uint64_t *entry(uint32_t type, uint32_t index);
    uint64_t *event_entry(uint32_t device, uint32_t event);
    void execute(const uint64_t *command);
    void execute_one();
    void run();
    void enable();
    void enable_lpis(uint32_t core);
    void violate(bool violated, const std::string &what);

    uint64_t pending_pa_ = 0;
};

} // namespace bulkhead_test
