// SPDX-License-Identifier: Apache-2.0
// The few facts about A64 instruction words that the observer needs when a block is translated: which
// instructions both read and write one location, and which zero a block of memory without a store that the
// emulator would report. Encodings: Arm Architecture Reference Manual (DDI 0487), C4.1. AArch64 state only.
#pragma once

#include <cstdint>
#include <optional>

namespace bulkhead::observe::a64 {

// Store-exclusives, compare-and-swap and the LSE atomics: the emulator reports a read and a write for one
// access to the cache.
constexpr bool reads_and_writes(std::uint32_t word)
{
    const bool exclusive_group = (word & 0x3F000000U) == 0x08000000U;
    const bool o2 = (word & (1U << 23U)) != 0; // ordered accesses and CAS
    const bool load = (word & (1U << 22U)) != 0;
    const bool o1 = (word & (1U << 21U)) != 0; // pairs and CAS
    const bool size_bit1 = (word & (1U << 31U)) != 0;
    if (exclusive_group) {
        const bool store_exclusive = !o2 && !load && (!o1 || size_bit1);
        const bool cas_pair = !o2 && o1 && !size_bit1;
        const bool cas = o2 && o1;
        return store_exclusive || cas_pair || cas;
    }
    const bool atomic_group = (word & 0x3B200C00U) == 0x38200000U;
    const bool ldapr = (word & 0x0000F000U) == 0x0000C000U && (word & (1U << 22U)) == 0 &&
                       (word & (1U << 23U)) != 0; // load-acquire RCpc is encoded among the atomics
    return atomic_group && !ldapr;
}

// The number of Xt of a `DC ZVA, Xt`.
constexpr std::optional<unsigned> zeroed_block_register(std::uint32_t word)
{
    return (word & 0xFFFFFFE0U) == 0xD50B7420U ? std::optional(word & 31U) : std::nullopt;
}

static_assert(reads_and_writes(0xC8017C40U));  // stxr w1, x0, [x2]
static_assert(!reads_and_writes(0xC85F7C40U)); // ldxr x0, [x2]
static_assert(reads_and_writes(0xC8210440U));  // stxp w1, x0, x1, [x2]
static_assert(!reads_and_writes(0xC87F0440U)); // ldxp x0, x1, [x2]
static_assert(!reads_and_writes(0xC89FFC40U)); // stlr x0, [x2]
static_assert(!reads_and_writes(0xC8DFFC40U)); // ldar x0, [x2]
static_assert(reads_and_writes(0xC8A07C41U));  // cas x0, x1, [x2]
static_assert(reads_and_writes(0x48207C82U));  // casp x0, x1, x2, x3, [x4]
static_assert(reads_and_writes(0xF8200041U));  // ldadd x0, x1, [x2]
static_assert(reads_and_writes(0xF8208041U));  // swp x0, x1, [x2]
static_assert(!reads_and_writes(0xF8BFC041U)); // ldapr x1, [x2]
static_assert(!reads_and_writes(0xF9400041U)); // ldr x1, [x2]
static_assert(zeroed_block_register(0xD50B7423U) == 3U);
static_assert(!zeroed_block_register(0xD50B7E23U)); // dc civac, x3

} // namespace bulkhead::observe::a64
