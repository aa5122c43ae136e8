// SPDX-License-Identifier: Apache-2.0
// Registers; see the header.
#include "machine/devices/cmsdk_uart.h"

namespace bulkhead::machine::devices {
namespace {

enum uart_register : std::uint64_t {
    data = 0x00,
    state = 0x04,
    control = 0x08,
    interrupt_status = 0x0C,
    baud_divider = 0x10,
};

constexpr std::uint32_t state_receive_full = 1U << 1U;
constexpr std::uint32_t state_receive_overrun = 1U << 3U;
constexpr std::uint32_t state_overruns = 0xC;
constexpr std::uint32_t control_transmit = 1U << 0U;
constexpr std::uint32_t control_receive = 1U << 1U;
constexpr std::uint32_t control_mask = 0x7F;
constexpr std::uint32_t transmit_interrupt = 1U << 0U;
constexpr std::uint32_t receive_interrupt = 1U << 1U;
constexpr std::uint32_t receive_overrun_interrupt = 1U << 3U;
constexpr std::uint32_t all_interrupts = 0xF;
constexpr std::uint32_t enable_shift = 2; // from an interrupt to the bit of `control` that lets it be raised
constexpr std::uint32_t divider_mask = 0xFFFFF;
constexpr std::uint32_t least_divider = 16; // a smaller divider stops the UART

} // namespace

void cmsdk_uart::update()
{
    transmit_line_((raised_ & transmit_interrupt) != 0);
    receive_line_((raised_ & receive_interrupt) != 0);
}

void cmsdk_uart::raise(std::uint32_t interrupt)
{
    if (enabled(interrupt << enable_shift)) {
        raised_ |= interrupt;
        update();
    }
}

std::uint64_t cmsdk_uart::read(std::uint64_t offset)
{
    switch (offset) {
    case data:
        last_received_ = received_.value_or(last_received_);
        received_.reset();
        return last_received_;
    case state: // its transmit buffer is never full
        return overrun_ | (received_ ? state_receive_full : 0);
    case control:
        return control_;
    case interrupt_status:
        return raised_;
    case baud_divider:
        return baud_divider_;
    default:
        return 0;
    }
}

void cmsdk_uart::write(std::uint64_t offset, std::uint64_t value)
{
    const auto bits = static_cast<std::uint32_t>(value);
    switch (offset) {
    case data:
        if (enabled(control_transmit) && baud_divider_ >= least_divider) {
            sent_(static_cast<std::uint8_t>(bits));
            raise(transmit_interrupt);
        }
        break;
    case state:
        overrun_ &= ~(bits & state_overruns);
        break;
    case control:
        control_ = bits & control_mask;
        break;
    case interrupt_status:
        raised_ &= ~(bits & all_interrupts);
        update();
        break;
    case baud_divider:
        baud_divider_ = bits & divider_mask;
        break;
    default:
        break;
    }
}

void cmsdk_uart::receive(std::uint8_t byte)
{
    if (!enabled(control_receive)) {
        return; // nothing is connected
    }
    if (received_) {
        overrun_ |= state_receive_overrun;
        raise(receive_overrun_interrupt);
        return;
    }
    received_ = byte;
    raise(receive_interrupt);
}

} // namespace bulkhead::machine::devices
