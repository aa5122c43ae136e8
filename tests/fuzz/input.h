// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes, read from front to back. An input that has ended gives zeros: every byte string is a
// valid sequence of steps, and a prefix of it has the same meaning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace bulkhead_fuzz {

class Input {
public:
    Input(const uint8_t *data, size_t bytes) : left_(data, bytes) {}

    bool empty() const { return left_.empty(); }
    uint8_t u8() { return take<uint8_t>(); }
    uint16_t u16() { return take<uint16_t>(); }
    uint32_t u32() { return take<uint32_t>(); }
    uint64_t u64() { return take<uint64_t>(); }

    // An element of a list, selected by the next byte.
    template <typename T, size_t N> T pick(const T (&choices)[N]) { return choices[u8() % N]; }

    // A number with a likely special value: small, one bit, all ones, or any 64 bits.
    uint64_t number()
    {
        const uint8_t kind = u8();
        if (kind < 0x80) {
            return kind;
        }
        if (kind < 0xC0) {
            return uint64_t{1} << (kind & 63);
        }
        if (kind < 0xE0) {
            return u32();
        }
        return kind < 0xF0 ? ~uint64_t{0} >> (kind & 15) * 4 : u64();
    }

    std::span<const uint8_t> rest() { return std::exchange(left_, {}); }

private:
    template <typename T> T take()
    {
        T value = 0;
        const size_t bytes = std::min(sizeof value, left_.size());

        std::memcpy(&value, left_.data(), bytes);
        left_ = left_.subspan(bytes);
        return value;
    }

    std::span<const uint8_t> left_;
};

} // namespace bulkhead_fuzz
