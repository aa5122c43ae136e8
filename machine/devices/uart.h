// SPDX-License-Identifier: Apache-2.0
// A serial line's device as a board has it: registers by offset, and what comes in. pl011.h and
// cadence_uart.h are the kinds. What goes out, and the interrupt, go to whoever made it.
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
    // A byte arrives; it waits for as long as the FIFO is full.
    virtual void receive(std::uint8_t byte) = 0;
};

} // namespace bulkhead::machine::devices
