// SPDX-License-Identifier: Apache-2.0
// Address translation of one core: two levels of TLB and a walker that reads VMSAv8-64 tables (4 KiB granule,
// DDI 0487 D8) of one or two stages out of simulated RAM. Each table read takes its time on the core. It must
// be called by the fiber that runs on the core.
#pragma once

#include <functional>
#include <variant>

#include "machine/core.h"
#include "machine/tlb.h"

namespace bulkhead::machine {

// One stage's tables; nothing is translated while it is off.
struct translation_stage {
    bool on = false;
    phys_addr root{};             // of stage 1 with stage 2 on: an intermediate address
    std::uint32_t input_bits = 0; // 64 - TxSZ, 25 to 48
    std::uint32_t start_level = 0;
};

struct translation_regime {
    translation_stage stage1;
    translation_stage stage2;
    std::uint64_t mair = 0; // memory attributes of stage 1
    std::uint16_t asid = 0;
    std::uint16_t vmid = 0;
};

struct translation_fault {
    enum class cause : std::uint8_t { translation, access_flag, permission, address_size, external };
    cause why;
    std::uint8_t stage; // 1 or 2
    std::uint8_t level;
    bool of_table_walk;             // of stage 1, by stage 2
    std::uint64_t intermediate = 0; // stage 2: the address that it was asked for
};

class mmu {
public:
    // Eight bytes of simulated RAM; nothing where there is none.
    using table_reader = std::function<std::optional<std::uint64_t>(phys_addr)>;
    using outcome = std::variant<page_translation, translation_fault>;

    // Refuses what tlb::make() refuses.
    static result<mmu> make(const mmu_settings &wanted, core &owner, table_reader reader);

    // The frame of a virtual address. Returns when the core knows it: at once if the first TLB has it.
    outcome translate(const translation_regime &regime, std::uint64_t address, access_kind kind);

    // Translates and keeps the translation in the second TLB (the first, if there is no second) until it is
    // invalidated. False: a fault, or no entry can be locked.
    bool lock(const translation_regime &regime, std::uint64_t address);

    void invalidate_all();
    void invalidate_vmid(std::uint16_t vmid);
    void invalidate_asid(std::uint16_t vmid, std::uint16_t asid);
    void invalidate_page(std::uint16_t vmid, std::uint64_t address);

private:
    // What a stage makes of an address.
    struct mapped {
        std::uint64_t address;
        bool writable;
        bool device;
        bool global;
    };
    using step = std::variant<mapped, translation_fault>;

    mmu(const mmu_settings &wanted, core &owner, table_reader reader, tlb first, tlb second);

    step walk(const translation_regime &regime, std::uint8_t stage, std::uint64_t input, access_kind kind);
    step translate_both(const translation_regime &regime, std::uint64_t address, access_kind kind);
    std::optional<std::uint64_t> descriptor_at(phys_addr where);
    void keep(phys_addr where, std::uint64_t descriptor);

    mmu_settings settings_;
    core *owner_;
    table_reader reader_;
    tlb first_;
    tlb second_;
    // Table descriptors read lately, oldest first.
    struct kept {
        phys_addr where;
        std::uint64_t descriptor;
    };
    std::vector<kept> walk_cache_;
};

} // namespace bulkhead::machine
