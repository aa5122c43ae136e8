// SPDX-License-Identifier: Apache-2.0
// Registers; see the header.
#include "machine/devices/cmsdk_timer.h"

#include <utility>

namespace bulkhead::machine::devices {
namespace {

enum timer_register : std::uint32_t {
    control = 0x00,
    value_register = 0x04,
    reload = 0x08,
    interrupt_status = 0x0C,
};

constexpr std::uint32_t control_enable = 1U << 0U;
constexpr std::uint32_t control_external = 3U << 1U; // external input as enable, as clock
constexpr std::uint32_t control_interrupt = 1U << 3U;
constexpr std::uint32_t control_mask = 0xF;

} // namespace

cmsdk_timer::cmsdk_timer(engine &timeline, device_clock clock, std::function<void(bool)> line)
    : line_(std::move(line)), counter_(timeline, clock, [this] { zero(); })
{
}

void cmsdk_timer::zero()
{
    if ((control_ & control_interrupt) != 0 && !raised_) {
        raised_ = true;
        line_(true);
    }
}

std::uint32_t cmsdk_timer::read(std::uint32_t offset, picoseconds now) const
{
    switch (offset) {
    case control:
        return control_;
    case value_register:
        return counter_.value(now);
    case reload:
        return counter_.reload();
    case interrupt_status:
        return raised_ ? 1 : 0;
    default:
        return 0;
    }
}

void cmsdk_timer::write(std::uint32_t offset, std::uint32_t value, picoseconds now)
{
    switch (offset) {
    case control:
        control_ = value & control_mask;
        counter_.run((control_ & (control_enable | control_external)) == control_enable, now);
        break;
    case value_register:
        counter_.set_value(value, now);
        break;
    case reload:
        counter_.set_reload(value, now);
        break;
    case interrupt_status:
        if ((value & 1U) != 0 && raised_) {
            raised_ = false;
            line_(false);
        }
        break;
    default:
        break;
    }
}

} // namespace bulkhead::machine::devices
