// SPDX-License-Identifier: Apache-2.0
// Makes devices by their types; see the header.
#include "machine/armv7/runner/board.h"

#include "machine/devices/cadence_uart.h"
#include "machine/devices/cmsdk_uart.h"
#include "machine/devices/stm32_usart.h"
#include "machine/program/text.h"

namespace bulkhead::machine::armv7 {
namespace {

constexpr std::uint64_t address_space = std::uint64_t{1} << 32U;
constexpr std::uint64_t fastest_clock_hz = 10'000'000'000;

void connect_uart(devices::uart &one, const device_settings &wanted, std::uint64_t bytes, physical_bus &bus)
{
    bus.add({wanted.at, bytes,
             [&one](std::uint32_t offset) { return static_cast<std::uint32_t>(one.read(offset)); },
             [&one](std::uint32_t offset, std::uint32_t value) { one.write(offset, value); }});
}

template <class Timer>
void connect_timer(Timer &one, const device_settings &wanted, const board::surroundings &around)
{
    engine &timeline = around.timeline;
    around.bus.add({wanted.at, Timer::bytes,
                    [&one, &timeline](std::uint32_t offset) { return one.read(offset, timeline.now()); },
                    [&one, &timeline](std::uint32_t offset, std::uint32_t value) {
                        one.write(offset, value, timeline.now());
                    }});
}

} // namespace

std::string board::add(const device_settings &one, const surroundings &around)
{
    if (one.at >= address_space || around.bus.memory_left(one.at) != 0 ||
        around.bus.device_at(one.at) != nullptr) {
        return sentence("devices: a ", one.type, " at ", hex{one.at},
                        " is where something else is, or beyond 32 bits of address");
    }
    const auto line = [&around, number = one.interrupt] {
        return [interrupt = around.interrupt, number](bool high) { interrupt(number, high); };
    };
    if (one.type == "cmsdk-uart") {
        const auto transmit = [interrupt = around.interrupt, number = one.interrupt + 1](bool high) {
            interrupt(number, high);
        };
        uarts_.push_back(std::make_unique<devices::cmsdk_uart>(around.sent, transmit, line()));
        connect_uart(*uarts_.back(), one, devices::cmsdk_uart::bytes, around.bus);
        return "";
    }
    if (one.type == "cadence-uart") {
        constexpr std::uint64_t bytes = 0x1000;
        uarts_.push_back(std::make_unique<devices::cadence_uart>(around.sent, line()));
        connect_uart(*uarts_.back(), one, bytes, around.bus);
        return "";
    }
    if (one.type == "stm32-usart") {
        if (one.clock_hz > fastest_clock_hz) {
            return "devices: an stm32-usart has a clock of up to 10 GHz";
        }
        uarts_.push_back(std::make_unique<devices::stm32_usart>(
            around.sent, line(), devices::stm32_usart::clocked{one.clock_hz, [&timeline = around.timeline] {
                                                                   return timeline.now();
                                                               }}));
        connect_uart(*uarts_.back(), one, devices::stm32_usart::bytes, around.bus);
        return "";
    }
    if (one.type == "stm32-rcc") {
        devices::stm32_rcc &made = *stm32_rccs_.emplace_back(std::make_unique<devices::stm32_rcc>());
        around.bus.add({one.at, devices::stm32_rcc::bytes,
                        [&made](std::uint32_t offset) { return made.read(offset); },
                        [&made](std::uint32_t offset, std::uint32_t value) { made.write(offset, value); }});
        return "";
    }
    if (one.type != "cmsdk-timer" && one.type != "stm32-timer") {
        return sentence("devices: the machine has no ", one.type);
    }
    if (one.clock_hz == 0 || one.clock_hz > fastest_clock_hz) {
        return sentence("devices: a ", one.type, " needs a clock of up to 10 GHz");
    }
    if (one.type == "cmsdk-timer") {
        cmsdk_timers_.push_back(std::make_unique<devices::cmsdk_timer>(
            around.timeline, devices::device_clock(one.clock_hz), line()));
        connect_timer(*cmsdk_timers_.back(), one, around);
        return "";
    }
    stm32_timers_.push_back(
        std::make_unique<devices::stm32_timer>(around.timeline, devices::device_clock(one.clock_hz), line()));
    connect_timer(*stm32_timers_.back(), one, around);
    return "";
}

} // namespace bulkhead::machine::armv7
