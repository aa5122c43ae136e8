// SPDX-License-Identifier: Apache-2.0
// VMSAv7 short descriptors (DDI 0406C, B3.5 to B3.8): decoding the descriptors of both levels, the walk from
// TTBR0 or TTBR1, and the permission check of an access. The counterpart of machine/vmsa.h; the MMU
// (machine/mmu.h) walks both formats and caches both in the same TLBs. Security states and the PXN attribute,
// which a Cortex-A9 does not have, are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "machine/settings.h"
#include "machine/translation_fault.h"
#include "machine/types.h"

namespace bulkhead::machine {

namespace short_descriptors {

inline constexpr std::uint32_t page_shift = 12;
inline constexpr std::uint32_t large_page_shift = 16;
inline constexpr std::uint32_t section_shift = 20;
inline constexpr std::uint32_t supersection_shift = 24;

// The CP15 registers that a walk depends on, as software wrote them.
struct registers {
    std::uint32_t ttbr0 = 0;
    std::uint32_t ttbr1 = 0;
    std::uint32_t ttbcr = 0;
    std::uint32_t prrr = 0; // memory types for TEX remap
    std::uint32_t nmrr = 0;
    bool tex_remap = false;   // SCTLR.TRE
    bool access_flag = false; // SCTLR.AFE
    bool caches = true;       // SCTLR.C: tables may be read from caches
};

// The first cache that accesses of a memory type look up; `ordered`: none, and accesses may be neither
// repeated nor merged (Strongly-ordered, Device).
enum class memory_kind : std::uint8_t { cached, outer_cached, uncached, ordered };

// A descriptor's attributes, without the address; stored in the TLBs.
struct attributes {
    static constexpr std::uint8_t privileged_read = 1, privileged_write = 2, user_read = 4, user_write = 8,
                                  execute_never = 16;
    std::uint8_t rights = 0;
    std::uint8_t domain = 0;
    std::uint8_t level = 0; // level of its table; 0: not from a short descriptor
    memory_kind memory = memory_kind::ordered;
    // From bit 0 on S, B, C, TEX[2:0], XN, AP[2:0] as in the descriptor, for software that saves and restores
    // TLB entries.
    std::uint16_t fields = 0;
};
[[nodiscard]] attributes attributes_of(std::uint16_t fields, std::uint8_t domain, std::uint8_t level,
                                       const registers &from);

// Kind of an access, for the permission check.
struct access {
    enum class kind : std::uint8_t { read, write, fetch };
    kind what = kind::read;
    bool privileged = true;
};

// A second-level table, or a leaf.
struct descriptor {
    enum class kind : std::uint8_t { invalid, table, leaf };
    kind what = kind::invalid;
    std::uint64_t output = 0; // address of the table, or first address of the mapping
    std::uint32_t shift = 0;  // of a leaf: log2 of the mapped size
    bool accessed = true;     // of a leaf: AP[0], if it is the access flag
    bool global = true;
    attributes says;
};
[[nodiscard]] descriptor decode_first(std::uint32_t raw, const registers &from);
[[nodiscard]] descriptor decode_second(std::uint32_t raw, const registers &from, std::uint8_t domain);

// The address of the first-level descriptor for an address, and the first cache that the walk looks up,
// according to the cacheability in the table base register. `enabled`: TTBCR.PD0, PD1.
struct root {
    std::uint64_t entry;
    walk_path path;
    bool enabled;
};
[[nodiscard]] root root_of(const registers &from, std::uint32_t address);

// Nothing if the access is allowed, or the fault (domain before permission). `dacr`: value of DACR.
[[nodiscard]] std::optional<translation_fault> refused(const attributes &says, std::uint32_t dacr,
                                                       access what);

// The fault status in the format of DFSR and IFSR (DDI 0406C, table B3-23): FS and, for DFSR only, the
// domain.
[[nodiscard]] std::uint32_t status_of(const translation_fault &fault);

// Walks the tables. `read(address, path)` returns a word, or the reason why there is none.
template <class Read>
[[nodiscard]] std::variant<descriptor, translation_fault> walk(const registers &from, std::uint32_t address,
                                                               Read &&read)
{
    using cause = translation_fault::cause;
    const auto fault = [](cause why, std::uint8_t level, std::uint8_t domain) {
        return translation_fault{why, 1, level, false, 0, domain};
    };
    const root begin = root_of(from, address);
    if (!begin.enabled) {
        return fault(cause::translation, 1, 0);
    }
    std::variant<std::uint32_t, translation_fault> word = read(begin.entry, begin.path);
    if (std::holds_alternative<translation_fault>(word)) {
        return fault(cause::external_walk, 1, 0);
    }
    descriptor one = decode_first(std::get<std::uint32_t>(word), from);
    std::uint8_t level = 1;
    if (one.what == descriptor::kind::table) {
        level = 2;
        const std::uint32_t index = address >> page_shift & 0xFFU;
        word = read(one.output + std::uint64_t{index} * 4, begin.path);
        if (std::holds_alternative<translation_fault>(word)) {
            return fault(cause::external_walk, 2, one.says.domain);
        }
        one = decode_second(std::get<std::uint32_t>(word), from, one.says.domain);
    }
    if (one.what == descriptor::kind::invalid) {
        return fault(cause::translation, level, one.says.domain);
    }
    if (!one.accessed) {
        return fault(cause::access_flag, level, one.says.domain);
    }
    return one;
}

} // namespace short_descriptors

} // namespace bulkhead::machine
