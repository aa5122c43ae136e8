// SPDX-License-Identifier: Apache-2.0
// The Cadence UART of Zynq and ZynqMP (UG1085, chapter UART Controllers; UG1087, module UART). Its line is as
// fast as its driver, as that of an emulator: written bytes are sent at once, unless the line is held
// (set_room()). The model knows no time, so a receive timeout expires at once. No modem lines, no line
// errors.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "machine/devices/uart.h"

namespace bulkhead::machine::devices {

class cadence_uart final : public uart {
public:
    static constexpr std::size_t fifo_bytes = 64;

    // `sent` is called with each byte, `line` with each change of the interrupt.
    cadence_uart(std::function<void(std::uint8_t)> sent, std::function<void(bool)> line)
        : sent_(std::move(sent)), line_(std::move(line))
    {
    }

    std::uint64_t read(std::uint64_t offset) override;
    void write(std::uint64_t offset, std::uint64_t value) override;
    void receive(std::uint8_t byte) override;
    // Sends the bytes in the transmit FIFO. From now on the line is held, and the FIFO is full after `bytes`
    // bytes; nothing: the line sends all bytes at once.
    void set_room(std::optional<std::uint32_t> bytes);

private:
    [[nodiscard]] std::uint32_t status() const;
    void control(std::uint32_t bits);
    void send(std::uint8_t byte);
    void update();

    std::function<void(std::uint8_t)> sent_;
    std::function<void(bool)> line_;
    std::deque<std::uint8_t> received_;
    std::optional<std::uint32_t> room_;
    std::uint32_t waiting_ = 0;     // bytes in the transmit FIFO while the line is held
    std::uint32_t control_ = 0x128; // transmitter and receiver disabled
    std::uint32_t mode_ = 0;
    std::uint32_t mask_ = 0;   // enabled interrupts
    std::uint32_t raised_ = 0; // conditions that became true and have not been cleared
    std::uint32_t baud_generator_ = 0x28B;
    std::uint32_t baud_divider_ = 0xF;
    std::uint32_t receive_timeout_ = 0;
    std::uint32_t receive_trigger_ = 0x20;
    std::uint32_t transmit_trigger_ = 0x20;
    bool high_ = false;
};

} // namespace bulkhead::machine::devices
