// SPDX-License-Identifier: Apache-2.0
// The USART of STM32F7 chips (RM0410, chapter USART), with the functions that a console needs: asynchronous,
// 8 bits, no FIFO. Without a clock its line is as fast as its driver: written bytes are sent at once. With a
// clock, a byte takes ten bit times at the rate in BRR, and one more byte waits in TDR. The routing of its
// clock and pins is assumed to be set up. With a clock there is no interrupt when the transmitter becomes
// ready.
#pragma once

#include <functional>
#include <optional>

#include "machine/devices/uart.h"
#include "machine/time.h"

namespace bulkhead::machine::devices {

class stm32_usart final : public uart {
public:
    static constexpr std::uint64_t bytes = 0x400;

    struct clocked {
        std::uint64_t hz = 0; // 0: the line is as fast as its driver
        std::function<picoseconds()> now;
    };

    // `sent` is called with each byte, `line` with each change of the interrupt.
    stm32_usart(std::function<void(std::uint8_t)> sent, std::function<void(bool)> line)
        : stm32_usart(std::move(sent), std::move(line), {})
    {
    }
    stm32_usart(std::function<void(std::uint8_t)> sent, std::function<void(bool)> line, clocked clock)
        : sent_(std::move(sent)), line_(std::move(line)), clock_(std::move(clock))
    {
    }

    std::uint64_t read(std::uint64_t offset) override;
    void write(std::uint64_t offset, std::uint64_t value) override;
    void receive(std::uint8_t byte) override;

private:
    [[nodiscard]] std::uint32_t status() const;
    void update();
    void send(std::uint8_t byte);

    std::function<void(std::uint8_t)> sent_;
    std::function<void(bool)> line_;
    clocked clock_;
    picoseconds begins_{}; // when the byte that was written last begins to be sent: until then it is in TDR
    picoseconds ends_{};
    std::uint32_t control_ = 0; // CR1
    std::uint32_t control_2_ = 0;
    std::uint32_t control_3_ = 0;
    std::uint32_t baud_rate_ = 0;
    bool overrun_ = false;
    std::optional<std::uint8_t> received_;
    bool high_ = false;
};

} // namespace bulkhead::machine::devices
