// SPDX-License-Identifier: Apache-2.0
// Offsets in the private memory region (DDI 0407I, chapters 2 to 4); see the header.
#include "machine/devices/mpcore.h"

namespace bulkhead::machine::devices {

namespace {

constexpr std::uint32_t scu_end = 0x100, scu_configuration = 0x04;
constexpr std::uint32_t filter_start = 0x40, filter_end = 0x44;
constexpr std::uint32_t interface = 0x100, interface_end = 0x200;
constexpr std::uint32_t global_low = 0x200, global_high = 0x204, global_control = 0x208, global_end = 0x300;
constexpr std::uint32_t timer_load = 0x600, timer_counter = 0x604, timer_control = 0x608;
constexpr std::uint32_t timer_status = 0x60C, watchdog = 0x620, watchdog_end = 0x700;
constexpr std::uint32_t distributor = 0x1000;

constexpr std::uint32_t enable = 1, reload = 2, interrupts = 4, prescaler = 0xFF00;
constexpr std::uint32_t tag_ram_of_32_kib = 1; // of each core

} // namespace

mpcore::mpcore(const settings &chosen, engine &timeline, core &on, gic_v2 &gic,
               std::function<void(std::string_view)> missing)
    : settings_(chosen), on_(on), gic_(gic), missing_(std::move(missing)),
      timer_(timeline, device_clock(chosen.clock_hz),
             [this] {
                 timer_event_ = true;
                 timer_line();
             }),
      clock_(chosen.clock_hz)
{
    kept_[filter_start] = 0x00100000;
    kept_[filter_end] = 0xFFE00000;
}

void mpcore::timer_line()
{
    gic_.set_line(on_.id(), timer_interrupt, timer_event_ && (timer_control_ & interrupts) != 0);
}

void mpcore::write_timer_control(std::uint32_t value)
{
    if ((value & prescaler) != 0) {
        report("private timer's prescaler");
    }
    timer_control_ = value;
    timer_.set_reload((value & reload) != 0 ? timer_load_ : 0, now());
    timer_.run((value & enable) != 0, now());
    timer_line();
}

std::uint32_t mpcore::read(std::uint32_t offset)
{
    if (offset >= distributor) {
        return static_cast<std::uint32_t>(gic_.read_distributor(on_.id(), offset - distributor, 4));
    }
    if (offset >= interface && offset < interface_end) {
        return static_cast<std::uint32_t>(gic_.read_interface(on_.id(), offset - interface));
    }
    switch (offset) {
    case scu_configuration: {
        std::uint32_t sizes = 0;
        for (std::uint32_t i = 0; i < settings_.cores; ++i) {
            sizes |= tag_ram_of_32_kib << (8 + 2 * i);
        }
        return sizes | (settings_.cores - 1);
    }
    case global_low:
    case global_high: {
        const std::uint64_t value = global_runs_ ? clock_.ticks(now()) : 0;
        return static_cast<std::uint32_t>(offset == global_low ? value : value >> 32U);
    }
    case global_control:
        return global_runs_ ? enable : 0;
    case timer_load:
        return timer_load_;
    case timer_counter:
        return timer_.value(now());
    case timer_control:
        return timer_control_;
    case timer_status:
        return timer_event_ ? 1 : 0;
    default:
        break;
    }
    const auto found = kept_.find(offset);
    return found == kept_.end() ? 0 : found->second;
}

void mpcore::write(std::uint32_t offset, std::uint32_t value)
{
    if (offset >= distributor) {
        gic_.write_distributor(on_.id(), offset - distributor, 4, value);
    } else if (offset >= interface && offset < interface_end) {
        gic_.write_interface(on_.id(), offset - interface, value);
    } else if (offset < scu_end) {
        kept_[offset] = value;
    } else if (offset == global_control) {
        global_runs_ = (value & enable) != 0;
        if ((value & ~enable) != 0) {
            report("global timer's comparator");
        }
    } else if (offset >= global_low && offset < global_end) {
        report("global timer's comparator");
    } else if (offset == timer_load || offset == timer_counter) {
        timer_load_ = offset == timer_load ? value : timer_load_;
        timer_.set_reload((timer_control_ & reload) != 0 ? timer_load_ : 0, now());
        timer_.set_value(value, now());
    } else if (offset == timer_control) {
        write_timer_control(value);
    } else if (offset == timer_status) {
        timer_event_ = timer_event_ && (value & 1U) == 0;
        timer_line();
    } else if (offset >= watchdog && offset < watchdog_end) {
        report("private watchdog");
    }
}

void mpcore::report(std::string_view name)
{
    if (reported_.insert(name).second) {
        missing_(name);
    }
}

} // namespace bulkhead::machine::devices
