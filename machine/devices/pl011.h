// SPDX-License-Identifier: Apache-2.0
// A PL011 (Arm DDI 0183) whose line is as fast as its driver, as that of an emulator: written bytes are sent
// at once, unless the line is held (set_room()). Received bytes wait in a FIFO. The model knows no time.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "machine/devices/uart.h"

namespace bulkhead::machine::devices {

class pl011 final : public uart {
public:
    // `sent` is called with each byte, `line` with each change of the interrupt.
    pl011(std::function<void(std::uint8_t)> sent, std::function<void(bool)> line)
        : sent_(std::move(sent)), line_(std::move(line))
    {
    }

    std::uint64_t read(std::uint64_t offset) override;
    void write(std::uint64_t offset, std::uint64_t value) override;
    void receive(std::uint8_t byte) override;
    // The transmit FIFO is full after `bytes` bytes; nothing: the line sends all bytes at once.
    void set_room(std::optional<std::uint32_t> bytes);

private:
    void update();
    void set_transmit_interrupt();

    std::function<void(std::uint8_t)> sent_;
    std::function<void(bool)> line_;
    std::deque<std::uint8_t> received_;
    std::uint32_t integer_divisor_ = 0;
    std::uint32_t fraction_divisor_ = 0;
    std::uint32_t line_control_ = 0;
    std::uint32_t control_ = 0x300;
    std::uint32_t levels_ = 0x12;
    std::uint32_t mask_ = 0;
    std::uint32_t raised_ = 0;
    std::optional<std::uint32_t> room_;
    bool high_ = false;
};

} // namespace bulkhead::machine::devices
