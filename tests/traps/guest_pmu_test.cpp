// SPDX-License-Identifier: Apache-2.0
// Performance monitors of a guest beside EL2's own counter (B1): the guest's counters work as the
// architecture defines, and no access of the guest reaches EL2's.
#include "hosted_machine.h"
#include <gtest/gtest.h>
#include <utility>

extern "C" {
#include "time/guest_pmu.h"
}

namespace guest_pmu_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control_core = 0;
constexpr uint32_t linux_core = 1;
constexpr uint32_t line = 23;
constexpr uint32_t refills = 0x17;
constexpr uint32_t other_event = 0x04;
constexpr uint32_t budget_events = 1000;
constexpr uint32_t guest_counters = 5;
constexpr uint32_t el2_counter = 5; // of six
constexpr uint64_t cycle_bit = uint64_t{1} << 31;
constexpr uint64_t guest_pc = 0x40001000;
constexpr uint64_t enable = 1;

struct Register {
    unsigned op1, crn, crm, op2;
};
constexpr Register pmcr{3, 9, 12, 0}, cntenset{3, 9, 12, 1}, cntenclr{3, 9, 12, 2}, ovsclr{3, 9, 12, 3},
    swinc{3, 9, 12, 4}, selr{3, 9, 12, 5}, ceid0{3, 9, 12, 6}, ccntr{3, 9, 13, 0}, xevtyper{3, 9, 13, 1},
    xevcntr{3, 9, 13, 2}, userenr{3, 9, 14, 0}, ovsset{3, 9, 14, 3}, intenset{0, 9, 14, 1},
    intenclr{0, 9, 14, 2}, mmir{0, 9, 14, 6}, ccfiltr{3, 14, 15, 7};

constexpr Register evcntr(unsigned n)
{
    return {3, 14, 8 + n / 8, n % 8};
}

constexpr Register evtyper(unsigned n)
{
    return {3, 14, 12 + n / 8, n % 8};
}

void give_monitors(SampleManifest &sample)
{
    sample.header.platform.traffic_event = refills;
    sample.domains[0].flags |= BH_DOMAIN_FLAG_PMU | BH_DOMAIN_FLAG_BUDGET;
    sample.domains[0].budget_events = budget_events;
    sample.domains[0].budget_period_ns = 1000000;
}

class GuestPmu : public testing::Test {
protected:
    GuestPmu() { enter(control_core); }

    void enter(uint32_t core)
    {
        machine.on_core(core);
        fake_set_sysreg(SYSREG_ID_ELR_EL2, guest_pc);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5);
        fake_set_sysreg(SYSREG_ID_VBAR_EL1, 0x40080000);
    }

    guest_regs &regs() { return machine.regs(fake_current_core()); }

    // False: the register is undefined.
    bool access(Register r, bool read)
    {
        fake_set_sysreg(SYSREG_ID_ELR_EL2, guest_pc);
        machine.trap(esr_sysreg(3, r.op1, r.crn, r.crm, r.op2, 1, read));
        return fake_sysreg(SYSREG_ID_ELR_EL2) == guest_pc + 4;
    }

    void write(Register r, uint64_t value)
    {
        regs().x[1] = value;
        EXPECT_TRUE(access(r, false)) << r.crm << '.' << r.op2;
    }

    uint64_t read(Register r)
    {
        regs().x[1] = 0xBAD;
        EXPECT_TRUE(access(r, true)) << r.crm << '.' << r.op2;
        return regs().x[1];
    }

    void open_interrupts()
    {
        const std::pair<uint64_t, uint64_t> writes[] = {
            {0x08000000, 2}, {0x080A0014, 0}, {0x080B0080, ~0ull}, {0x080B0100, uint64_t{1} << line}};
        for (auto [address, value] : writes) {
            regs().x[1] = value;
            machine.trap(esr_store(4, 1), address);
        }
        fake_gic_guest_open();
    }

    // Counter 0 overflows at the next event.
    void arm_overflow(uint32_t event = other_event)
    {
        write(evtyper(0), event);
        write(evcntr(0), 0xFFFFFFFF);
        write(intenset, 1);
        write(cntenset, 1);
        write(pmcr, enable);
    }

    HostedMachine machine{give_monitors};
};

TEST_F(GuestPmu, IsInTheIdRegistersOfThatDomainAlone)
{
    const Register dfr0{0, 0, 5, 0};
    EXPECT_EQ(read(dfr0) >> 8 & 0xF, 1u);
    EXPECT_EQ(read(pmcr) >> 11 & 0x1F, guest_counters) << "PMCR_EL0.N: all but EL2's";
    EXPECT_EQ(read(ceid0), 0xFFFFFFFFu) << "PMUv3 has no events above 0x3F";
    EXPECT_FALSE(access(mmir, true)) << "since Armv8.4";
    enter(linux_core);
    EXPECT_EQ(read(dfr0) >> 8 & 0xF, 0u);
    for (Register r : {pmcr, cntenset, ovsset, intenset, evcntr(0), evtyper(0), ccfiltr, ccntr}) {
        EXPECT_FALSE(access(r, true));
        EXPECT_FALSE(access(r, false));
    }
}

TEST_F(GuestPmu, StartsWithNothingThatALoaderOrAnotherLifeLeft)
{
    EXPECT_EQ(read(cntenset), 0u);
    EXPECT_EQ(read(intenset), 0u);
    EXPECT_EQ(read(ovsset), 0u);
    EXPECT_EQ(read(ccntr), 0u);
    for (unsigned n = 0; n < guest_counters; n++) {
        EXPECT_EQ(read(evcntr(n)), 0u);
        EXPECT_EQ(read(evtyper(n)), 0u);
    }
}

TEST_F(GuestPmu, CountsWhatTheGuestDoesAndNothingOfEl2)
{
    write(evtyper(2), other_event | 1u << 27); // NSH is not for EL1
    write(cntenset, 1u << 2);
    fake_pmu_cause(other_event, FAKE_EL1, 5);
    EXPECT_EQ(read(evcntr(2)), 0u) << "PMCR_EL0.E is off";
    write(pmcr, enable);
    fake_pmu_cause(other_event, FAKE_EL1, 5);
    fake_pmu_cause(other_event, FAKE_EL0, 3);
    fake_pmu_cause(other_event, FAKE_EL2, 100);
    EXPECT_EQ(read(evcntr(2)), 8u);
    write(evtyper(2), other_event | 1u << 31);
    fake_pmu_cause(other_event, FAKE_EL1, 5);
    EXPECT_EQ(read(evcntr(2)), 8u) << "P";
    write(cntenclr, 1u << 2);
    fake_pmu_cause(other_event, FAKE_EL0, 5);
    EXPECT_EQ(read(evcntr(2)), 8u);
    write(ccfiltr, ~uint64_t{0});
    EXPECT_EQ(read(ccfiltr), 3u << 30) << "the cycle counter neither";
}

TEST_F(GuestPmu, TheSelectedCounterIsTheSame)
{
    write(selr, 3);
    write(xevtyper, other_event);
    write(xevcntr, 77);
    EXPECT_EQ(read(evtyper(3)), other_event);
    EXPECT_EQ(read(evcntr(3)), 77u);
    EXPECT_EQ(read(selr), 3u);
    write(selr, 31);
    write(xevtyper, 1u << 30);
    EXPECT_EQ(read(ccfiltr), 1u << 30);
}

// Whatever is written to any register: EL2's counter continues from its value.
TEST_F(GuestPmu, NothingReachesTheCounterOfEl2)
{
    fake_pmu_cause(refills, FAKE_EL1, 10);
    const uint64_t before = fake_pmu_counter(el2_counter);
    const uint32_t type = fake_pmu_type(el2_counter);
    ASSERT_EQ(before, (uint64_t{1} << 32) - budget_events + 10);
    for (uint64_t value : {~uint64_t{0}, uint64_t{0}, uint64_t{1} << el2_counter, uint64_t{6}}) {
        for (Register r :
             {pmcr, cntenset, cntenclr, ovsset, ovsclr, swinc, intenset, intenclr, ccntr, ccfiltr, userenr}) {
            write(r, value);
        }
        for (unsigned n = guest_counters; n < 31; n++) {
            write(selr, n);
            write(xevtyper, value);
            write(xevcntr, value);
            EXPECT_EQ(read(xevtyper), 0u);
            EXPECT_EQ(read(xevcntr), 0u);
            regs().x[1] = value;
            EXPECT_FALSE(access(evcntr(n), false)) << n;
            EXPECT_FALSE(access(evtyper(n), false)) << n;
        }
    }
    EXPECT_EQ(fake_pmu_counter(el2_counter), before);
    EXPECT_EQ(fake_pmu_type(el2_counter), type);
    write(cntenset, ~uint64_t{0});
    write(ovsset, ~uint64_t{0});
    EXPECT_EQ(read(cntenset), cycle_bit | 0x1F) << "the bits of others read as zero";
    EXPECT_EQ(read(ovsset), cycle_bit | 0x1F);
    fake_pmu_cause(refills, FAKE_EL2, 5);
    EXPECT_EQ(fake_pmu_counter(el2_counter), before + 5) << "and counts, with PMCR_EL0.E off for the guest";
}

TEST_F(GuestPmu, TheBudgetHoldsWhateverTheGuestCounts)
{
    arm_overflow(refills);
    fake_pmu_cause(refills, FAKE_EL1, budget_events);
    machine.interrupt();
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(cpu_at(control_core)->hold, CPU_HOLD_THROTTLED);
    EXPECT_EQ(cpu_at(control_core)->status->budget.throttled_periods, 1u);
    EXPECT_EQ(read(evcntr(0)), budget_events - 1) << "its own counter has it all, too";
}

TEST_F(GuestPmu, AnOverflowOfTheGuestIsItsInterruptAndStaysUntilItIsCleared)
{
    open_interrupts();
    arm_overflow();
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    fake_pmu_cause(other_event, FAKE_EL1, 1);
    ASSERT_TRUE(fake_gic_has_interrupt());
    const uint64_t charged = fake_pmu_counter(el2_counter);
    machine.interrupt();
    EXPECT_EQ(cpu_at(control_core)->hold, 0u);
    EXPECT_EQ(fake_pmu_counter(el2_counter), charged) << "EL2's counter was not armed anew";
    EXPECT_FALSE(fake_gic_has_interrupt()) << "the line is silent while the guest knows";
    EXPECT_EQ(read(intenset), 1u) << "which it does not see";
    EXPECT_EQ(fake_gic_guest_acknowledge(), line);
    fake_gic_guest_end(line);
    machine.interrupt(); // maintenance: the line is still high
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    write(ovsclr, 1);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    fake_pmu_cause(other_event, FAKE_EL1, 1);
    EXPECT_FALSE(fake_gic_has_interrupt()) << "one event does not overflow";
    EXPECT_EQ(fake_gic_violations(), 0u);
}

TEST_F(GuestPmu, AnInterruptThatTheGuestTurnsOffOrOnFollowsTheOverflow)
{
    open_interrupts();
    arm_overflow();
    write(intenclr, 1);
    fake_pmu_cause(other_event, FAKE_EL1, 1);
    EXPECT_FALSE(fake_gic_has_interrupt());
    write(intenset, 1);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    write(pmcr, 0);
    EXPECT_FALSE(fake_gic_guest_has_interrupt()) << "E";
    write(pmcr, enable);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
}

TEST_F(GuestPmu, SoftwareIncrementsCountWithCarry)
{
    write(evtyper(0), 0);
    write(evtyper(1), 0x1E); // CHAIN
    write(evcntr(0), 0xFFFFFFFF);
    write(pmcr, enable);
    write(cntenset, 3);
    write(swinc, 1);
    write(swinc, 1 | 1u << el2_counter);
    EXPECT_EQ(read(evcntr(0)), 1u);
    EXPECT_EQ(read(evcntr(1)), 1u);
    EXPECT_EQ(read(ovsset), 1u);
    write(evtyper(0), 1u << 31);
    write(swinc, 1);
    EXPECT_EQ(read(evcntr(0)), 1u) << "not at EL1";
}

TEST_F(GuestPmu, IsPutAwayAndBackAsItWas)
{
    struct vcpu *vcpu = cpu_at(control_core)->vcpu;
    open_interrupts();
    arm_overflow();
    write(evtyper(4), other_event);
    write(cntenset, 1u << 4);
    write(ccntr, 0x123456789A);
    write(userenr, 5);
    fake_pmu_cause(other_event, FAKE_EL1, 1); // the interrupt has not been handled
    guest_pmu_save(vcpu);
    EXPECT_FALSE(fake_gic_has_interrupt());
    fake_pmu_cause(other_event, FAKE_EL1, 100); // of another VCPU
    EXPECT_EQ(sysreg_read(PMUSERENR_EL0), 0u);
    guest_pmu_restore(vcpu);
    EXPECT_EQ(read(evcntr(4)), 1u);
    EXPECT_EQ(read(ccntr), 0x123456789Au);
    EXPECT_EQ(read(userenr), 5u);
    EXPECT_EQ(read(ovsset), 1u);
    EXPECT_TRUE(fake_gic_guest_has_interrupt());
    fake_pmu_cause(other_event, FAKE_EL1, 2);
    EXPECT_EQ(read(evcntr(4)), 3u);
}

TEST_F(GuestPmu, UserCannotGiveItselfAccess)
{
    fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C0); // EL0
    regs().x[1] = 0xF;
    EXPECT_FALSE(access(userenr, false));
}

TEST_F(GuestPmu, TheNextLifeFindsNothingOfIt)
{
    open_interrupts();
    arm_overflow();
    fake_pmu_cause(other_event, FAKE_EL1, 1);
    machine.interrupt();
    machine.hvc(0x84000009); // SYSTEM_RESET
    enter(control_core);
    EXPECT_EQ(read(cntenset), 0u);
    EXPECT_EQ(read(ovsset), 0u);
    EXPECT_EQ(read(evcntr(0)), 0u);
    EXPECT_FALSE(fake_gic_guest_has_interrupt());
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST(GuestPmuCores, ABoardWithoutTheInterruptOrWithTooFewCountersIsRefused)
{
    EXPECT_THROW(HostedMachine([](SampleManifest &sample) {
                     give_monitors(sample);
                     sample.cpus[0].pmu_irq = 0;
                 }),
                 std::invalid_argument);
}

} // namespace
} // namespace guest_pmu_test
