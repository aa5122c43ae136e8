// SPDX-License-Identifier: Apache-2.0
//
// A small SMMUv3 (IHI 0070) beneath its driver's tests, written from the manual and not from the driver. It
// has caches of configuration and of translations that forget only what commands name, because a driver that
// forgets a command works on a model without them. Its queues and tables are in the hosted hypervisor's pool.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bulkhead_test {

struct SmmuCommand {
    uint32_t opcode;
    uint32_t stream; // of commands with one
    uint32_t vmid;   // of commands with one
    auto operator<=>(const SmmuCommand &) const = default;
};

class SmmuModel {
public:
    // As the emulator's: stage 2, two levels of stream tables, 16 bits of stream ids.
    uint32_t idr0 = 0x3u | 2u << 2 | 1u << 4 | 2u << 21 | 1u << 24 | 1u << 26 | 1u << 27;
    uint32_t idr1 = 16u | 19u << 16 | 19u << 21;
    uint32_t idr3 = 0;
    uint32_t idr5 = 1u << 4 | 4u;

    bool answers_registers = true; // CR0ACK, IRQ_CTRLACK and GBPA.UPDATE follow
    bool consumes = true;          // commands; if not, each read of a register takes long, too
    bool delays_commands = false;  // until `run_commands`, while its registers answer as always
    unsigned reads = 0;            // of registers

    uint32_t gbpa = 0;
    uint32_t cr0 = 0, cr0ack = 0, cr1 = 0, cr2 = 0;
    uint32_t irq_ctrl = 0;
    bool entries_are_old = false; // what is cached of them was read with another ATSCHK
    uint32_t gerror = 0, gerrorn = 0;
    uint64_t gerror_message = 0, eventq_message = 0; // addresses of message interrupts
    uint64_t strtab_base = 0, cmdq_base = 0, eventq_base = 0;
    uint32_t strtab_cfg = 0;
    uint32_t cmdq_prod = 0, cmdq_cons = 0, eventq_prod = 0, eventq_cons = 0;

    std::vector<SmmuCommand> commands;     // executed ones, in order
    std::vector<std::string> violations;   // of the manual, by the driver
    std::string order;                     // letters in order: see write()
    std::map<uint32_t, uint64_t> recorded; // events that found room, by stream
    uint64_t overflows = 0;                // times that EVENTQ_PROD.OVFLG has changed
    uint64_t aborted_writes = 0;           // times that GERROR said that events could not be written

    // Maps it; called after fake_reset().
    void plug_in(uint64_t pa);

    // An access of a device: the physical address that it reaches, or nothing if it is aborted.
    std::optional<uint64_t> access(uint32_t stream, uint64_t address, bool write = true);
    // An event, if there is room.
    void record(uint32_t type, uint32_t stream, uint64_t address, bool write);
    // An access by a PCI function that says that it has translated the address itself (ATS).
    std::optional<uint64_t> translated_access(uint32_t stream, uint64_t address);

    std::function<void()> on_enabled;      // called when the SMMU is enabled
    std::function<void()> on_events_taken; // called once, before EVENTQ_CONS changes

    // Executes commands up to the producer index, or at most `most`.
    void run_commands(size_t most = SIZE_MAX);
    // How many commands it has not executed.
    uint32_t commands_waiting() const;
    void raise_error(uint32_t bits);
    // Events that the driver has not taken.
    uint32_t events_waiting() const;

    uint64_t read(uint64_t offset);
    void write(uint64_t offset, uint64_t value, unsigned bytes);

private:
    struct Entry {
        uint64_t words[8];
    };
    enum class Fetch { good, bad_stream, bad_entry };

    Fetch fetch(uint32_t stream, Entry &entry) const;
    std::optional<uint64_t> walk(const Entry &entry, uint64_t address, bool write, uint32_t &fault) const;
    std::optional<uint64_t> refuse(uint32_t type, uint32_t stream, uint64_t address, bool write);
    void take_commands();
    bool execute(const uint64_t *command);
    void check_disabled(const char *what, uint32_t bit);

    std::map<uint32_t, Entry> configurations;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> translations; // VMID, page: page with its rights
};

} // namespace bulkhead_test
