// SPDX-License-Identifier: Apache-2.0
// A general-purpose timer of STM32F7 chips (RM0410, chapter general-purpose timers; 32 bits: TIM2 and TIM5),
// with the functions that a clock and a tick need: it counts up behind its prescaler to its auto-reload value
// and raises an update interrupt. No capture, no compare, no slave modes, no counting down. Callers have made
// the access in order.
#pragma once

#include <cstdint>
#include <functional>

#include "machine/devices/device_clock.h"
#include "machine/engine.h"

namespace bulkhead::machine::devices {

class stm32_timer {
public:
    static constexpr std::uint64_t bytes = 0x400;

    // `line` is called with each change of the interrupt.
    stm32_timer(engine &timeline, device_clock clock, std::function<void(bool)> line);
    stm32_timer(const stm32_timer &) = delete;
    stm32_timer &operator=(const stm32_timer &) = delete;

    [[nodiscard]] std::uint32_t read(std::uint32_t offset, picoseconds now) const;
    void write(std::uint32_t offset, std::uint32_t value, picoseconds now);

private:
    [[nodiscard]] std::uint64_t divider() const { return std::uint64_t{prescaler_} + 1; }
    [[nodiscard]] std::uint32_t count(picoseconds now) const;
    void start(std::uint32_t count, picoseconds now);
    void overflow();
    void update_event();
    void update_line();

    engine &timeline_;
    device_clock clock_;
    std::function<void(bool)> line_;
    std::uint32_t control_ = 0;
    std::uint32_t interrupts_ = 0; // DIER
    bool updated_ = false;         // SR.UIF
    std::uint32_t prescaler_ = 0;
    std::uint32_t next_prescaler_ = 0; // takes effect at the next update event
    std::uint32_t reload_ = ~std::uint32_t{0};
    bool counts_ = false;
    std::uint32_t held_ = 0;      // count while it is stopped
    std::uint64_t zero_tick_ = 0; // tick of the clock at which the count was or would have been 0
    engine::event_id event_ = 0;
    bool high_ = false;
};

} // namespace bulkhead::machine::devices
