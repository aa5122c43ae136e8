// SPDX-License-Identifier: Apache-2.0
// The private memory region of a Cortex-A9 MPCore as one core sees it (DDI 0407I, 1.5): snoop control unit,
// interrupt interfaces and distributor, private timer, global timer. The SCU's registers only store written
// values: the machine models coherence elsewhere. The watchdog and the global timer's comparator are left
// out; if software uses them, `missing` is called once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "machine/core.h"
#include "machine/devices/down_counter.h"
#include "machine/devices/gic_v2.h"

namespace bulkhead::machine::devices {

class mpcore {
public:
    static constexpr std::uint64_t bytes = 0x2000;
    static constexpr std::uint32_t timer_interrupt = 29;

    struct settings {
        std::uint64_t clock_hz;  // PERIPHCLK
        std::uint32_t cores = 1; // as reported by the SCU
    };
    // `missing` is called with the name of a part that is not modelled.
    mpcore(const settings &chosen, engine &timeline, core &on, gic_v2 &gic,
           std::function<void(std::string_view)> missing);

    // Called by the core, on its fiber and in order.
    [[nodiscard]] std::uint32_t read(std::uint32_t offset);
    void write(std::uint32_t offset, std::uint32_t value);

private:
    [[nodiscard]] picoseconds now() const { return on_.clock(); }
    void write_timer_control(std::uint32_t value);
    void timer_line();
    void report(std::string_view name);

    settings settings_;
    core &on_;
    gic_v2 &gic_;
    std::function<void(std::string_view)> missing_;
    down_counter timer_;
    std::uint32_t timer_load_ = 0;
    std::uint32_t timer_control_ = 0;
    bool timer_event_ = false;
    device_clock clock_;
    bool global_runs_ = false;
    std::map<std::uint32_t, std::uint32_t> kept_; // stored registers of the SCU
    std::set<std::string_view> reported_;
};

} // namespace bulkhead::machine::devices
