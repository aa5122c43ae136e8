// SPDX-License-Identifier: Apache-2.0
//
// An SMMUv2 (IHI 0062) beneath its driver's tests, written from the manual and not from the driver: stream
// matching, context banks of stage 2, faults that are recorded in registers, and TLBs that keep what they
// have until an invalidation and a synchronization after it are complete. Registers that the architecture
// leaves open are those of the SMMU-500. Its tables are in the hosted hypervisor's pool.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bulkhead_test {

class Smmuv2Model {
public:
    static constexpr uint32_t most_entries = 128, most_banks = 16;

    // As the ZynqMP's: stages 1 and 2, 48 entries, 15 bits of stream ids, 16 context banks, 32 pages of 4
    // KiB, addresses of 48 bits.
    uint32_t idr0 = 7u << 28 | 1u << 27 | 1u << 14 | 15u << 9 | 48;
    uint32_t idr1 = 3u << 28 | 16;
    uint32_t idr2 = 7u << 12 | 5u << 4 | 5;

    bool answers = true;           // synchronizations end; if not, each read of a register takes long, too
    bool delays = false;           // synchronizations end at complete()
    bool locked_above = false;     // secure software has locked the caches' configuration
    unsigned reads = 0;            // of registers
    unsigned synchronizations = 0; // that have ended

    // As after reset: all accesses bypass.
    uint32_t scr0 = 1;
    uint32_t scr2 = 0; // no extended entries of streams
    uint32_t sacr = 1u << 26;
    uint32_t sgfsr = 0, sgfsynr0 = 0, sgfsynr1 = 0;
    uint64_t sgfar = 0;
    std::array<uint32_t, most_entries> smr{}, s2cr{};
    struct Bank {
        uint32_t cbar = 0, cba2r = 0, cbfrsynra = 0;
        uint32_t sctlr = 0, actlr = 3, tcr = 0, fsr = 0, fsynr0 = 0;
        uint64_t ttbr0 = 0, far = 0;
    };
    std::array<Bank, most_banks> banks{};

    std::vector<std::string> violations;    // of the manual, by the driver
    std::vector<uint32_t> invalidated;      // VMIDs, in order
    std::map<uint32_t, uint64_t> recorded;  // faults in registers, by stream
    std::map<uint32_t, uint64_t> uncounted; // others
    std::function<void()> on_invalidate;    // called when TLBIVMID is written
    std::function<void()> on_write;         // called after each write
    std::function<void(uint64_t)> on_read;  // called after each read, with the register's offset

    // Maps it; called after fake_reset(). `irq`: of all faults.
    void plug_in(uint64_t pa, uint32_t irq);

    // An access of a device: the physical address that it reaches, or nothing if it is aborted.
    std::optional<uint64_t> access(uint32_t stream, uint64_t address, bool write = true);

    // The synchronization under way ends.
    void complete();
    bool is_synchronizing() const { return active; }
    void raise_error(uint32_t faults, uint32_t stream);

    uint64_t read(uint64_t offset);
    void write(uint64_t offset, uint64_t value, unsigned bytes);

private:
    struct Invalidation {
        bool all;
        uint32_t vmid;
    };

    uint64_t *words_at(uint64_t pa) const;
    std::optional<uint64_t> walk(const Bank &bank, uint64_t address, bool write, uint32_t &fault);
    std::optional<uint64_t> global_fault(uint32_t fault, uint32_t stream, uint64_t address, bool write);
    std::optional<uint64_t> context_fault(Bank &bank, uint32_t fault, uint32_t stream, uint64_t address,
                                          bool write);
    uint32_t *global_register(uint64_t offset);
    uint32_t *bank_register(uint64_t offset);
    void check_unused(uint32_t bank, const char *what);
    void update_interrupt();

    uint32_t interrupt = 0;
    bool active = false;                                            // a synchronization
    std::vector<Invalidation> accepted;                             // since the last synchronization began
    std::vector<Invalidation> synchronized_;                        // those that the one under way is for
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> translations; // VMID, page with its rights: page
    std::set<uint32_t> bypasses;                                    // streams that TLBs let through
};

} // namespace bulkhead_test
