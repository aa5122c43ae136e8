// SPDX-License-Identifier: Apache-2.0
// Shifts, sums with carry, saturation and immediates as the pseudocode of the architecture defines them
// (Arm DDI 0406C.d A2.2.1, A5.2.4, A6.3.2, A8.4.3).
#pragma once

#include <bit>
#include <cstdint>

#include "machine/armv7/operation.h"
#include "machine/armv7/registers.h"

namespace bulkhead::machine::armv7 {

struct with_carry {
    std::uint32_t value;
    bool carry;
};

// `amount` is below 256; with 0, value and carry stay unchanged; RRX shifts by one.
[[nodiscard]] inline with_carry shifted(std::uint32_t value, std::uint8_t type, std::uint32_t amount,
                                        bool carry)
{
    if (type == rrx) {
        return {value >> 1U | (carry ? 1U << 31U : 0), (value & 1U) != 0};
    }
    if (amount == 0) {
        return {value, carry};
    }
    switch (type) {
    case lsl:
        return {amount < 32 ? value << amount : 0, amount <= 32 && (value >> (32 - amount) & 1U) != 0};
    case lsr:
        return {amount < 32 ? value >> amount : 0, amount <= 32 && (value >> (amount - 1) & 1U) != 0};
    case asr: {
        const std::uint32_t by = amount < 32 ? amount : 31;
        const auto result = static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> by);
        return {result, amount < 32 ? (value >> (amount - 1) & 1U) != 0 : (value >> 31U) != 0};
    }
    default: {
        const std::uint32_t result = std::rotr(value, static_cast<int>(amount & 31U));
        return {result, (result >> 31U) != 0};
    }
    }
}

struct sum {
    std::uint32_t value;
    bool carry;
    bool overflow;
};

[[nodiscard]] inline sum add_with_carry(std::uint32_t x, std::uint32_t y, bool carry)
{
    const std::uint64_t wide = std::uint64_t{x} + y + (carry ? 1 : 0);
    const auto value = static_cast<std::uint32_t>(wide);
    return {value, wide >> 32U != 0, ((x ^ value) & (y ^ value)) >> 31U != 0};
}

struct saturated {
    std::int64_t value;
    bool clipped;
};

// Saturates to `bits` bits of two's complement.
[[nodiscard]] inline saturated signed_saturate(std::int64_t value, std::uint32_t bits)
{
    const std::int64_t most = (std::int64_t{1} << (bits - 1)) - 1;
    if (value > most) {
        return {most, true};
    }
    return value < -most - 1 ? saturated{-most - 1, true} : saturated{value, false};
}

// Saturates to `bits` unsigned bits; `bits` may be 0.
[[nodiscard]] inline saturated unsigned_saturate(std::int64_t value, std::uint32_t bits)
{
    const std::int64_t most = (std::int64_t{1} << bits) - 1;
    if (value > most) {
        return {most, true};
    }
    return value < 0 ? saturated{0, true} : saturated{value, false};
}

[[nodiscard]] inline std::uint32_t extended(std::uint32_t value, std::uint32_t bits)
{
    const std::uint32_t up = 32 - bits;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << up) >> up);
}

[[nodiscard]] inline bool passes(std::uint8_t condition, const registers &state)
{
    bool holds = false;
    switch (condition >> 1U) {
    case 0:
        holds = state.z();
        break;
    case 1:
        holds = state.c;
        break;
    case 2:
        holds = state.n();
        break;
    case 3:
        holds = state.v;
        break;
    case 4:
        holds = state.c && !state.z();
        break;
    case 5:
        holds = state.n() == state.v;
        break;
    case 6:
        holds = state.n() == state.v && !state.z();
        break;
    default:
        return true;
    }
    return holds != ((condition & 1U) != 0);
}

[[nodiscard]] constexpr std::uint8_t it_advanced(std::uint8_t it)
{
    return (it & 7U) == 0
               ? std::uint8_t{0}
               : static_cast<std::uint8_t>((it & 0xE0U) | (static_cast<std::uint32_t>(it) << 1U & 0x1FU));
}

} // namespace bulkhead::machine::armv7
