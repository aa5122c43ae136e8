// SPDX-License-Identifier: Apache-2.0
// T5: maintenance that EL2 broadcasts to all cores for a domain is charged to that domain's budget, and when
// the budget is spent the domain waits for its next period, on a core of its own and on one that it shares.
#include "hosted_machine.h"
#include <gtest/gtest.h>

namespace maintenance_charge_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t core = 1; // of domain 1, which has core 3 too
constexpr uint32_t broadcast_events = 40;
constexpr uint32_t icache_events = 90;
constexpr uint32_t budget_events = 100;

void limit(SampleManifest &m)
{
    m.header.platform.traffic_event = 0x17;
    m.header.platform.broadcast_events = broadcast_events;
    m.header.platform.broadcast_icache_events = icache_events;
    m.domains[1].flags |=
        BH_DOMAIN_FLAG_BUDGET | BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED | BH_DOMAIN_FLAG_CACHES_TRAPPED;
    m.domains[1].budget_events = budget_events;
    m.domains[1].budget_period_ns = 1'000'000;
}

uint64_t tlbi(unsigned reg)
{
    return esr_sysreg(1, 0, 8, 3, 1, reg, false);
}

constexpr unsigned in_short_way = 3;
constexpr unsigned in_whole_way = 25;

TEST(MaintenanceCharge, T5_BroadcastsAreOfTheDomainsBudget)
{
    for (const unsigned reg : {in_short_way, in_whole_way}) {
        HostedMachine machine(limit);
        machine.on_core(core);
        machine.trap(tlbi(reg));
        machine.trap(tlbi(reg));
        EXPECT_FALSE(machine.waited()) << reg;
        EXPECT_EQ(cpu_at(core)->bandwidth.budget.reservation.statistics.events, 2 * broadcast_events);
        machine.trap(tlbi(reg));
        EXPECT_TRUE(machine.waited()) << "its budget is spent: " << reg;
        EXPECT_EQ(machine.exits(core, BH_EXIT_REASON_TLB_BROADCAST), 3u) << "and each was done once";
        EXPECT_EQ(fake_last_tlbi().count, 3u);
    }
}

TEST(MaintenanceCharge, T5_AllInstructionCachesCostMore)
{
    HostedMachine machine(limit);
    machine.on_core(core);
    machine.trap(esr_sysreg(1, 0, 7, 1, 0, 31, false)); // IC IALLUIS
    EXPECT_EQ(cpu_at(core)->bandwidth.budget.reservation.statistics.events, icache_events);
}

TEST(MaintenanceCharge, T5_WhatStaysOnTheCoreIsFree)
{
    HostedMachine machine(limit);
    machine.on_core(core);
    for (unsigned i = 0; i < 10; i++) {
        machine.trap(esr_sysreg(1, 0, 8, 7, 1, in_short_way, false)); // TLBI VAE1
        machine.trap(esr_sysreg(1, 0, 7, 5, 0, 31, false));           // IC IALLU
    }
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(cpu_at(core)->bandwidth.budget.reservation.statistics.events, 0u);
}

TEST(MaintenanceCharge, T5_WithoutABudgetItIsOnlyCounted)
{
    HostedMachine machine([](SampleManifest &m) {
        m.header.platform.broadcast_events = broadcast_events;
        m.domains[1].flags |= BH_DOMAIN_FLAG_TRANSLATIONS_TRAPPED;
    });
    machine.on_core(core);
    for (unsigned i = 0; i < 10; i++) {
        machine.trap(tlbi(in_short_way));
    }
    EXPECT_FALSE(machine.waited());
    EXPECT_EQ(machine.exits(core, BH_EXIT_REASON_TLB_BROADCAST), 10u);
}

TEST(MaintenanceCharge, T5_OnASharedCoreTheOtherGoesOn)
{
    HostedMachine machine([](SampleManifest &m) {
        limit(m);
        m.vcpus[1].core = 0; // beside domain 0, which comes after it
        m.domains[0].priority = 1;
    });
    const auto running = [] { return cpu_at(0)->vcpu->domain->index; };
    const status_vcpu &status = cpu_at(0)->status->shared[1];
    machine.on_core(0);
    ASSERT_EQ(running(), 1u);
    machine.trap(tlbi(in_short_way));
    machine.trap(tlbi(in_short_way));
    EXPECT_EQ(running(), 1u);
    machine.trap(tlbi(in_short_way));
    EXPECT_EQ(running(), 0u);
    EXPECT_EQ(status.state, BH_VCPU_STATE_RECHARGE);
    EXPECT_EQ(status.budget.events, 3 * broadcast_events);
    EXPECT_EQ(fake_last_tlbi().count, 3u);
}

} // namespace
} // namespace maintenance_charge_test
