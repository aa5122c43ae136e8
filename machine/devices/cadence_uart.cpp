// SPDX-License-Identifier: Apache-2.0
// Conditions of the FIFOs are latched as long as they hold: a condition that is cleared while it still holds
// is latched again.
#include "machine/devices/cadence_uart.h"

namespace bulkhead::machine::devices {
namespace {

enum uart_register : std::uint64_t {
    control_register = 0x00,
    mode_register = 0x04,
    interrupt_enable = 0x08,
    interrupt_disable = 0x0C,
    interrupt_mask = 0x10,
    interrupt_status = 0x14,
    baud_generator = 0x18,
    receive_timeout = 0x1C,
    receive_trigger = 0x20,
    channel_status = 0x2C,
    fifo = 0x30,
    baud_divider = 0x34,
    transmit_trigger = 0x44,
};

constexpr std::uint32_t control_receive_reset = 1u << 0;
constexpr std::uint32_t control_self_clearing = 0x43; // resets of both FIFOs, restart of the timeout
constexpr std::uint32_t control_receive = 1u << 2;
constexpr std::uint32_t control_receive_off = 1u << 3;
constexpr std::uint32_t control_transmit = 1u << 4;
constexpr std::uint32_t control_transmit_off = 1u << 5;
// The same bits in both status registers.
constexpr std::uint32_t receive_triggered = 1u << 0;
constexpr std::uint32_t receive_empty = 1u << 1;
constexpr std::uint32_t receive_full = 1u << 2;
constexpr std::uint32_t transmit_empty = 1u << 3;
constexpr std::uint32_t transmit_full = 1u << 4;
constexpr std::uint32_t timed_out = 1u << 8;
constexpr std::uint32_t every_interrupt = 0x1FFF;
constexpr std::uint32_t byte_mask = 0xFF;
constexpr std::uint32_t trigger_mask = 0x3F;

} // namespace

std::uint32_t cadence_uart::status() const
{
    std::uint32_t bits = (waiting_ == 0 ? transmit_empty : 0) | (room_ == 0u ? transmit_full : 0);
    bits |= received_.empty() ? receive_empty : 0;
    bits |= received_.size() >= fifo_bytes ? receive_full : 0;
    bits |= receive_trigger_ != 0 && received_.size() >= receive_trigger_ ? receive_triggered : 0;
    return bits;
}

void cadence_uart::update()
{
    raised_ |= status();
    const bool high = (raised_ & mask_) != 0;
    if (high != high_) {
        high_ = high;
        line_(high);
    }
}

void cadence_uart::set_room(std::optional<std::uint32_t> bytes)
{
    room_ = bytes;
    waiting_ = 0;
    update();
}

std::uint64_t cadence_uart::read(std::uint64_t offset)
{
    switch (offset) {
    case control_register:
        return control_;
    case mode_register:
        return mode_;
    case interrupt_mask:
        return mask_;
    case interrupt_status:
        return raised_;
    case baud_generator:
        return baud_generator_;
    case receive_timeout:
        return receive_timeout_;
    case receive_trigger:
        return receive_trigger_;
    case channel_status:
        return status();
    case fifo: {
        if (received_.empty()) {
            return 0;
        }
        const std::uint8_t byte = received_.front();
        received_.pop_front();
        update();
        return byte;
    }
    case baud_divider:
        return baud_divider_;
    case transmit_trigger:
        return transmit_trigger_;
    default:
        return 0;
    }
}

void cadence_uart::control(std::uint32_t bits)
{
    control_ = bits & ~control_self_clearing;
    if ((bits & control_receive_reset) != 0) {
        received_.clear();
    }
}

void cadence_uart::send(std::uint8_t byte)
{
    const bool on = (control_ & (control_transmit | control_transmit_off)) == control_transmit;
    if (!on || room_ == 0u) {
        return; // lost: the driver did not check for room
    }
    sent_(byte);
    if (room_) {
        --*room_;
        ++waiting_;
    }
}

void cadence_uart::write(std::uint64_t offset, std::uint64_t value)
{
    const auto bits = static_cast<std::uint32_t>(value);
    switch (offset) {
    case control_register:
        control(bits);
        break;
    case mode_register:
        mode_ = bits;
        break;
    case interrupt_enable:
        mask_ |= bits & every_interrupt;
        break;
    case interrupt_disable:
        mask_ &= ~bits;
        break;
    case interrupt_status:
        raised_ &= ~bits;
        break;
    case baud_generator:
        baud_generator_ = bits & 0xFFFF;
        break;
    case receive_timeout:
        receive_timeout_ = bits & byte_mask;
        break;
    case receive_trigger:
        receive_trigger_ = bits & trigger_mask;
        break;
    case fifo:
        send(static_cast<std::uint8_t>(bits));
        break;
    case baud_divider:
        baud_divider_ = bits & byte_mask;
        break;
    case transmit_trigger:
        transmit_trigger_ = bits & trigger_mask;
        break;
    default:
        break;
    }
    update();
}

void cadence_uart::receive(std::uint8_t byte)
{
    if ((control_ & (control_receive | control_receive_off)) != control_receive) {
        return; // nothing is connected
    }
    received_.push_back(byte);
    raised_ |= receive_timeout_ != 0 ? timed_out : 0;
    update();
}

} // namespace bulkhead::machine::devices
