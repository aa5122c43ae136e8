// SPDX-License-Identifier: Apache-2.0
// Interface of a board's serial port: registers by offset, and received bytes. pl011.h and cadence_uart.h are
// implementations. Sent bytes and the interrupt are reported to the code that made the device.
#pragma once

#include <cstdint>

namespace bulkhead::machine::devices {

class uart {
public:
    uart() = default;
    uart(const uart &) = delete;
    uart &operator=(const uart &) = delete;
    virtual ~uart() = default;

    virtual std::uint64_t read(std::uint64_t offset) = 0;
    virtual void write(std::uint64_t offset, std::uint64_t value) = 0;
    // A byte arrives; it waits while the FIFO is full.
    virtual void receive(std::uint8_t byte) = 0;
};

} // namespace bulkhead::machine::devices
