// SPDX-License-Identifier: Apache-2.0
// Address translation of one core: first-level TLBs for data and for instructions, a main TLB, a cache of
// intermediate addresses, a walk cache, and a page-table walker. The walker reads VMSAv8-64 tables
// (machine/vmsa.h) of one or two stages, or VMSAv7 short descriptors (machine/short_descriptors.h), from
// simulated RAM. Each read of a table is an access of the core and takes its time. All front ends translate
// here: generators, recorded and compiled programs, hosted guests and EL2, machine code of Armv7-A. Only the
// fiber that runs on the core may call it, except for the invalidations, which any caller may use.
//
// The caches hold what those of Arm's Cortex-A53 hold (DDI 0500 5.2): TLBs the result of both stages, with
// the smaller of their sizes; the cache of intermediate addresses the result of stage 2; the walk cache the
// address of stage 1's last-level table. All maintenance empties the first-level TLBs.
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
    bool el2 = false;       // EL2's own regime, of one stage
    std::uint16_t asid = 0;
    std::uint16_t vmid = 0;
    std::optional<short_descriptors::registers> tables32{}; // short descriptors, used instead of the two
                                                            // stages

    [[nodiscard]] translation_tag tag() const { return {el2, vmid, asid, false}; }
};

// Contents of a TLB entry: an aligned range of 1 << shift bytes is mapped to the same range from `output` on.
struct page_translation {
    phys_addr output;
    std::uint32_t shift = 0; // log2 of the size in bytes
    std::uint32_t whole = 0; // log2 of the size of the stage 1 mapping that this is a part of
    bool writable = false;
    bool user = false;       // EL0 may access it too
    bool device = false;     // not to be cached
    std::uint32_t entry = 0; // entry in the first-level TLB, for on_dropped()
    // Attributes of a short descriptor. The accessing code checks its rights (short_descriptors::refused()),
    // because they depend on DACR and privilege, which are not part of an entry.
    short_descriptors::attributes says{};

    [[nodiscard]] phys_addr of(std::uint64_t address) const
    {
        return phys_addr{output.value | (address & ((std::uint64_t{1} << shift) - 1))};
    }
};

class mmu {
public:
    // Reads eight bytes of simulated RAM; nothing where there is no RAM.
    using table_reader = std::function<std::optional<std::uint64_t>(phys_addr)>;
    using outcome = std::variant<page_translation, translation_fault>;
    using answer = std::variant<const page_translation *, translation_fault>; // valid until the next call

    // Why no MMU can have these settings: impossible numbers of entries, or a first-level TLB whose hit costs
    // cycles (such a hit is part of the access). Nothing: they are valid.
    static std::optional<refusal> refused(const mmu_settings &wanted);
    // Refuses the same settings.
    static result<mmu> make(const mmu_settings &wanted, core &owner, table_reader reader);

    // Translates a load or store. Returns when the core has the result: at once on a hit in the first-level
    // TLB.
    outcome translate(const translation_regime &regime, std::uint64_t address, access_kind kind);
    // The same for a caller that needs no copy.
    answer find(const translation_regime &regime, std::uint64_t address, access_kind kind);
    // Translates an instruction fetch.
    outcome fetch(const translation_regime &regime, std::uint64_t address);
    // Whether translate() would hit in the first-level TLB.
    [[nodiscard]] bool knows(const translation_regime &regime, std::uint64_t address, access_kind kind);

    // TLB lockdown: from now on, results of walks go into this lockable entry of the main TLB (below
    // lockable_entries()), where they stay until invalidated; nothing: into normal entries.
    void lock_walks_into(std::optional<std::uint32_t> entry) { locks_into_ = entry; }
    [[nodiscard]] std::uint32_t lockable_entries() const { return main_.lockable(); }
    // Contents of a lockable entry, which software saves and restores; nothing: the entry is empty.
    struct locked_translation {
        std::uint64_t first; // first of the translated addresses
        translation_tag whose;
        page_translation what;
    };
    [[nodiscard]] std::optional<locked_translation> locked(std::uint32_t entry) const;
    void set_locked(std::uint32_t entry, const std::optional<locked_translation> &to);

    // Invalidations, with the names of the architecture's operations. The core that broadcasts an
    // invalidation also calls this on the MMUs of other cores. `locked`: whether locked entries are
    // invalidated too; the core's manual says so.
    void invalidate_all(locked_entries locked = locked_entries::too);
    void invalidate_el2_page(std::uint64_t address);              // VAE2
    void invalidate_vmid(std::uint16_t vmid);                     // VMALLS12E1
    void invalidate_stage1(std::uint16_t vmid);                   // VMALLE1
    void invalidate_asid(std::uint16_t vmid, std::uint16_t asid); // ASIDE1
    void invalidate_page(std::uint16_t vmid, std::uint64_t address,
                         locked_entries locked = locked_entries::too);                      // VAAE1
    void invalidate_page_of(std::uint16_t vmid, std::uint16_t asid, std::uint64_t address); // VAE1
    void invalidate_intermediate(std::uint16_t vmid, std::uint64_t address); // IPAS2E1: only stage 2
    // Empties only the first-level TLBs, after a change of a register that their entries depend on.
    void empty_first();

    // `dropped` is called when an entry of the first-level data TLB is replaced or invalidated, for code that
    // has stored its contents.
    void on_dropped(std::function<void(std::uint32_t)> dropped) { dropped_ = std::move(dropped); }
    // `dropped` is called when the first-level TLB for instructions inserts an entry, which may replace
    // another one.
    void on_code_dropped(std::function<void()> dropped) { code_dropped_ = std::move(dropped); }
    // `walked` is called after each walk, with its duration and its address space.
    void on_walked(std::function<void(picoseconds, std::uint16_t)> walked) { walked_ = std::move(walked); }
    [[nodiscard]] std::uint32_t first_entries() const { return data_.count(); }

private:
    // Result of one stage for an address.
    struct mapped {
        std::uint64_t output; // first address of the whole mapping
        std::uint32_t shift = 64;
        std::uint32_t whole = 64; // see page_translation::whole
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
    translation_cache<std::uint64_t> walks_; // addresses of last-level tables
    page_translation unkept_;                // the last result that fits no entry
    // Number of invalidations so far. A result that was looked up before an invalidation and is to be stored
    // after it is looked up again.
    std::uint64_t invalidated_ = 0;
    std::optional<std::uint32_t> locks_into_; // lockable entry that walks fill
    std::function<void(std::uint32_t)> dropped_;
    std::function<void()> code_dropped_;
    std::function<void(picoseconds, std::uint16_t)> walked_;
};

} // namespace bulkhead::machine
