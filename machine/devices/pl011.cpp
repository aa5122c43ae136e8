// SPDX-License-Identifier: Apache-2.0
// Registers of DDI 0183, chapter 3. The transmit FIFO is either empty, so that its interrupt is raised as
// soon as a byte has been sent, or full, because the line is held.
#include "machine/devices/pl011.h"

#include <array>

namespace bulkhead::machine::devices {
namespace {

constexpr std::uint32_t flag_receive_empty = 1u << 4;
constexpr std::uint32_t flag_transmit_full = 1u << 5;
constexpr std::uint32_t flag_transmit_empty = 1u << 7;
constexpr std::uint32_t interrupt_receive = 1u << 4;
constexpr std::uint32_t interrupt_transmit = 1u << 5;
constexpr std::uint32_t interrupt_all = 0x7FF;
constexpr std::array<std::uint8_t, 8> identification = {0x11, 0x10, 0x14, 0x00, 0x0D, 0xF0, 0x05, 0xB1};

} // namespace

void pl011::update()
{
    const bool high = (raised_ & mask_) != 0;
    if (high != high_) {
        high_ = high;
        line_(high);
    }
}

void pl011::set_transmit_interrupt()
{
    raised_ = room_ == 0u ? raised_ & ~interrupt_transmit : raised_ | interrupt_transmit;
}

void pl011::set_room(std::optional<std::uint32_t> bytes)
{
    room_ = bytes;
    set_transmit_interrupt();
    update();
}

std::uint64_t pl011::read(std::uint64_t offset)
{
    if (offset >= 0xFE0 && offset < 0x1000) {
        return identification[(offset - 0xFE0) / 4];
    }
    switch (offset) {
    case 0x00: {
        if (received_.empty()) {
            return 0;
        }
        const std::uint8_t byte = received_.front();
        received_.pop_front();
        if (received_.empty()) {
            raised_ &= ~interrupt_receive;
        }
        update();
        return byte;
    }
    case 0x18:
        return (room_ == 0u ? flag_transmit_full : flag_transmit_empty) |
               (received_.empty() ? flag_receive_empty : 0);
    case 0x24:
        return integer_divisor_;
    case 0x28:
        return fraction_divisor_;
    case 0x2C:
        return line_control_;
    case 0x30:
        return control_;
    case 0x34:
        return levels_;
    case 0x38:
        return mask_;
    case 0x3C:
        return raised_;
    case 0x40:
        return raised_ & mask_;
    default:
        return 0;
    }
}

void pl011::write(std::uint64_t offset, std::uint64_t value)
{
    const auto bits = static_cast<std::uint32_t>(value);
    switch (offset) {
    case 0x00:
        if (room_ == 0u) {
            break; // lost: the driver did not check for room
        }
        sent_(static_cast<std::uint8_t>(bits));
        if (room_) {
            --*room_;
        }
        set_transmit_interrupt();
        break;
    case 0x24:
        integer_divisor_ = bits & 0xFFFF;
        break;
    case 0x28:
        fraction_divisor_ = bits & 0x3F;
        break;
    case 0x2C:
        line_control_ = bits & 0xFF;
        break;
    case 0x30:
        control_ = bits & 0xFFFF;
        break;
    case 0x34:
        levels_ = bits & 0x3F;
        break;
    case 0x38:
        mask_ = bits & interrupt_all;
        break;
    case 0x44:
        raised_ &= ~bits;
        break;
    default:
        break;
    }
    update();
}

void pl011::receive(std::uint8_t byte)
{
    received_.push_back(byte);
    raised_ |= interrupt_receive;
    update();
}

} // namespace bulkhead::machine::devices
