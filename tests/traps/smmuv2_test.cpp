// SPDX-License-Identifier: Apache-2.0
// The driver of an SMMUv2 on a model of one, beside a GICv2: which memory the devices of domains reach, when
// they reach none, who is told of refusals, and that an SMMU that does not answer stops nobody (D1, D2).
#include "smmu_fixture.h"
#include "smmuv2_model.h"
#include <gtest/gtest.h>
#include <random>
#include <sstream>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "base/image.h"
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmu_driver.h"
#include "memory/ptable.h"
#include "run/domain_life.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/rare_alarm.h"
}

namespace smmuv2_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t stream = 8, second_stream = 0x100; // of control
constexpr uint32_t other_stream = 9;                  // of linux
constexpr uint32_t nobodys = 10;
constexpr uint64_t ram = 0x40000000;
constexpr uint64_t first_frame = 0x48000000; // of control
constexpr uint64_t other_frame = 0x48006000; // of linux
constexpr uint64_t outside = 0x70000000;
constexpr uint64_t interrupt_registers = 0xF9020000; // which stage 2 maps for VCPUs
constexpr uint32_t vmid = 1, other_vmid = 2;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint32_t hypervisor_timer = 26;

class Smmuv2 : public SmmuFixture {
protected:
    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        boot_with(
            [&](SampleManifest &m) {
                give_smmuv2(m);
                change(m);
            },
            [this] { smmu.plug_in(sample_smmu_pa, sample_smmu_event_irq); });
    }
    static void unmap(uint32_t domain, uint64_t ipa)
    {
        *ptable_page_entry(domain_at(domain)->stage2.pool, domain_at(domain)->stage2.root, ipa) = 0;
    }
    void TearDown() override
    {
        for (const auto &one : smmu.violations) {
            ADD_FAILURE() << one;
        }
    }

    Smmuv2Model smmu;
};

TEST_F(Smmuv2, D2_NothingPassesFromTheSilenceOn)
{
    ASSERT_EQ(smmu.access(stream, outside), outside) << "as after reset";
    bool refuses = false;
    smmu.on_write = [&] {
        const bool passes = smmu.access(stream, outside).has_value();
        EXPECT_FALSE(refuses && passes);
        refuses = refuses || !passes;
    };
    boot();
    smmu.on_write = nullptr;
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(refuses);
    EXPECT_EQ(smmu.scr0, 1u << 21 | 1u << 12 | 1u << 11 | 1u << 10 | 1u << 8 | 0x36u);
    EXPECT_NE(said().find("SMMU: 3 streams of domains, all others are refused"), std::string::npos);
}

// It left the SMMU enabled: a bypass, one that TLBs keep, and a translation to a foreign table.
TEST_F(Smmuv2, D2_WhatABootLoaderLeftPassesNoMore)
{
    smmu.scr0 = 0;
    smmu.sacr = 1u << 26 | 1u << 10 | 1u << 8;
    smmu.scr2 = 1u << 31 | 1u << 29;         // entries of the extension, found by a compressed index
    smmu.smr[20] = 1u << 31 | 0x7FFFu << 16; // every stream
    smmu.s2cr[20] = 1u << 16;
    for (uint32_t one : {stream, nobodys}) {
        ASSERT_EQ(smmu.access(one, outside), outside);
    }
    smmu.s2cr[20] = 3; // a context bank that translates nothing
    bool silent = false;
    smmu.on_write = [&] {
        silent = silent || smmu.synchronizations != 0;
        EXPECT_FALSE(silent && smmu.access(nobodys, outside).has_value());
    };
    boot();
    smmu.on_write = nullptr;
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(smmu.access(nobodys, outside), std::nullopt);
    EXPECT_EQ(smmu.access(stream, outside), std::nullopt);
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_EQ(smmu.sacr & (1u << 26 | 1u << 10 | 1u << 8), 0u);
    EXPECT_EQ(smmu.scr2, 0u);
    EXPECT_EQ(smmu.banks[0].actlr & 2, 0u) << "no prefetch";
}

TEST_F(Smmuv2, D2_FaultsFromBeforeTheStartAreNotCounted)
{
    smmu.scr0 = 0;
    smmu.banks[0].fsr = smmu.sgfsr = 2;
    boot();
    look();
    EXPECT_EQ(status().refused[0] + status().nobody, 0u);
}

// Context banks that no domain has share the interrupt.
TEST_F(Smmuv2, D2_ABankThatABootLoaderLeftDoesNotInterrupt)
{
    smmu.scr0 = 0;
    smmu.banks[9].fsr = 2;
    smmu.banks[9].sctlr = 0x40;
    boot();
    for (int i = 0; i < 3; i++) {
        look();
    }
    EXPECT_EQ(status().interrupts, 0u);
    EXPECT_EQ(smmu.banks[9].fsr, 0u);
    EXPECT_EQ(smmu.banks[9].sctlr, 0u);
}

TEST_F(Smmuv2, D2_NoStreamIsTranslatedBeforeItsDomainStarts)
{
    uint64_t writes = 0;
    smmu.on_write = [&] {
        writes++;
        if ((smmu.scr0 & 1) == 0 && system_status()->started_at == 0) {
            EXPECT_EQ(smmu.access(stream, ram), std::nullopt) << writes;
        }
    };
    boot();
    smmu.on_write = nullptr;
    EXPECT_GT(writes, 100u);
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
}

TEST_F(Smmuv2, D2_ADomainsDeviceUsesTheTablesOfItsVcpus)
{
    boot();
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_EQ(smmu.access(stream, ram + 0x6000), first_frame + 0x10000) << "past the colors of others";
    EXPECT_EQ(smmu.access(second_stream, ram + 8), first_frame + 8);
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame);
    EXPECT_EQ(smmu.access(stream, ram, false), first_frame);
    EXPECT_EQ(smmu.banks[0].ttbr0, domain_at(0)->stage2.root.value);
    EXPECT_EQ(smmu.banks[0].cbar, vmid);
    EXPECT_EQ(smmu.banks[1].cbar, other_vmid);
    EXPECT_TRUE(smmu.recorded.empty());
}

// The registers go to the test's result file, for a witness that shares no code with the driver:
// tests/evidence/test_context_witness.py.
TEST_F(Smmuv2, D2_TheTableWitnessReadsWhatTheDriverWrites)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(domain_stop(domain_at(1)), BH_DOMAIN_STATE_RUNNING); // one domain of each kind
    std::ostringstream registers;
    const auto record = [&](uint64_t first, uint64_t bytes) {
        for (uint64_t offset = first; offset < first + bytes; offset += 4) {
            registers << std::hex << offset << '=' << smmu.read(offset) << ' ';
        }
    };
    record(0x000, 4);
    record(0x008, 4);
    record(0x020, 8);
    record(0x800, 4ull * 48);
    record(0xC00, 4ull * 48);
    record(0x1000, 4ull * 16);
    record(0x1800, 4ull * 16);
    for (uint64_t bank = 0x10000; bank < 0x20000; bank += 0x1000) {
        record(bank, 4);
        record(bank + 0x20, 8);
        record(bank + 0x30, 4);
    }
    RecordProperty("registers", registers.str());
    for (uint32_t domain : {0, 1}) {
        const struct stage2 *own = &domain_at(domain)->stage2;
        RecordProperty("vttbr" + std::to_string(domain), std::to_string(own->vttbr));
        RecordProperty("vtcr" + std::to_string(domain), std::to_string(own->vtcr));
    }
}

TEST_F(Smmuv2, D2_AnyOtherAddressIsRefusedAndCountedForTheDomain)
{
    boot();
    for (uint64_t address :
         {outside, first_frame + 0x2000000, uint64_t{0}, ~uint64_t{0}, uint64_t{sample_smmu_pa}}) {
        EXPECT_EQ(smmu.access(stream, address), std::nullopt) << std::hex << address;
        look();
    }
    EXPECT_EQ(smmu.access(other_stream, outside, false), std::nullopt);
    look();
    EXPECT_EQ(status().refused[0], 5u);
    EXPECT_EQ(status().refused[1], 1u);
    EXPECT_EQ(status().nobody + status().other + status().overflows, 0u);
    EXPECT_EQ(status().last_stream, other_stream);
    EXPECT_EQ(status().last_address, outside);
    const std::string text = said();
    EXPECT_EQ(
        count(text, "SMMU: stream 8 of 'control': write of 70000000 is refused, not its memory (event 2)"),
        1u)
        << text;
    EXPECT_EQ(count(text, "SMMU: stream 9 of 'linux': read of 70000000 is refused"), 1u) << text;
    EXPECT_EQ(count(text, "stream 8"), 1u) << "logged once";
    smmu_end();
    EXPECT_NE(said().find("SMMU: 5 accesses of devices of 'control' were refused"), std::string::npos);
}

// The VCPUs' interrupt registers are those of the core that accesses them, which a device is not.
TEST_F(Smmuv2, D2_ADeviceDoesNotReachInterruptRegistersOfVcpus)
{
    boot();
    paddr_t pa;
    ASSERT_TRUE(ptable_find(domain_at(0)->stage2.pool, domain_at(0)->stage2.root, interrupt_registers, &pa));
    EXPECT_EQ(smmu.access(stream, interrupt_registers), std::nullopt);
    look();
    EXPECT_EQ(status().refused[0], 1u);
}

TEST_F(Smmuv2, D2_ReadOnlyMemoryIsNotWritten)
{
    boot([](SampleManifest &m) {
        m.images[1].ipa = 0x407E0000; // not in it
        m.segments[2].flags = BH_SEGMENT_FLAG_READ_ONLY;
    });
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_TRUE(smmu.access(other_stream, 0x40800000, false).has_value());
    EXPECT_EQ(smmu.access(other_stream, 0x40800000, true), std::nullopt);
    look();
    EXPECT_EQ(status().refused[1], 1u);
    EXPECT_EQ(count(said(), "write of 40800000 is refused, not writable (event 8)"), 1u) << said();
}

TEST_F(Smmuv2, D2_AStreamThatNoDomainHasIsRefused)
{
    boot();
    for (uint32_t one : {nobodys, 0x7FFFu, 0u}) {
        EXPECT_EQ(smmu.access(one, ram), std::nullopt) << one;
        look();
    }
    EXPECT_EQ(status().nobody, 3u);
    EXPECT_EQ(status().refused[0] + status().refused[1] + status().global_errors, 0u);
    EXPECT_EQ(count(said(), "which no domain has"), 1u) << said();
}

TEST_F(Smmuv2, D2_EachKindOfFaultInterrupts)
{
    boot();
    look();
    ASSERT_EQ(status().interrupts, 0u);
    (void)smmu.access(stream, outside);
    look();
    EXPECT_EQ(status().interrupts, 1u);
    (void)smmu.access(nobodys, outside);
    look();
    EXPECT_EQ(status().interrupts, 2u);
    look();
    EXPECT_EQ(status().interrupts, 2u) << "a level that is gone";
}

TEST_F(Smmuv2, D2_ARefusalHindersNoOtherAccess)
{
    boot();
    EXPECT_EQ(smmu.access(stream, outside), std::nullopt);
    EXPECT_EQ(smmu.access(second_stream, ram), first_frame) << "before EL2 has seen the fault";
    EXPECT_EQ(smmu.access(nobodys, ram), std::nullopt);
    EXPECT_EQ(smmu.access(other_stream, outside), std::nullopt);
    look();
    EXPECT_EQ(status().refused[0], 1u);
    EXPECT_EQ(status().refused[1], 1u) << "no fault of one domain hides that of another";
    EXPECT_EQ(status().nobody, 1u);
}

// The SMMU reads what EL2 and the loader have stored: before the first entry is valid, and before it
// translates.
TEST_F(Smmuv2, D2_StoresAreVisibleBeforeAStreamIsTranslated)
{
    unsigned stores = 0, translating = 0;

    boot();
    smmu_domain_stop(domain_at(0));
    stores = fake_barriers(FAKE_DSB_SY);
    smmu.on_write = [&] {
        if (smmu.s2cr[0] >> 16 == 0 && translating++ == 0) {
            EXPECT_GT(fake_barriers(FAKE_DSB_SY), stores);
        }
    };
    smmu_domain_start(domain_at(0));
    EXPECT_GT(translating, 0u);
    unsigned entries = 0;
    stores = fake_barriers(FAKE_DSB_SY);
    for (auto &one : smmu.smr) {
        one = 0;
    }
    for (auto &one : smmu.s2cr) {
        one = 2u << 16;
    }
    smmu.on_write = [&] {
        if (smmu.smr[0] >> 31 != 0 && entries++ == 0) {
            EXPECT_GT(fake_barriers(FAKE_DSB_SY), stores);
        }
    };
    EXPECT_TRUE(smmu_enable());
    smmu.on_write = nullptr;
    EXPECT_GT(entries, 0u);
}

TEST_F(Smmuv2, D2_ADeviceOfADomainThatStopsReachesNothingMore)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    smmu.invalidated.clear();
    smmu.on_invalidate = [&] { // the SMMU must not load again what it is about to forget
        EXPECT_EQ(smmu.access(stream, ram + 0x1000), std::nullopt);
        EXPECT_EQ(smmu.access(second_stream, ram), std::nullopt);
    };
    EXPECT_EQ(domain_stop(domain_at(0)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_EQ(smmu.invalidated, std::vector<uint32_t>{vmid});
    EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame) << "the other domain goes on";
    look();
    EXPECT_EQ(status().refused[0], 1u);
    EXPECT_EQ(count(said(), "is refused, the domain does not run"), 1u) << said();
}

TEST_F(Smmuv2, D2_ARestartedDomainsDeviceWorksAgain)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    for (int life = 0; life < 200; life++) {
        machine->on_core(0);
        machine->hvc(system_reset);
    }
    EXPECT_EQ(machine->status(0).restarts, 200u);
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
}

// While the images are loaded again, no device of the last life may write.
TEST_F(Smmuv2, D2_MemoryIsReusedOnlyAfterItsDevicesAreQuiet)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    unsigned windows = 0;
    machine->on_window([&](uint64_t) {
        windows++;
        EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
    });
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_GT(windows, 0u);
    EXPECT_EQ(machine->status(0).restarts, 1u);
}

TEST_F(Smmuv2, D2_WithoutAnAnswerADomainIsNotRestartedAndTheOthersGoOn)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    smmu.answers = false;
    const unsigned reads = smmu.reads;
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_TRUE(machine->waited()) << "its core waits at EL2";
    EXPECT_LE(smmu.reads - reads, 8u) << "and not in a loop";
    EXPECT_EQ(machine->status(0).restarts, 0u);
    EXPECT_EQ(status().unanswered, 1u) << "counted once";
    EXPECT_EQ(count(said(), "SMMU: it does not answer, 'control' cannot be restarted before it does"), 1u);
    EXPECT_EQ(machine->status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});

    fake_switch_core(0);
    const uint64_t alarm = this_cpu()->rare_alarms[RARE_ALARM_QUIET];
    EXPECT_GT(alarm, clock_now());
    EXPECT_LE(alarm, clock_now() + clock_ticks(100000000)) << "nobody else would wake the core";
    smmu.answers = true;
    smmu.complete();
    fake_gic_raise(hypervisor_timer);
    fake_clock_set(alarm);
    machine->on_core(0);
    EXPECT_EQ(machine->status(0).restarts, 1u) << "it answers late";
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
}

TEST_F(Smmuv2, D2_UnmappedMemoryIsUnmappedForDevicesToo)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    unmap(0, ram);
    EXPECT_EQ(smmu.access(stream, ram), first_frame) << "the model has TLBs";
    smmu.delays = true;
    smmu_domain_unmapped(domain_at(0));
    EXPECT_FALSE(smmu_domain_is_unmapped(domain_at(0)));
    smmu.complete();
    EXPECT_TRUE(smmu_domain_is_unmapped(domain_at(0)));
    EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
}

// A synchronization under way does not cover what comes meanwhile.
TEST_F(Smmuv2, D2_EachInvalidationHasASynchronizationAfterIt)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    ASSERT_EQ(smmu.access(other_stream, ram), other_frame);
    smmu.delays = true;
    unmap(0, ram);
    smmu_domain_unmapped(domain_at(0));
    unmap(1, ram);
    smmu_domain_unmapped(domain_at(1));
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame);
    smmu.complete();
    EXPECT_FALSE(smmu_domain_is_unmapped(domain_at(1))) << "a second one begins";
    EXPECT_TRUE(smmu_domain_is_unmapped(domain_at(0)));
    EXPECT_TRUE(smmu.is_synchronizing());
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame);
    smmu.complete();
    EXPECT_TRUE(smmu_domain_is_unmapped(domain_at(1)));
    EXPECT_EQ(smmu.access(other_stream, ram), std::nullopt);
    EXPECT_FALSE(smmu.is_synchronizing());
}

TEST_F(Smmuv2, D2_AnSmmuThatDoesNotAnswerIsNoStart)
{
    smmu.answers = false;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_LE(smmu.reads, 1000u) << "100 ms";
}

TEST_F(Smmuv2, D2_AnSmmuThatLacksSomethingIsNoStart)
{
    struct Row {
        const char *text;
        void (*change)(Smmuv2Model &);
    };
    const Row rows[] = {
        {SMMU_NO_STAGE2, [](Smmuv2Model &m) { m.idr0 &= ~(1u << 29 | 1u << 28); }}, // stage 1 alone
        {"no stream matching", [](Smmuv2Model &m) { m.idr0 &= ~(1u << 27); }},
        {"no tables of AArch64 with pages of 4 KiB", [](Smmuv2Model &m) { m.idr2 &= ~(1u << 12); }},
        {"walks are not coherent with caches", [](Smmuv2Model &m) { m.idr0 &= ~(1u << 14); }},
        {"fewer stream ids than the manifest has", [](Smmuv2Model &m) { m.idr0 -= 1u << 9; }},
        {"fewer entries than the manifest has streams",
         [](Smmuv2Model &m) { m.idr0 = (m.idr0 & ~0xFFu) | 2; }},
        {"fewer context banks than domains with devices", [](Smmuv2Model &m) { m.idr1 = 3u << 28 | 1; }},
        {"its registers take more room than expected", [](Smmuv2Model &m) { m.idr1 = 4u << 28 | 16; }},
        {"its registers take more room than expected", [](Smmuv2Model &m) { m.idr1 |= 1u << 31; }},
        {"its prefetcher cannot be turned off", [](Smmuv2Model &m) { m.locked_above = true; }},
        {SMMU_NO_STAGE2, [](Smmuv2Model &m) { m.idr0 = m.idr1 = m.idr2 = 0; }}, // nothing is there
    };
    for (const Row &row : rows) {
        smmu = {};
        row.change(smmu);
        boot();
        EXPECT_FALSE(machine->booted()) << row.text;
        EXPECT_NE(said().find(std::string("SMMU: ") + row.text), std::string::npos) << said();
    }
}

TEST_F(Smmuv2, D2_AddressesAreNoWiderThanTheSmmus)
{
    smmu.idr2 = 7u << 12 | 1u << 4 | 5; // 36 bits
    machine = std::make_unique<HostedMachine>(give_smmuv2, [this] {
        smmu.plug_in(sample_smmu_pa, sample_smmu_event_irq);
        fake_set_core_sysreg(0, SYSREG_ID_ID_AA64MMFR0_EL1, 5); // the cores' have 48
    });
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_EQ(smmu.banks[0].tcr >> 16 & 7, 1u);
}

TEST_F(Smmuv2, D2_AddressesThatItDoesNotHaveAreNoStart)
{
    boot();
    auto *manifest = const_cast<manifest_header *>(system_manifest());
    auto *memory = const_cast<manifest_ram *>(manifest_ram_ranges(manifest));

    ASSERT_EQ(smmu_missing(), nullptr);
    memory->bytes = (uint64_t{1} << 36) - memory->pa;
    smmu.idr2 = 7u << 12 | 1u << 4 | 1; // 36 bits
    EXPECT_EQ(smmu_missing(), nullptr);
    smmu.idr2 = 7u << 12 | 0u << 4 | 1; // 32 bits
    EXPECT_STREQ(smmu_missing(), "memory is beyond the addresses that it has");
    smmu.idr2 = 7u << 12 | 1u << 4 | 1;
    manifest->platform.gic_version = BH_GIC_VERSION_GICV3; // devices have as many addresses as VCPUs
    EXPECT_STREQ(smmu_missing(), "guests have more addresses than it has");
    smmu.idr2 = 7u << 12 | 1u << 4 | 2;
    EXPECT_EQ(smmu_missing(), nullptr);
}

TEST_F(Smmuv2, D2_TheManifestOfAnotherSmmuIsNoStart)
{
    boot([](SampleManifest &m) {
        m.header.smmu.version = BH_SMMU_VERSION_SMMUV3;
        m.header.smmu.error_irq = sample_smmu_error_irq;
        m.header.platform.gic_version = BH_GIC_VERSION_GICV3;
        m.header.platform.gicr_pa = 0x080A0000;
        m.header.platform.gicr_bytes = 8 * BH_REDISTRIBUTOR_BYTES;
    });
    EXPECT_FALSE(machine->booted());
    EXPECT_EQ(smmu.scr0, 1u) << "no register of it has been written";
}

TEST_F(Smmuv2, D2_AFloodOfRefusalsIsABoundedStepInEachInterval)
{
    boot();
    for (uint64_t step = 1; step <= 5; step++) {
        for (int i = 0; i < 1000; i++) {
            (void)smmu.access(stream, outside);
            (void)smmu.access(nobodys, outside);
            machine->take_while_idle();
        }
        EXPECT_EQ(status().interrupts, step) << "disabled until the step";
        const unsigned reads = smmu.reads;
        smmu_alarm();
        EXPECT_LE(smmu.reads - reads, 24u);
        EXPECT_EQ(status().refused[0], step);
        EXPECT_EQ(status().nobody, step);
        EXPECT_EQ(status().overflows, 2 * step) << "and some were not counted";
    }
    EXPECT_EQ(count(said(), "stream 8"), 1u);
}

TEST_F(Smmuv2, D2_AFaultDuringALookIsNotLost)
{
    boot();
    (void)smmu.access(stream, outside);
    machine->take_while_idle();
    bool once = false;
    smmu.on_write = [&] { // the first write clears the fault
        if (!std::exchange(once, true)) {
            (void)smmu.access(stream, outside + 0x1000);
        }
    };
    smmu_alarm();
    smmu.on_write = nullptr;
    EXPECT_EQ(status().refused[0], 1u);
    look();
    EXPECT_EQ(status().refused[0], 2u) << "its interrupt is a level";
    EXPECT_EQ(status().last_address, outside + 0x1000);
}

// The second fault sets MULTI after EL2 has read the register.
TEST_F(Smmuv2, D2_AFaultBetweenReadAndClearingIsNoOtherFault)
{
    boot();
    for (uint64_t time = 1; time <= 3; time++) {
        (void)smmu.access(stream, outside);
        (void)smmu.access(nobodys, outside);
        machine->take_while_idle();
        smmu.on_read = [&](uint64_t offset) {
            if (offset == 0x48) { // sGFSR
                (void)smmu.access(nobodys, outside);
            } else if (offset == 0x10058) { // FSR of bank 0
                (void)smmu.access(stream, outside);
            }
        };
        smmu_alarm();
        smmu.on_read = nullptr;
        look();
        look();
        EXPECT_EQ(status().refused[0], time);
        EXPECT_EQ(status().nobody, time);
        EXPECT_EQ(status().other + status().global_errors, 0u);
        EXPECT_EQ(status().overflows, 0u) << "of a fault that the register did not have when it was read";
        EXPECT_EQ(smmu.sgfsr, 0u);
        EXPECT_EQ(smmu.banks[0].fsr, 2u << 9) << "the format of its tables alone";
    }
}

// MULTI without a cause, as a look leaves it that could not clear it: something was lost, and nothing else.
TEST_F(Smmuv2, D2_AFaultThatIsNotKnownAnyMoreIsAnOverflow)
{
    boot();
    smmu.banks[0].fsr = smmu.sgfsr = 1u << 31;
    look();
    EXPECT_EQ(status().overflows, 2u);
    EXPECT_EQ(status().refused[0] + status().nobody + status().other + status().global_errors, 0u);
    look();
    EXPECT_EQ(status().overflows, 2u) << "counted once";
}

TEST_F(Smmuv2, D2_AGlobalErrorIsCountedAndLoggedOnce)
{
    boot();
    for (int i = 0; i < 3; i++) {
        smmu.raise_error(1u << 6, nobodys); // external fault
        look();
        EXPECT_EQ(smmu.sgfsr, 0u);
    }
    EXPECT_EQ(status().global_errors, 3u);
    EXPECT_EQ(status().last_error, 1u << 6);
    EXPECT_EQ(status().nobody, 0u);
    EXPECT_EQ(count(said(), "SMMU: global error (sGFSR 40) of stream a"), 1u) << said();
}

// A table that cannot be read is not the device's fault.
TEST_F(Smmuv2, D2_AWalkThatFailsIsNoRefusal)
{
    boot();
    smmu.banks[0].fsr = 1u << 4;
    smmu.banks[0].cbfrsynra = stream;
    (void)smmu.access(stream, outside); // updates the interrupt
    look();
    EXPECT_EQ(status().other, 1u);
    EXPECT_EQ(status().refused[0], 0u);
}

// A bank is used by one domain, whatever its register says of the stream.
TEST_F(Smmuv2, D2_AFaultOfABankIsItsDomains)
{
    boot();
    for (uint32_t one : {other_stream, nobodys}) {
        smmu.banks[0].fsr = 2;
        smmu.banks[0].cbfrsynra = one;
        look();
    }
    EXPECT_EQ(status().refused[0], 2u);
    EXPECT_EQ(status().refused[1] + status().nobody, 0u);
    EXPECT_EQ(count(said(), "SMMU: stream 9 of 'control'"), 1u) << said();
}

TEST_F(Smmuv2, D2_AnAddressThatIsTooLargeIsTheDomains)
{
    boot();
    smmu.banks[0].fsr = 1u << 7;
    smmu.banks[0].cbfrsynra = stream;
    look();
    EXPECT_EQ(status().refused[0], 1u);
    EXPECT_EQ(status().other, 0u);
    EXPECT_EQ(count(said(), "is refused, address too large (event 80)"), 1u) << said();
}

// Random accesses, unmappings, stops and starts, while the SMMU answers late.
TEST_F(Smmuv2, D2_NoDeviceReachesWhatItsDomainDoesNotHave)
{
    constexpr uint64_t pages = 16;
    const uint32_t streams[] = {stream, second_stream, other_stream, nobodys, 0x7FFF};
    const uint32_t owners[] = {0, 0, 1, 2, 2};

    for (unsigned seed = 0; seed < 40; seed++) {
        std::mt19937 random(seed);
        const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
        bool runs[2] = {true, true}, stopping[2] = {}, unmapping[2] = {};
        std::set<uint64_t> gone[2], going[2];
        std::map<uint64_t, uint64_t> frames[2];
        smmu = {};
        boot();
        for (uint32_t d = 0; d < 2; d++) {
            for (uint64_t page = 0; page < pages; page++) {
                paddr_t pa;
                ASSERT_TRUE(ptable_find(domain_at(d)->stage2.pool, domain_at(d)->stage2.root,
                                        ram + page * BH_PAGE_BYTES, &pa));
                frames[d][page] = pa.value;
            }
        }
        smmu.delays = true;
        uint64_t reached_some = 0;
        for (unsigned step = 0; step < 3000; step++) {
            const uint32_t d = below(2);
            switch (below(12)) {
            case 0:
                if (runs[d] && !stopping[d] && below(4) == 0) {
                    smmu_domain_stop(domain_at(d));
                    runs[d] = false;
                    stopping[d] = true;
                }
                break;
            case 1: // a restart waits until the domain is quiet
                if (!runs[d] && !stopping[d] && !unmapping[d]) {
                    smmu_domain_start(domain_at(d));
                    runs[d] = true;
                }
                break;
            case 2:
                if (!unmapping[d] && below(4) == 0) { // one is under way at most
                    const uint64_t page = below(pages - 1);
                    unmap(d, ram + page * BH_PAGE_BYTES);
                    smmu_domain_unmapped(domain_at(d));
                    going[d] = {page};
                    unmapping[d] = true;
                }
                break;
            case 3:
                smmu.complete();
                break;
            case 4:
                if (smmu_domain_is_unmapped(domain_at(d))) {
                    gone[d].merge(going[d]);
                    unmapping[d] = false;
                }
                break;
            case 5:
                stopping[d] = stopping[d] && !smmu_domain_is_quiet(domain_at(d));
                break;
            case 6:
                look();
                break;
            default: {
                const uint32_t which = below(std::size(streams));
                const uint32_t owner = owners[which];
                const uint64_t page = below(pages + 1);
                const uint64_t address = page == pages ? outside : ram + page * BH_PAGE_BYTES;
                const auto reached = smmu.access(streams[which], address, below(2) == 0);
                if (!reached) {
                    const bool must = owner < 2 && runs[owner] && page < pages &&
                                      !gone[owner].contains(page) && !going[owner].contains(page);
                    EXPECT_FALSE(must) << seed << " " << step;
                    break;
                }
                ASSERT_LT(owner, 2u) << "a stream of nobody";
                EXPECT_TRUE(runs[owner] || stopping[owner]) << seed << " " << step;
                EXPECT_TRUE(frames[owner].contains(page) && frames[owner][page] == *reached);
                EXPECT_FALSE(gone[owner].contains(page)) << seed << " " << step;
                reached_some++;
            }
            }
        }
        look();
        EXPECT_GT(reached_some, 100u);
        uint64_t recorded[3] = {};
        for (size_t i = 0; i < std::size(streams); i++) {
            recorded[owners[i]] += smmu.recorded[streams[i]];
        }
        EXPECT_EQ(status().refused[0], recorded[0]);
        EXPECT_EQ(status().refused[1], recorded[1]);
        EXPECT_EQ(status().nobody, recorded[2]);
        EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
    }
}

} // namespace
} // namespace smmuv2_test
