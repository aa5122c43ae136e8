// SPDX-License-Identifier: Apache-2.0
// A 64-bit event counter with one writer at a time. Other threads may read it while it counts: they see a
// recent value, never a torn one. It costs as much as a plain integer. Two threads must never add to it at
// once.
#pragma once

#include <atomic>
#include <cstdint>

namespace bulkhead::machine {

class counter {
public:
    counter() = default;
    counter(const counter &other) : value_(other.get()) {}
    counter &operator=(const counter &other)
    {
        set(other.get());
        return *this;
    }

    void add(std::uint64_t events = 1) { set(get() + events); }
    void reset() { set(0); }
    [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

private:
    void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }

    std::atomic<std::uint64_t> value_{0};
};

} // namespace bulkhead::machine
