// SPDX-License-Identifier: Apache-2.0
// VCPUs of two domains on one core (B2): which one has it when, that each finds its registers as it left them
// and nothing of the other's, that its interrupts let it run again, and that the end of one is not the end of
// the other.
#include "hosted_machine.h"
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <set>

extern "C" {
#include "run/domain_life.h"
#include "run/guest_context.h"
#include "run/shared_core.h"
#include "trap/psci.h"
#include "vgic/vgic.h"
}

namespace shared_core_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t shared = 0;
constexpr uint32_t elsewhere = 2;
constexpr uint64_t esr_wfi = 0x01ull << 26 | 1u << 25;
constexpr uint64_t hcr_twi = 1u << 13;
constexpr uint32_t uart_spi = 33;

// A guest's state in a core: guest_state_reset() gives each register a value of its own at the start.
constexpr std::array guests_registers{
    SYSREG_ID_SCTLR_EL1,      SYSREG_ID_CPACR_EL1,     SYSREG_ID_TTBR0_EL1,     SYSREG_ID_TTBR1_EL1,
    SYSREG_ID_TCR_EL1,        SYSREG_ID_MAIR_EL1,      SYSREG_ID_AMAIR_EL1,     SYSREG_ID_VBAR_EL1,
    SYSREG_ID_ESR_EL1,        SYSREG_ID_FAR_EL1,       SYSREG_ID_AFSR0_EL1,     SYSREG_ID_AFSR1_EL1,
    SYSREG_ID_PAR_EL1,        SYSREG_ID_ELR_EL1,       SYSREG_ID_SPSR_EL1,      SYSREG_ID_SP_EL0,
    SYSREG_ID_SP_EL1,         SYSREG_ID_TPIDR_EL0,     SYSREG_ID_TPIDRRO_EL0,   SYSREG_ID_TPIDR_EL1,
    SYSREG_ID_CONTEXTIDR_EL1, SYSREG_ID_CSSELR_EL1,    SYSREG_ID_CNTKCTL_EL1,   SYSREG_ID_MDSCR_EL1,
    SYSREG_ID_MDCCINT_EL1,    SYSREG_ID_DBGBCR0_EL1,   SYSREG_ID_DBGBVR5_EL1,   SYSREG_ID_DBGWCR3_EL1,
    SYSREG_ID_DBGWVR0_EL1,    SYSREG_ID_APIAKEYLO_EL1, SYSREG_ID_APDBKEYHI_EL1,
};

class SharedCore : public testing::Test {
protected:
    static void share(SampleManifest &m)
    {
        m.vcpus[1].core = shared; // of domain 1, whose other VCPU has core 3
        m.domains[1].priority = 1;
    }

    void SetUp() override
    {
        fake_switch_core(shared);
        fake_set_sysreg(SYSREG_ID_ID_AA64DFR0_EL1, 5 << 12 | 3 << 20); // six breakpoints, four watchpoints
        fake_set_sysreg(SYSREG_ID_ID_AA64ISAR1_EL1, 1 << 8);           // keys for addresses
    }

    // The values that the guest leaves in its registers.
    void fill(uint64_t mark)
    {
        guest_regs &regs = machine.regs(shared);
        for (unsigned i = 0; i < 31; i++) {
            regs.x[i] = mark + i;
        }
        for (size_t i = 0; i < guests_registers.size(); i++) {
            fake_set_sysreg(guests_registers[i], mark + 0x100 + i);
        }
        fake_set_sysreg(SYSREG_ID_ELR_EL2, mark * 4);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, 0x3C5);
    }
    void expect_filled(uint64_t mark)
    {
        const guest_regs &regs = machine.regs(shared);
        for (unsigned i = 0; i < 31; i++) {
            EXPECT_EQ(regs.x[i], mark + i);
        }
        for (size_t i = 0; i < guests_registers.size(); i++) {
            EXPECT_EQ(fake_sysreg(guests_registers[i]), mark + 0x100 + i) << "register " << i;
        }
        EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), mark * 4 + 4) << "behind its WFI";
    }

    uint32_t running() const
    {
        const struct vcpu *vcpu = cpu_at(shared)->vcpu;
        return vcpu == nullptr ? BH_ALL_DOMAINS : vcpu->domain->index;
    }
    const status_vcpu &status(unsigned i) const { return cpu_at(shared)->status->shared[i]; }

    void enable_uart_interrupt()
    {
        guest_regs &regs = machine.regs(shared);
        for (auto [address, value] :
             {std::pair{0x08000000ull, 2ull}, {0x08000084ull, ~0ull}, {0x08000104ull, 2ull}}) {
            regs.x[1] = value;
            machine.trap(esr_store(4, 1), address);
        }
    }
    // A device of a domain that another core emulates.
    void raise(uint32_t domain)
    {
        fake_switch_core(elsewhere);
        vgic_set_spi_level(domain_at(domain), uart_spi, true);
        fake_switch_core(shared);
    }

    HostedMachine machine{share};
};

TEST_F(SharedCore, B2_TheHigherPriorityStartsAndAWfiIsItsEndForNow)
{
    machine.on_core(shared);
    EXPECT_EQ(running(), 0u);
    EXPECT_NE(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_twi, 0u);
    machine.trap(esr_wfi);
    EXPECT_EQ(running(), 1u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_VTTBR_EL2), machine.status(1).vttbr);
    EXPECT_EQ(status(0).state, BH_VCPU_STATE_PAUSED);
    EXPECT_EQ(status(0).blocks, 1u);
    fake_switch_core(elsewhere);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_HCR_EL2) & hcr_twi, 0u) << "other cores wait by themselves";
}

// Errata of Cortex-A55, A57 and A72: a core may walk tables while only some of a guest's registers are
// loaded.
TEST_F(SharedCore, T5_WalksAreClosedWhileTheTablesChange)
{
    machine.on_core(shared);
    fake_forget_writes();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);

    constexpr uint64_t walks_off = 1u << 7 | 1u << 23; // TCR_EL1.EPD0, EPD1
    std::map<sysreg_id, uint64_t> last{{SYSREG_ID_TCR_EL1, 0}, {SYSREG_ID_SCTLR_EL1, 0}};
    std::set<sysreg_id> under_closed_walks;
    for (size_t i = 0; i < fake_write_count(); i++) {
        const fake_write *write = fake_write_at(i);
        if (write->is_mmio) {
            continue;
        }
        if (write->id == SYSREG_ID_VTTBR_EL2 || write->id == SYSREG_ID_TTBR0_EL1 ||
            write->id == SYSREG_ID_TTBR1_EL1) {
            EXPECT_EQ(last[SYSREG_ID_TCR_EL1] & walks_off, walks_off) << write->id;
            EXPECT_EQ(last[SYSREG_ID_SCTLR_EL1] & 1, 1u) << "or stage 2 is walked for addresses as they are";
            under_closed_walks.insert(write->id);
        }
        last[write->id] = write->value;
    }
    EXPECT_EQ(under_closed_walks.size(), 3u);
    EXPECT_EQ(last[SYSREG_ID_TCR_EL1] & walks_off, 0u) << "and are open for the guest";
}

TEST_F(SharedCore, B2_EachFindsItsOwnRegistersAndNothingOfTheOther)
{
    machine.on_core(shared);
    enable_uart_interrupt();
    fill(0x1000);
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    for (size_t i = 1; i < guests_registers.size(); i++) { // all but SCTLR are zero out of reset
        EXPECT_EQ(fake_sysreg(guests_registers[i]), 0u) << "register " << i;
    }
    EXPECT_EQ(machine.regs(shared).x[7], 0u);
    fill(0x2000);
    raise(0);
    machine.interrupt();
    ASSERT_EQ(running(), 0u);
    expect_filled(0x1000);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_VTTBR_EL2), machine.status(0).vttbr);
    fake_gic_guest_open();
    EXPECT_EQ(fake_gic_guest_acknowledge(), uart_spi) << "and the interrupt that it waits for";
    EXPECT_EQ(fake_barriers(FAKE_FP_SAVE), 2u);
    EXPECT_EQ(fake_barriers(FAKE_FP_LOAD), 1u);
    EXPECT_EQ(status(0).out_of_order, 0u);
}

TEST_F(SharedCore, B2_AnInterruptBeforeTheWfiKeepsTheCore)
{
    machine.on_core(shared);
    enable_uart_interrupt();
    raise(0);
    machine.trap(esr_wfi);
    EXPECT_EQ(running(), 0u);
    EXPECT_EQ(status(0).blocks, 0u);
}

TEST_F(SharedCore, B2_ACallThatMeansAWfiIsOne)
{
    machine.on_core(shared);
    EXPECT_EQ(machine.exits(shared, BH_EXIT_REASON_HVC), 0u);
    machine.hvc(0xC4000001); // CPU_SUSPEND
    EXPECT_EQ(running(), 1u);
    EXPECT_EQ(machine.exits(shared, BH_EXIT_REASON_HVC), 1u) << "made once";
}

TEST_F(SharedCore, B2_TheEndOfOneLeavesTheOther)
{
    machine.on_core(shared);
    machine.hvc(0x84000008); // SYSTEM_OFF
    EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(running(), 1u);
    EXPECT_EQ(status(0).state, BH_VCPU_STATE_RESET);
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    machine.trap(esr_wfi);
    EXPECT_TRUE(machine.waited()) << "nobody is left who could run";
}

// Its last operation may take long in EL2, and so does switching it out: never both in one step.
TEST_F(SharedCore, T3_OneThatEndsItselfIsPutAwayAfterThoseThatAreDue)
{
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    raise(0);
    machine.trap(esr_load(4, 0), 0x0B000000);
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_CRASHED});
    EXPECT_EQ(running(), 0u);
    EXPECT_NE(domain_at(1)->vcpus[0].power, uint32_t{VCPU_OFF});
    fake_gic_guest_open();
    EXPECT_EQ(fake_gic_guest_acknowledge(), uart_spi);
    machine.trap(esr_wfi);
    EXPECT_EQ(domain_at(1)->vcpus[0].power, uint32_t{VCPU_OFF});
    EXPECT_EQ(status(1).state, BH_VCPU_STATE_RESET);
}

// It is not chosen again before its period ends, which may be an hour later.
TEST(SharedCoreReserved, T3_OneThatEndsWithItsBudgetSpentIsPutAwayAtOnce)
{
    HostedMachine machine([](SampleManifest &m) {
        m.vcpus[1].core = shared;
        m.domains[1].priority = 1;
        m.domains[1].cpu_budget_ns = 100000;
        m.domains[1].cpu_period_ns = 1000000000;
    });
    fake_clock_set(1000);
    machine.on_core(shared);
    machine.trap(esr_wfi);
    ASSERT_EQ(cpu_at(shared)->vcpu, &domain_at(1)->vcpus[0]);
    fake_clock_set(1000 + 62500); // a millisecond
    machine.trap(esr_load(4, 0), 0x0B000000);
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_CRASHED});
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(domain_at(1)->vcpus[0].power, uint32_t{VCPU_OFF});
}

TEST_F(SharedCore, B2_AnInterruptOfOneThatDoesNotWaitDisturbsNobody)
{
    machine.on_core(shared);
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    enable_uart_interrupt();
    raise(1); // of the one that runs: its core is told
    EXPECT_TRUE(fake_gic_has_interrupt());
    machine.interrupt();
    EXPECT_EQ(running(), 1u);
    fake_gic_guest_open();
    EXPECT_EQ(fake_gic_guest_acknowledge(), uart_spi);
}

TEST_F(SharedCore, T3_AnInterruptThatAWaitingOneHasDisabledDisturbsNobody)
{
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.regs(shared).x[1] = 2;
    machine.trap(esr_store(4, 1), 0x08000184ull); // and disables it again
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    raise(0);
    EXPECT_EQ(cpu_at(shared)->requests, 0u);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST_F(SharedCore, T3_AStormOnOneThatWaitsIsOneRequest)
{
    fake_clock_set(10000);
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    raise(0);
    ASSERT_NE(cpu_at(shared)->requests, 0u);
    cpu_at(shared)->requests = 0; // its core has begun to handle it
    fake_switch_core(elsewhere);
    for (int i = 0; i < 100; i++) {
        vgic_set_spi_level(domain_at(0), uart_spi, false);
        vgic_set_spi_level(domain_at(0), uart_spi, true);
    }
    fake_switch_core(shared);
    EXPECT_EQ(cpu_at(shared)->requests, 0u);
}

TEST_F(SharedCore, T2_ARestartIsDoneWhenItsVcpuWouldRun)
{
    constexpr unsigned steps_before = 3;
    unsigned windows = 0;
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    machine.on_window([&](uint64_t) {
        windows++;
        if (windows == steps_before) {
            raise(0);
        }
    });
    machine.hvc(0x84000009); // SYSTEM_RESET of domain 1
    EXPECT_EQ(running(), 0u) << "its interrupt came in the middle";
    EXPECT_LE(windows, steps_before + 1) << "two windows are open for a piece of an image";
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_RESTARTING});
    EXPECT_EQ(machine.status(1).restarts, 0u);
    fake_gic_guest_open();
    EXPECT_EQ(fake_gic_guest_acknowledge(), uart_spi);
    vgic_set_spi_level(domain_at(0), uart_spi, false);
    fake_gic_guest_end(uart_spi);
    machine.trap(esr_wfi);
    machine.on_window(nullptr);
    EXPECT_EQ(running(), 1u) << "the rest was done while nobody else had to";
    EXPECT_EQ(machine.status(1).restarts, 1u);
    EXPECT_EQ(machine.regs(shared).x[7], 0u) << "out of reset";
    EXPECT_EQ(status(0).out_of_order + status(1).out_of_order, 0u);
}

TEST_F(SharedCore, T2_ARestartThatIsTakenBackLeavesTheCoreToOthers)
{
    machine.on_core(shared);
    machine.trap(esr_wfi);
    machine.on_window([&](uint64_t) {
        fake_switch_core(elsewhere);
        (void)domain_stop(domain_at(1));
        fake_switch_core(shared);
        machine.on_window(nullptr);
    });
    machine.hvc(0x84000009);
    EXPECT_TRUE(machine.waited());
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(status(1).state, BH_VCPU_STATE_RESET);
}

TEST_F(SharedCore, T3_AReleaseCountsFromTheMomentOfItsEvent)
{
    fake_clock_set(10000);
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    fake_clock_set(20000);
    raise(0);
    fake_clock_set(20700); // for that long EL2 was busy, with interrupts masked
    machine.interrupt();
    ASSERT_EQ(running(), 0u);
    EXPECT_EQ(status(0).release_max_ticks, 700u);
    EXPECT_EQ(status(0).releases, 1u);
}

TEST_F(SharedCore, T3_OneThatIsPreemptedIsReleasedWhenTheOtherLeaves)
{
    fake_clock_set(10000);
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    raise(0);
    machine.interrupt();
    ASSERT_EQ(running(), 0u);
    const uint64_t releases = status(1).releases;
    fake_clock_set(90000); // it has the core for that long
    vgic_set_spi_level(domain_at(0), uart_spi, false);
    fake_gic_guest_open();
    fake_gic_guest_end(fake_gic_guest_acknowledge());
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    EXPECT_EQ(status(1).release_max_ticks, 0u);
    EXPECT_EQ(status(1).releases, releases + 1);
}

TEST_F(SharedCore, C5_TheEndOfOneThatHasNoRegistersHereLeavesTheOthersInterrupts)
{
    machine.on_core(shared);
    enable_uart_interrupt();
    machine.trap(esr_wfi);
    ASSERT_EQ(running(), 1u);
    machine.on_window([&](uint64_t) {
        raise(0);
        machine.on_window(nullptr);
    });
    machine.hvc(0x84000009); // domain 1 restarts, and domain 0 preempts that
    ASSERT_EQ(running(), 0u);
    ASSERT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_RESTARTING});
    fake_gic_guest_open();
    fake_switch_core(elsewhere);
    (void)domain_stop(domain_at(1));
    fake_switch_core(shared);
    machine.interrupt();
    ASSERT_EQ(running(), 0u);
    EXPECT_EQ(status(1).state, BH_VCPU_STATE_RESET);
    EXPECT_EQ(fake_gic_guest_acknowledge(), uart_spi) << "it is still in its list register";
}

// From its last operation: found when another VCPU is about to get the core.
TEST_F(SharedCore, AnAbortThatIsTakenAtASwitchIsReportedWithTheGuestsOwnAddress)
{
    machine.on_core(shared);
    fill(0x1000); // its instruction is at 0x4000
    fake_pend_serror(true);
    machine.trap(esr_wfi);
    EXPECT_EQ(machine.status(0).state, uint32_t{BH_DOMAIN_STATE_CRASHED});
    EXPECT_EQ(machine.status(0).end, uint32_t{BH_DOMAIN_END_SERROR});
    EXPECT_EQ(machine.status(0).fault_pc, 0x4004u) << "behind its WFI";
    EXPECT_EQ(running(), 1u);
    EXPECT_EQ(machine.status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
}

} // namespace
} // namespace shared_core_test
