// SPDX-License-Identifier: Apache-2.0
// Address translation of one core: first-level TLBs for data and for instructions, a main TLB, a cache of
// intermediate addresses, a walk cache, and a walker that reads VMSAv8-64 tables (machine/vmsa.h) of one or
// two stages, or VMSAv7 short descriptors (machine/short_descriptors.h), out of simulated RAM. Each table
// read is an access of the core, with its time. All front ends translate here: generators, recorded and
// compiled programs, hosted guests and EL2, machine code of Armv7-A. It must be called by the fiber that runs
// on the core, but for the invalidations, which come from anywhere.
//
// What is cached where is Arm's of Cortex-A53 (DDI 0500 5.2): TLBs have what both stages make of an address,
// with the smaller of their sizes; the cache of intermediate addresses what stage 2 makes of one; the walk
// cache where stage 1's table of the last level is. All maintenance empties the first-level TLBs.
#pragma once

#include <functional>
#include <variant>

#include "machine/core.h"
#include "machine/short_descriptors.h"
#include "machine/tlb.h"
#include "machine/vmsa.h"

namespace bulkhead::machine {

struct translation_regime {
    translation_stage stage1;
    translation_stage stage2;
    std::uint64_t mair = 0; // memory attributes of stage 1
    bool el2 = false;       // EL2's own, of one stage
    std::uint16_t asid = 0;
    std::uint16_t vmid = 0;
    std::optional<short_descriptors::registers> tables32{}; // instead of the two stages

    [[nodiscard]] translation_tag tag() const { return {el2, vmid, asid, false}; }
};

// What a TLB entry says: all of `bytes`, aligned, go to `output` on.
struct page_translation {
    phys_addr output;
    std::uint32_t shift = 0; // log2 of how many bytes
    std::uint32_t whole = 0; // of the mapping of stage 1 that this is a part of
    bool writable = false;
    bool user = false;       // EL0 may access it, too
    bool device = false;     // not to be cached
    std::uint32_t entry = 0; // of the first-level TLB, for entry_dropped
    // Of short descriptors, whose rights are checked by who accesses (short_descriptors::refused()): they
    // depend on DACR and privilege, which are no part of an entry.
    short_descriptors::attributes says{};

    [[nodiscard]] phys_addr of(std::uint64_t address) const
    {
        return phys_addr{output.value | (address & ((std::uint64_t{1} << shift) - 1))};
    }
};

class mmu {
public:
    // Eight bytes of simulated RAM; nothing where there is none.
    using table_reader = std::function<std::optional<std::uint64_t>(phys_addr)>;
    using outcome = std::variant<page_translation, translation_fault>;
    using answer = std::variant<const page_translation *, translation_fault>; // up to the next call

    // Why there can be no such MMU: impossible numbers of entries, or a first level that costs cycles (a hit
    // in it is part of the access).
    static std::optional<refusal> refused(const mmu_settings &wanted);
    // Refuses the same.
    static result<mmu> make(const mmu_settings &wanted, core &owner, table_reader reader);

    // A load or store. Returns when the core knows the answer: at once if the first TLB has it.
    outcome translate(const translation_regime &regime, std::uint64_t address, access_kind kind);
    // The same for who needs no copy.
    answer find(const translation_regime &regime, std::uint64_t address, access_kind kind);
    // An instruction's.
    outcome fetch(const translation_regime &regime, std::uint64_t address);
    // Whether that would be at once.
    [[nodiscard]] bool knows(const translation_regime &regime, std::uint64_t address, access_kind kind);

    // Lockdown. From now on what walks find goes into that lockable entry of the main TLB (below
    // lockable_entries()), where it stays until it is invalidated; nothing: into the others.
    void lock_walks_into(std::optional<std::uint32_t> entry) { locks_into_ = entry; }
    [[nodiscard]] std::uint32_t lockable_entries() const { return main_.lockable(); }
    // What a lockable entry has, to be saved and restored by software; nothing: it is empty.
    struct locked_translation {
        std::uint64_t first; // of the addresses
        translation_tag whose;
        page_translation what;
    };
    [[nodiscard]] std::optional<locked_translation> locked(std::uint32_t entry) const;
    void set_locked(std::uint32_t entry, const std::optional<locked_translation> &to);

    // By names of the architecture's operations. What another core broadcasts is invalidated here, too, by
    // whoever executes it. `locked`: as the core's manual says.
    void invalidate_all(locked_entries locked = locked_entries::too);
    void invalidate_el2_page(std::uint64_t address);              // VAE2
    void invalidate_vmid(std::uint16_t vmid);                     // VMALLS12E1
    void invalidate_stage1(std::uint16_t vmid);                   // VMALLE1
    void invalidate_asid(std::uint16_t vmid, std::uint16_t asid); // ASIDE1
    void invalidate_page(std::uint16_t vmid, std::uint64_t address,
                         locked_entries locked = locked_entries::too);                      // VAAE1
    void invalidate_page_of(std::uint16_t vmid, std::uint16_t asid, std::uint64_t address); // VAE1
    void invalidate_intermediate(std::uint16_t vmid, std::uint64_t address); // IPAS2E1: of stage 2 alone
    // The first-level TLBs alone: a register changed that their entries depend on.
    void empty_first();

    // Called when an entry of the first-level data TLB ends: something else takes its place, or it is
    // invalidated. For those that remember what it said.
    void on_dropped(std::function<void(std::uint32_t)> dropped) { dropped_ = std::move(dropped); }
    // Called when the first-level TLB for instructions takes an entry, in place of another perhaps.
    void on_code_dropped(std::function<void()> dropped) { code_dropped_ = std::move(dropped); }
    // Called after each walk, with the time that it took and the address space that it was for.
    void on_walked(std::function<void(picoseconds, std::uint16_t)> walked) { walked_ = std::move(walked); }
    [[nodiscard]] std::uint32_t first_entries() const { return data_.count(); }

private:
    // What a stage makes of an address.
    struct mapped {
        std::uint64_t output; // of the whole mapping
        std::uint32_t shift = 64;
        std::uint32_t whole = 64; // as in page_translation
        bool writable = true;
        bool user = true;
        bool device = false;
        bool global = true;
        short_descriptors::attributes says{};

        [[nodiscard]] std::uint64_t of(std::uint64_t address) const
        {
            return shift >= 64 ? address : output | (address & ((std::uint64_t{1} << shift) - 1));
        }
    };
    using step = std::variant<mapped, translation_fault>;
    using first_tlb = translation_cache<page_translation>;

    mmu(const mmu_settings &wanted, core &owner, table_reader reader, first_tlb first, first_tlb main,
        translation_cache<mapped> intermediate, translation_cache<std::uint64_t> walks);

    answer look_up(first_tlb &first, const translation_regime &regime, std::uint64_t address,
                   access_kind kind);
    step walk_stage1(const translation_regime &regime, std::uint64_t address, access_kind kind);
    step walk_stage2(const translation_regime &regime, std::uint64_t address, access_kind kind);
    step walk_both(const translation_regime &regime, std::uint64_t address, access_kind kind);
    step walk_short(const translation_regime &regime, std::uint64_t address);
    step walk(const translation_regime &regime, std::uint64_t address, access_kind kind)
    {
        return regime.tables32 ? walk_short(regime, address) : walk_both(regime, address, kind);
    }
    answer miss(first_tlb &first, const translation_regime &regime, std::uint64_t address, access_kind kind);
    void keep_main(std::uint64_t address, translation_tag who, const page_translation &what);
    std::variant<std::uint64_t, translation_fault> read(const translation_stage &stage, std::uint8_t number,
                                                        std::uint64_t where);
    static first_tlb::entry *keep(first_tlb &where, std::uint64_t address, translation_tag who,
                                  const page_translation &what);
    const page_translation *keep_first(first_tlb &first, std::uint64_t address, translation_tag who,
                                       const page_translation &what);
    static outcome copy_of(const answer &one);
    template <class Which> void invalidate_main(Which &&which, locked_entries locked = locked_entries::too);

    mmu_settings settings_;
    core *owner_;
    table_reader reader_;
    first_tlb data_;
    first_tlb instructions_;
    first_tlb main_;
    translation_cache<mapped> intermediate_;
    translation_cache<std::uint64_t> walks_; // tables of the last level
    page_translation unkept_;                // what was found last and no entry can have
    // Invalidations so far: what was looked up before one and is to be kept after it is looked up again.
    std::uint64_t invalidated_ = 0;
    std::optional<std::uint32_t> locks_into_; // lockable entry that walks fill
    std::function<void(std::uint32_t)> dropped_;
    std::function<void()> code_dropped_;
    std::function<void(picoseconds, std::uint16_t)> walked_;
};

} // namespace bulkhead::machine
