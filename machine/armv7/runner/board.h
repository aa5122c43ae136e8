// SPDX-License-Identifier: Apache-2.0
// The devices of a run's board: consoles and timers, with types and addresses from the request. It connects
// them to the bus, to the interrupt controller and to the run's console.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/armv7/physical_bus.h"
#include "machine/devices/cmsdk_timer.h"
#include "machine/devices/stm32_rcc.h"
#include "machine/devices/stm32_timer.h"
#include "machine/devices/uart.h"
#include "machine/machine.h"

namespace bulkhead::machine::armv7 {

struct device_settings {
    // "cadence-uart", "cmsdk-uart", "cmsdk-timer", "stm32-usart", "stm32-timer", "stm32-rcc"
    std::string type;
    std::uint64_t at = 0;
    std::uint32_t interrupt = 0; // for a cmsdk-uart, the one of received data; the next number is that of
                                 // sent data
    std::uint64_t clock_hz = 0;  // of timers; of an stm32-usart 0: its line is as fast as its driver
};

class board {
public:
    struct surroundings {
        engine &timeline;
        physical_bus &bus;
        std::function<void(std::uint8_t)> sent;                         // by any console
        std::function<void(std::uint32_t number, bool high)> interrupt; // of the controller's inputs
    };

    // Adds a device. Returns an empty string, or why the device is impossible.
    [[nodiscard]] std::string add(const device_settings &one, const surroundings &around);

private:
    std::vector<std::unique_ptr<devices::uart>> uarts_;
    std::vector<std::unique_ptr<devices::cmsdk_timer>> cmsdk_timers_;
    std::vector<std::unique_ptr<devices::stm32_timer>> stm32_timers_;
    std::vector<std::unique_ptr<devices::stm32_rcc>> stm32_rccs_;
};

} // namespace bulkhead::machine::armv7
