// SPDX-License-Identifier: Apache-2.0
// Computes the count at a time; see the header.
#include "machine/devices/stm32_timer.h"

#include <utility>

namespace bulkhead::machine::devices {
namespace {

enum timer_register : std::uint32_t {
    cr1 = 0x00,
    dier = 0x0C,
    sr = 0x10,
    egr = 0x14,
    cnt = 0x24,
    psc = 0x28,
    arr = 0x2C,
};

constexpr std::uint32_t cr1_enable = 1U << 0U;
constexpr std::uint32_t cr1_no_update = 1U << 1U; // UDIS
constexpr std::uint32_t cr1_one_pulse = 1U << 3U;
constexpr std::uint32_t update_bit = 1U << 0U; // of DIER, SR and EGR

} // namespace

stm32_timer::stm32_timer(engine &timeline, device_clock clock, std::function<void(bool)> line)
    : timeline_(timeline), clock_(clock), line_(std::move(line))
{
}

std::uint32_t stm32_timer::count(picoseconds now) const
{
    return counts_ ? static_cast<std::uint32_t>((clock_.ticks(now) - zero_tick_) / divider()) : held_;
}

// Counts from `count` on, if the timer is enabled and its auto-reload value is not zero.
void stm32_timer::start(std::uint32_t count, picoseconds now)
{
    if (counts_) {
        timeline_.cancel(event_);
    }
    held_ = count;
    counts_ = (control_ & cr1_enable) != 0 && reload_ != 0;
    if (!counts_) {
        return;
    }
    // The difference may be below zero: ticks are counted modulo 2^64.
    zero_tick_ = clock_.ticks(now) - count * divider();
    const std::uint64_t last = count > reload_ ? ~std::uint32_t{0} : reload_;
    event_ = timeline_.at(clock_.time_of(zero_tick_ + (last + 1) * divider()), [this] { overflow(); });
}

void stm32_timer::overflow()
{
    const picoseconds now = timeline_.now();
    counts_ = false;
    update_event();
    if ((control_ & cr1_one_pulse) != 0) {
        control_ &= ~cr1_enable;
    }
    start(0, now);
}

void stm32_timer::update_event()
{
    if ((control_ & cr1_no_update) == 0) {
        prescaler_ = next_prescaler_;
        updated_ = true;
        update_line();
    }
}

void stm32_timer::update_line()
{
    const bool high = updated_ && (interrupts_ & update_bit) != 0;
    if (high != high_) {
        high_ = high;
        line_(high);
    }
}

std::uint32_t stm32_timer::read(std::uint32_t offset, picoseconds now) const
{
    switch (offset) {
    case cr1:
        return control_;
    case dier:
        return interrupts_;
    case sr:
        return updated_ ? update_bit : 0;
    case cnt:
        return count(now);
    case psc:
        return next_prescaler_;
    case arr:
        return reload_;
    default:
        return 0;
    }
}

void stm32_timer::write(std::uint32_t offset, std::uint32_t value, picoseconds now)
{
    const std::uint32_t before = count(now);
    switch (offset) {
    case cr1:
        control_ = value;
        start(before, now);
        break;
    case dier:
        interrupts_ = value;
        update_line();
        break;
    case sr: // writing zeros clears them
        updated_ = updated_ && (value & update_bit) != 0;
        update_line();
        break;
    case egr:
        if ((value & update_bit) != 0) {
            update_event();
            start(0, now);
        }
        break;
    case cnt:
        start(value, now);
        break;
    case psc:
        next_prescaler_ = value & 0xFFFF;
        break;
    case arr:
        reload_ = value;
        start(before, now);
        break;
    default:
        break;
    }
}

} // namespace bulkhead::machine::devices
