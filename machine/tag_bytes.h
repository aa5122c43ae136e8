// SPDX-License-Identifier: Apache-2.0
// Sixteen bytes of tags, one for each way of a cache set, compared with one tag at once: the filter that
// makes a lookup cheap on the host. With SSE2 where the host has it (every x86-64 has), else
// byte by byte.
#pragma once

#include <array>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bulkhead::machine {

struct alignas(16) tag_bytes {
    static constexpr std::uint32_t count = 16;
    std::array<std::uint8_t, count> bytes;

    // Bit i: byte i equals the tag.
    [[nodiscard]] std::uint32_t equal_to(std::uint8_t tag) const
    {
#ifdef __SSE2__
        const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i *>(bytes.data()));
        const __m128i same =
            _mm_cmpeq_epi8(all, _mm_set1_epi64x(static_cast<long long>(tag * 0x0101010101010101U)));
        return static_cast<std::uint32_t>(_mm_movemask_epi8(same));
#else
        std::uint32_t same = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            same |= static_cast<std::uint32_t>(bytes[i] == tag) << i;
        }
        return same;
#endif
    }
};

} // namespace bulkhead::machine
