// SPDX-License-Identifier: Apache-2.0
// Compares sixteen tag bytes, one for each way of a cache set, with one tag at once: the filter that makes a
// lookup cheap on the host. Uses SSE2 where the host has it (every x86-64 has), otherwise compares byte by
// byte.
#pragma once

#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace bulkhead::machine {

struct tag_bytes {
    static constexpr std::uint32_t count = 16;

    // Bit i: byte i from `first` on equals the tag.
    static std::uint32_t equal_to(const std::uint8_t *first, std::uint8_t tag)
    {
#ifdef __SSE2__
        const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i *>(first));
        const __m128i same =
            _mm_cmpeq_epi8(all, _mm_set1_epi64x(static_cast<long long>(tag * 0x0101010101010101U)));
        return static_cast<std::uint32_t>(_mm_movemask_epi8(same));
#else
        std::uint32_t same = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            same |= static_cast<std::uint32_t>(first[i] == tag) << i;
        }
        return same;
#endif
    }
};

} // namespace bulkhead::machine
