// SPDX-License-Identifier: Apache-2.0
// An SMMU in front of one bus master, stage 2 only: the TLB of the master's translation buffer unit (TBU),
// and behind it the main TLB, the walk cache and the table walker of the translation control unit (TCU). The
// walk itself is machine/vmsa.h's; here each of its reads takes the time of a coherent read through the
// interconnect, one after the other. The answer comes later, so the caller is an event handler and no fiber.
// Not modelled: stage 1, several walks of one master at once, prefetched translations, invalidations.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "machine/engine.h"
#include "machine/memory_system.h"
#include "machine/tlb.h"
#include "machine/vmsa.h"

namespace bulkhead::machine {

struct smmu_settings {
    tlb_settings tlb;        // of the TBU; `hit_cycles` has no effect
    tlb_settings main;       // of the TCU
    tlb_settings walk_cache; // addresses of last-level tables
    picoseconds hit{};       // latency that a hit in the TBU adds to an access; hits are pipelined
    picoseconds request{};   // from a miss in the TBU to the TCU's lookups, and the answer's way back
};

struct smmu_counts {
    std::uint64_t lookups = 0;
    std::uint64_t misses = 0; // of the TBU's TLB
    std::uint64_t walks = 0;  // misses of the main TLB, too
    std::uint64_t reads = 0;  // descriptors read by walks
    picoseconds walk_time{};  // from the miss in the TBU to the translation, sum of all walks
};

class smmu final : public memory_client {
public:
    struct surroundings {
        engine &timeline;
        memory_system &memory;
        route way;
        owner_id owner;
        mpam_label label{};
        // The descriptor at an address; nothing: there is no table.
        std::function<std::optional<std::uint64_t>(phys_addr)> descriptor;
    };
    // Gets the translated address, or nothing after a fault. Called from an event.
    using translated = std::function<void(std::optional<phys_addr>)>;

    // Refuses impossible numbers of entries.
    static result<std::unique_ptr<smmu>> make(const smmu_settings &wanted, const translation_stage &tables,
                                              surroundings around);

    // Looks up the TBU's TLB. Nothing: a miss; the caller then calls resolve().
    std::optional<phys_addr> find(std::uint64_t address, access_kind kind);
    // Finds the translation after a miss and fills the TLBs. One call at a time.
    void resolve(std::uint64_t address, access_kind kind, translated done);

    [[nodiscard]] picoseconds hit_latency() const { return settings_.hit; }
    [[nodiscard]] const smmu_counts &counts() const { return counts_; }

    // memory_client
    void arrived(ticket id, picoseconds when) override;
    void room(picoseconds when) override;
    std::optional<written_back> drop(phys_addr) override { return std::nullopt; } // it caches no lines
    [[nodiscard]] bool holds(phys_addr) const override { return false; }

private:
    struct page {
        std::uint64_t output;
        bool readable;
        bool writable;
    };
    using page_tlb = translation_cache<page>;
    using table_cache = translation_cache<std::uint64_t>;

    smmu(const smmu_settings &wanted, const translation_stage &tables, surroundings around, page_tlb tlb,
         page_tlb main, table_cache walks);

    std::optional<phys_addr> look_up(page_tlb &where, std::uint64_t address, access_kind kind);
    void look_up_main();
    void begin_walk();
    void read_next();
    void walk_ended();
    void answer(std::optional<phys_addr> found);
    static void keep(page_tlb &where, std::uint64_t address, std::uint32_t shift, const page &what);

    smmu_settings settings_;
    translation_stage tables_;
    surroundings around_;
    page_tlb tlb_;
    page_tlb main_;
    table_cache walks_;
    smmu_counts counts_;

    // The miss that is being resolved.
    struct pending {
        std::uint64_t address = 0;
        access_kind kind = access_kind::read;
        picoseconds since{};
        translated done;
        std::vector<phys_addr> reads; // of the walk, in order
        std::size_t next = 0;         // the first of them that has not been sent
        std::optional<vmsa::end> end; // nothing: a fault
        bool waits_for_room = false;
    };
    std::optional<pending> miss_;
};

} // namespace bulkhead::machine
