// SPDX-License-Identifier: Apache-2.0
// The APB UART of Arm's Cortex-M System Design Kit (DDI 0479D 4.3), which MPS2 boards have. Its line is as
// fast as its driver: written bytes are sent at once. It stores one received byte; a further one is an
// overrun.
#pragma once

#include <functional>
#include <optional>

#include "machine/devices/uart.h"

namespace bulkhead::machine::devices {

class cmsdk_uart final : public uart {
public:
    static constexpr std::uint64_t bytes = 0x1000;

    // `sent` is called with each byte, `transmit` and `receive` with each change of the two interrupts.
    cmsdk_uart(std::function<void(std::uint8_t)> sent, std::function<void(bool)> transmit,
               std::function<void(bool)> receive)
        : sent_(std::move(sent)), transmit_line_(std::move(transmit)), receive_line_(std::move(receive))
    {
    }

    std::uint64_t read(std::uint64_t offset) override;
    void write(std::uint64_t offset, std::uint64_t value) override;
    void receive(std::uint8_t byte) override;

private:
    [[nodiscard]] bool enabled(std::uint32_t control_bit) const { return (control_ & control_bit) != 0; }
    void raise(std::uint32_t interrupt);
    void update();

    std::function<void(std::uint8_t)> sent_;
    std::function<void(bool)> transmit_line_;
    std::function<void(bool)> receive_line_;
    std::uint32_t control_ = 0;
    std::uint32_t raised_ = 0;  // pending interrupts
    std::uint32_t overrun_ = 0; // overrun bits of STATE
    std::uint32_t baud_divider_ = 0;
    std::optional<std::uint8_t> received_;
    std::uint8_t last_received_ = 0;
};

} // namespace bulkhead::machine::devices
