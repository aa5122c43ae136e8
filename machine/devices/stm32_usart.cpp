// SPDX-License-Identifier: Apache-2.0
// Registers; see the header.
#include "machine/devices/stm32_usart.h"

#include <algorithm>

namespace bulkhead::machine::devices {
namespace {

enum usart_register : std::uint64_t {
    cr1 = 0x00,
    cr2 = 0x04,
    cr3 = 0x08,
    brr = 0x0C,
    isr = 0x1C,
    icr = 0x20,
    rdr = 0x24,
    tdr = 0x28,
};

constexpr std::uint32_t cr1_enable = 1U << 0U;
constexpr std::uint32_t cr1_receive = 1U << 2U;
constexpr std::uint32_t cr1_transmit = 1U << 3U;
// Enable bits in CR1 are at the positions of their flags in ISR: RXNE, TC, TXE.
constexpr std::uint32_t cr1_interrupts = 7U << 5U;
constexpr std::uint32_t isr_overrun = 1U << 3U;
constexpr std::uint32_t isr_received = 1U << 5U;
constexpr std::uint32_t isr_sent = 1U << 6U;
constexpr std::uint32_t isr_transmit_empty = 1U << 7U;
constexpr std::uint32_t isr_transmit_acknowledged = 1U << 21U;
constexpr std::uint32_t isr_receive_acknowledged = 1U << 22U;

} // namespace

std::uint32_t stm32_usart::status() const
{
    const bool on = (control_ & cr1_enable) != 0;
    const bool at_once = clock_.hz == 0;
    std::uint32_t bits = at_once || clock_.now() >= begins_ ? isr_transmit_empty : 0;
    bits |= at_once || clock_.now() >= ends_ ? isr_sent : 0;
    bits |= on && (control_ & cr1_transmit) != 0 ? isr_transmit_acknowledged : 0;
    bits |= on && (control_ & cr1_receive) != 0 ? isr_receive_acknowledged : 0;
    bits |= received_ ? isr_received : 0;
    bits |= overrun_ ? isr_overrun : 0;
    return bits;
}

// On hardware a byte that is written while TDR is not empty replaces the one there (RM0410, TXE). Here both
// are sent, since no driver does this.
void stm32_usart::send(std::uint8_t byte)
{
    if (clock_.hz != 0) {
        constexpr std::uint64_t bits = 10; // start bit, eight data bits, stop bit
        constexpr std::uint64_t second = 1'000'000'000'000;
        begins_ = std::max(ends_, clock_.now());
        ends_ = begins_ + picoseconds{bits * baud_rate_ * second / clock_.hz};
    }
    sent_(byte);
}

void stm32_usart::update()
{
    const bool high = (status() & control_ & cr1_interrupts) != 0 && (control_ & cr1_enable) != 0;
    if (high != high_) {
        high_ = high;
        line_(high);
    }
}

std::uint64_t stm32_usart::read(std::uint64_t offset)
{
    switch (offset) {
    case cr1:
        return control_;
    case cr2:
        return control_2_;
    case cr3:
        return control_3_;
    case brr:
        return baud_rate_;
    case isr:
        return status();
    case rdr: {
        const std::uint8_t byte = received_.value_or(0);
        received_.reset();
        update();
        return byte;
    }
    default:
        return 0;
    }
}

void stm32_usart::write(std::uint64_t offset, std::uint64_t value)
{
    const auto bits = static_cast<std::uint32_t>(value);
    switch (offset) {
    case cr1:
        control_ = bits;
        break;
    case cr2:
        control_2_ = bits;
        break;
    case cr3:
        control_3_ = bits;
        break;
    case brr:
        baud_rate_ = bits & 0xFFFF;
        break;
    case icr:
        overrun_ = overrun_ && (bits & isr_overrun) == 0;
        break;
    case tdr: {
        constexpr std::uint32_t sends = cr1_enable | cr1_transmit;
        if ((control_ & sends) == sends && baud_rate_ != 0) {
            send(static_cast<std::uint8_t>(bits));
        }
        break;
    }
    default:
        break;
    }
    update();
}

void stm32_usart::receive(std::uint8_t byte)
{
    constexpr std::uint32_t receives = cr1_enable | cr1_receive;
    if ((control_ & receives) != receives) {
        return; // nothing is connected
    }
    overrun_ = overrun_ || received_.has_value();
    received_ = received_.value_or(byte);
    update();
}

} // namespace bulkhead::machine::devices
