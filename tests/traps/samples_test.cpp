// SPDX-License-Identifier: Apache-2.0
// Where rings of samples are (B8): in on-chip memory if all of them fit, otherwise in the pool.
#include "hosted_machine.h"
#include <cstring>
#include <gtest/gtest.h>

extern "C" {
#include "time/statistics.h"
}

namespace samples_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t sram = 0x20000000;
constexpr uint64_t ring_bytes = uint64_t{BH_SAMPLE_FRAMES} * BH_PAGE_BYTES;
constexpr uint32_t rings = 3; // a core of domain 0, two of domain 1
constexpr uint64_t period_ticks = 62500;
constexpr uint32_t hypervisor_timer = 26;

std::function<void(SampleManifest &)> with_sram(uint64_t bytes)
{
    return [bytes](SampleManifest &m) {
        m.header.platform.traffic_event = 0x17;
        m.header.platform.sram_pa = bytes == 0 ? 0 : sram;
        m.header.platform.sram_bytes = bytes;
        for (uint32_t i = 0; i < 2; i++) {
            m.domains[i].flags |= BH_DOMAIN_FLAG_BUDGET;
            m.domains[i].budget_events = 1000;
            m.domains[i].budget_period_ns = 1'000'000;
        }
    };
}

bool is_in_pool(uint64_t pa)
{
    const color_range &range = system_pool()->range;

    for (uint64_t frame = 0; frame < system_pool()->used; frame++) {
        if (color_at(&range, frame * BH_PAGE_BYTES).value == pa) {
            return true;
        }
    }
    return false;
}

uint64_t pool_used(uint64_t sram_bytes)
{
    HostedMachine machine(with_sram(sram_bytes));
    EXPECT_TRUE(machine.booted());
    return system_pool()->used;
}

// A sample of `core`, after a period has ended there.
void expect_a_sample(HostedMachine &machine, uint32_t core)
{
    uint64_t position = 0;
    uint64_t dropped = 0;
    status_sample sample{};

    machine.on_core(core);
    fake_clock_set(period_ticks);
    fake_gic_raise(hypervisor_timer);
    machine.interrupt();
    ASSERT_TRUE(statistics_read(cpu_at(core), &position, &sample, &dropped));
    EXPECT_EQ(position, 1u);
    EXPECT_EQ(sample.budget, 1000u);
    EXPECT_EQ(sample.period_ticks, period_ticks);
}

TEST(Samples, B8_AreInOnChipMemoryWhereAllRingsFit)
{
    HostedMachine machine(with_sram(rings * ring_bytes));
    uint64_t expected = sram;

    ASSERT_TRUE(machine.booted());
    for (const uint32_t core : {0u, 1u, 3u}) {
        EXPECT_EQ(cpu_at(core)->status->samples_pa, expected);
        EXPECT_EQ(cpu_at(core)->status->samples_bytes, ring_bytes);
        expected += ring_bytes;
    }
    EXPECT_EQ(cpu_at(2)->status->samples_bytes, 0u) << "nobody has a budget there";
    expect_a_sample(machine, 1);
    const std::vector<char> &memory = machine.page(sram);
    sample_ring ring{};
    std::memcpy(&ring, memory.data() + ring_bytes, sizeof ring);
    EXPECT_EQ(ring.done, 1u) << "of core 1, behind that of core 0";
}

TEST(Samples, B8_AreInThePoolWhereOnChipMemoryIsTooSmallForAll)
{
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{BH_PAGE_BYTES}, rings * ring_bytes - BH_PAGE_BYTES}) {
        HostedMachine machine(with_sram(bytes));

        ASSERT_TRUE(machine.booted());
        for (const uint32_t core : {0u, 1u, 3u}) {
            EXPECT_TRUE(is_in_pool(cpu_at(core)->status->samples_pa)) << bytes;
        }
        expect_a_sample(machine, 1);
    }
}

TEST(Samples, B8_InOnChipMemoryTakeNothingOfThePool)
{
    EXPECT_EQ(pool_used(0) - pool_used(rings * ring_bytes), rings * BH_SAMPLE_FRAMES);
    EXPECT_EQ(pool_used(0), pool_used(rings * ring_bytes - BH_PAGE_BYTES));
}

TEST(Samples, B8_WithoutBudgetsNothingIsMapped)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.platform.sram_pa = sram;
        m.header.platform.sram_bytes = rings * ring_bytes;
    });

    ASSERT_TRUE(machine.booted());
    EXPECT_EQ(cpu_at(0)->status->samples_pa, 0u);
    EXPECT_EQ(cpu_at(0)->status->samples_bytes, 0u);
}

} // namespace
} // namespace samples_test
