// SPDX-License-Identifier: Apache-2.0
// The private region of a Cortex-A9 MPCore (DDI 0407I): its timer ends a wait by an interrupt, repeatedly or
// once; the interrupt controller is at its offsets.
#include <gtest/gtest.h>

#include "machine/devices/mpcore.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::mpcore_test {
namespace {

constexpr std::uint32_t cpu_control = 0x100, cpu_mask = 0x104, acknowledge = 0x10C, end = 0x110;
constexpr std::uint32_t distributor_control = 0x1000, set_enable = 0x1100;
constexpr std::uint32_t timer_load = 0x600, timer_counter = 0x604, timer_control = 0x608,
                        timer_status = 0x60C;
constexpr std::uint64_t clock_hz = 100'000'000; // 10 ns

class mpcore_test : public testing::Test {
protected:
    void run(const std::function<void(core &, mpcore &)> &body)
    {
        auto machine = machine::test::make_machine(machine::test::small_machine(1));
        core &own = machine->core_at({0});
        gic_v2 gic({.cores = 1, .interrupts = 96}, [this, &own](core_id) {
            ++changes_;
            own.signal(own.clock());
        });
        mpcore region({.clock_hz = clock_hz, .cores = 2}, machine->timeline(), own, gic,
                      [this](std::string_view name) { missing_.emplace_back(name); });
        own.start([&](core &on) {
            region.write(set_enable, 1U << mpcore::timer_interrupt);
            region.write(distributor_control, 1);
            region.write(cpu_mask, 0xFF);
            region.write(cpu_control, 1);
            body(on, region);
        });
        machine->timeline().run(picoseconds{1'000'000'000});
    }
    // Waits for the next interrupt; returns which, and when.
    static std::pair<std::uint32_t, std::uint64_t> next(core &on, mpcore &region, std::uint64_t at_most)
    {
        on.order();
        for (std::uint32_t i = 0; i < at_most; ++i) {
            if (const std::uint32_t intid = region.read(acknowledge) & 0x3FFU; intid != 1023) {
                return {intid, on.clock().value};
            }
            on.spend(picoseconds{1000});
            on.order();
        }
        return {1023, 0};
    }

    int changes_ = 0;
    std::vector<std::string> missing_;
};

TEST_F(mpcore_test, the_timer_interrupts_each_period_until_it_is_stopped)
{
    run([&](core &on, mpcore &region) {
        const std::uint64_t start = on.order().value;
        region.write(timer_load, 99);
        EXPECT_EQ(region.read(timer_counter), 99U);
        region.write(timer_control, 7);
        for (std::uint64_t period = 1; period <= 3; ++period) {
            const auto [intid, when] = next(on, region, 3000);
            EXPECT_EQ(intid, mpcore::timer_interrupt);
            EXPECT_NEAR(static_cast<double>(when - start), static_cast<double>(period) * 1'000'000, 30'000);
            EXPECT_EQ(region.read(timer_status), 1U);
            region.write(timer_status, 1);
            region.write(end, intid);
        }
        region.write(timer_control, 0);
        EXPECT_EQ(next(on, region, 3000).first, 1023U);
    });
}

TEST_F(mpcore_test, without_reload_it_counts_once)
{
    run([&](core &on, mpcore &region) {
        region.write(timer_load, 50);
        region.write(timer_control, 5);
        EXPECT_EQ(next(on, region, 2000).first, mpcore::timer_interrupt);
        region.write(timer_status, 1);
        region.write(end, mpcore::timer_interrupt);
        EXPECT_EQ(next(on, region, 3000).first, 1023U);
        EXPECT_EQ(region.read(timer_counter), 0U);
    });
}

TEST_F(mpcore_test, says_how_many_cores_there_are_and_what_is_not_modelled)
{
    run([&](core &, mpcore &region) {
        EXPECT_EQ(region.read(4) & 3U, 1U) << "two";
        region.write(0x620, 1);
        region.write(0x628, 1);
        EXPECT_EQ(missing_, std::vector<std::string>{"private watchdog"});
    });
}

} // namespace
} // namespace bulkhead::machine::devices::mpcore_test
