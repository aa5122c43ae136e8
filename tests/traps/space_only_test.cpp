// SPDX-License-Identifier: Apache-2.0
// The hypervisor that isolates space only: it refuses every manifest with settings of time isolation, and its
// guests see none of these features.
#include "hosted_machine.h"
#include <gtest/gtest.h>

extern "C" {
#include "time/pmu.h"
}

namespace space_only_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t not_supported =
    static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_NOT_SUPPORTED));

struct Refusal {
    const char *name;
    bh_manifest_error error;
    void (*change)(SampleManifest &);
};

class SpaceOnlyRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(SpaceOnlyRefuses, ByName)
{
    auto sample = make_sample_manifest();
    ASSERT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    GetParam().change(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, GetParam().error);
}

// A budget that the full program accepts.
void give_budget(SampleManifest &m)
{
    m.header.platform.traffic_event = 0x17;
    for (manifest_cpu &cpu : m.cpus) {
        cpu.pmu_irq = 23;
    }
    m.domains[0].flags |= BH_DOMAIN_FLAG_BUDGET;
    m.domains[0].budget_events = 1000;
    m.domains[0].budget_period_ns = 1000000;
}

#define REFUSED(name, error, statements)                                                                     \
    Refusal                                                                                                  \
    {                                                                                                        \
        name, BH_MANIFEST_ERROR_##error, [](SampleManifest &m) { statements; }                               \
    }

INSTANTIATE_TEST_SUITE_P(
    All, SpaceOnlyRefuses,
    testing::Values(REFUSED("budget", NOT_IN_IMAGE, give_budget(m)),
                    REFUSED("reclaim", NOT_IN_IMAGE, m.domains[0].flags |= BH_DOMAIN_FLAG_RECLAIM),
                    REFUSED("monitors", NOT_IN_IMAGE, m.domains[1].flags |= BH_DOMAIN_FLAG_PMU),
                    REFUSED("regulation", NOT_IN_IMAGE, m.header.regulation.members = 1),
                    REFUSED("calls", NOT_IN_IMAGE, give_calls(m)),
                    REFUSED("smmu", NOT_IN_IMAGE, give_smmu(m)),
                    REFUSED("its", NOT_IN_IMAGE, m.header.its.pa = 0x0B000000),
                    REFUSED("shared_core", NOT_IN_IMAGE, m.vcpus[1].core = m.vcpus[0].core),
                    // An error that the full program refuses, too.
                    REFUSED("half_a_budget", BUDGET, m.domains[0].budget_period_ns = 1000000),
                    REFUSED("half_a_regulation", REGULATION, m.header.regulation.step = 1)),
    [](const auto &row) { return std::string(row.param.name); });

class SpaceOnly : public testing::Test {
protected:
    SpaceOnly() : machine([](SampleManifest &m) { m.domains[0].flags |= BH_DOMAIN_FLAG_MANAGER; })
    {
        machine.on_core(0);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5);
    }

    HostedMachine machine;
};

TEST_F(SpaceOnly, CallsOfBudgetsSamplesAndRegulatorsDoNotExistForManagersEither)
{
    for (uint64_t function = BH_HYPERCALL_BUDGET_READ; function <= BH_HYPERCALL_REGULATION_CHANGE;
         function++) {
        EXPECT_EQ(machine.hvc(function, 1), not_supported) << function;
    }
    EXPECT_EQ(machine.hvc(BH_HYPERCALL_DOMAIN_STATE, 1), 0u) << "as before";
}

TEST_F(SpaceOnly, AGuestHasNoMonitors)
{
    constexpr unsigned dfr0_pmuver = 8;
    fake_set_sysreg(SYSREG_ID_ID_AA64DFR0_EL1, 0x10305106);
    fake_set_sysreg(SYSREG_ID_VBAR_EL1, 0x40080000);
    machine.regs(0).x[1] = ~0ull;
    machine.trap(esr_sysreg(3, 0, 0, 5, 0, 1, true)); // ID_AA64DFR0_EL1
    EXPECT_EQ(machine.regs(0).x[1] >> dfr0_pmuver & 0xF, 0u);
    machine.trap(esr_sysreg(3, 3, 9, 12, 0, 1, true)); // PMCR_EL0
    EXPECT_EQ(sysreg_read(ELR_EL2), 0x40080200u) << "undefined, at EL1's vector";
}

TEST_F(SpaceOnly, CountersStandStillAndNobodysInterruptIsAwaited)
{
    EXPECT_EQ(sysreg_read(PMCNTENSET_EL0), 0u);
    EXPECT_EQ(cpu_at(0)->bandwidth.irq, 0u);
    EXPECT_EQ(cpu_at(0)->hold, 0u);
    EXPECT_EQ(cpu_at(0)->shared, nullptr);
}

} // namespace
} // namespace space_only_test
