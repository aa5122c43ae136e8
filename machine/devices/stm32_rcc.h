// SPDX-License-Identifier: Apache-2.0
// Reset and clock control of STM32F7 chips (RM0410, chapter RCC) in the state that a boot loader leaves:
// registers store written values, and all clocks run regardless of them.
#pragma once

#include <array>
#include <cstdint>

namespace bulkhead::machine::devices {

class stm32_rcc {
public:
    static constexpr std::uint64_t bytes = 0x400;

    [[nodiscard]] std::uint32_t read(std::uint32_t offset) const { return registers_[offset / 4 % count]; }
    void write(std::uint32_t offset, std::uint32_t value) { registers_[offset / 4 % count] = value; }

private:
    static constexpr std::size_t count = bytes / 4;

    std::array<std::uint32_t, count> registers_{};
};

} // namespace bulkhead::machine::devices
