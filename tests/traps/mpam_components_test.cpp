// SPDX-License-Identifier: Apache-2.0
// The driver of MPAM's components on fake ones: it programs what the manifest requests, refuses differences
// by name, publishes errors and monitors, and disturbs no domain by that.
#include "hosted_machine.h"
#include "mpam_component.h"
#include <gtest/gtest.h>

extern "C" {
#include "base/image.h"
#include "console/console.h"
#include "core/mpam_registers.h"
#include "mpam/mpam_components.h"
#include "mpam/mpam_labels.h"
}

namespace mpam_components_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t console_core = 1;

class MpamComponents : public testing::Test {
protected:
    MpamComponents() { reset_components(); }

    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        machine = boot_with_mpam(change);
        fake_switch_core(console_core);
    }
    // The log until now.
    std::string said()
    {
        console_write_start();
        return machine->uart_output();
    }
    static const status_mpam &status()
    {
        return *reinterpret_cast<const status_mpam *>(image_start +
                                                      system_status()->mpam_frame * BH_PAGE_BYTES);
    }
    static const status_mpam_monitor &monitor(uint32_t component, uint32_t instance, uint32_t kind,
                                              uint32_t partid)
    {
        for (uint32_t i = 0; i < status().monitor_count; i++) {
            const status_mpam_monitor &one = status().monitors[i];
            if (one.component == component && one.instance == instance && one.kind == kind &&
                one.partid == partid) {
                return one;
            }
        }
        ADD_FAILURE() << "no such monitor";
        return status().monitors[0];
    }
    void read_monitors()
    {
        for (uint32_t i = 0; i < status().monitor_count; i++) {
            mpam_components_alarm();
        }
    }

    std::unique_ptr<HostedMachine> machine;
};

TEST_F(MpamComponents, M3_EachOwnerGetsWhatItAsksFor)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(status().state, uint32_t{BH_MPAM_STATE_ENABLED});
    EXPECT_EQ(first_component.control(0, 1, MPAMCFG_CPBM(0)), 0xFFu);
    EXPECT_EQ(first_component.control(0, 2, MPAMCFG_CPBM(0)), 0xFFFF00u);
    EXPECT_EQ(first_component.control(0, 2, MPAMCFG_CPBM(1)), 0u);
    EXPECT_EQ(first_component.control(0, 2, MPAMCFG_CMAX), 0x3F00u) << "a quarter of 8 bits";
    EXPECT_EQ(first_component.control(0, 4, MPAMCFG_CPBM(0)), 0xFF000000u);
    EXPECT_EQ(first_component.control(0, 4, MPAMCFG_CPBM(1)), 0xFFu);
    EXPECT_EQ(first_component.control(1, 2, MPAMCFG_MBW_MIN), 0x3400u) << "a fifth, rounded up: 52 of 256";
    EXPECT_EQ(first_component.control(1, 2, MPAMCFG_PRI), 7u);
    EXPECT_EQ(first_component.control(1, 4, MPAMCFG_MBW_MAX), 0x80007F00u) << "a half, and no more";
    EXPECT_EQ(second_component.control(0, 1, MPAMCFG_CPBM(0)), 0xFu);
}

TEST_F(MpamComponents, M3_EveryPartidHasEveryControl)
{
    boot();
    ASSERT_TRUE(machine->booted());
    for (uint32_t partid = 0; partid < sample_mpam_partids; partid++) {
        for (uint32_t instance : {0u, 1u}) {
            for (const auto &[offset, bits] : first_component.instances[instance].controls) {
                if (offset != MPAMCFG_MBW_WINWD) {
                    EXPECT_NE(first_component.control(instance, partid, offset), 0xDEADu)
                        << partid << " register " << std::hex << offset;
                }
            }
        }
    }
    for (uint32_t nobodys : {0u, 3u, 8u, 15u}) {
        EXPECT_EQ(first_component.control(0, nobodys, MPAMCFG_CPBM(0)), 0xFFu) << "the hypervisor's";
    }
    for (uint32_t owned : {5u, 6u, 7u}) {
        EXPECT_EQ(first_component.control(0, owned, MPAMCFG_CPBM(0)), ~0u) << "nothing is asked for";
    }
}

// Known pitfalls: a minimum of 0 on some silicon, narrowed PARTIDs.
TEST_F(MpamComponents, M7_NobodyHasAMinimumOfZero)
{
    boot();
    for (uint32_t partid = 0; partid < sample_mpam_partids; partid++) {
        EXPECT_NE(first_component.control(1, partid, MPAMCFG_MBW_MIN), 0u) << partid;
    }
}

TEST_F(MpamComponents, M7_NarrowedPartidsAreTheirOwnAndTheRestTheHypervisors)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    for (uint32_t partid = 0; partid <= 7; partid++) {
        EXPECT_EQ(second_component.internal_of(partid), partid);
    }
    for (uint32_t partid = 8; partid < sample_mpam_partids; partid++) {
        EXPECT_EQ(second_component.internal_of(partid), 1u) << "shares what nobody else's has";
    }
}

TEST_F(MpamComponents, M3_ARegisterThatContradictsTheManifestIsNamed)
{
    first_component.instances[0].ids[MPAMF_CPOR_IDR] = 32;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(
        said().find("MPAM component 0, instance 0: MPAMF_CPOR_IDR.CPBM_WD is 32, the platform file says 40"),
        std::string::npos)
        << said();
}

TEST_F(MpamComponents, M7_TheSecondInstanceIsLookedAtAndNotTheFirstTwice)
{
    first_component.instances[1].ids[MPAMF_MBW_IDR] &= ~(1u << 11); // and its default is not written
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("component 0, instance 1: MPAMF_MBW_IDR.HAS_MAX is 0"), std::string::npos)
        << said();
}

TEST_F(MpamComponents, M3_AWriteThatDoesNotReadBackIsRefused)
{
    first_component.stuck_offset = MPAMCFG_CMAX;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("component 0, instance 0, PARTID 0: register 108 is 0 after ff00 was written"),
              std::string::npos)
        << said();
}

TEST_F(MpamComponents, M3_AnErrorWhileItIsProgrammedIsRefused)
{
    first_component.instances[1].controls.erase(MPAMCFG_PRI);
    boot();
    EXPECT_FALSE(machine->booted());
}

TEST_F(MpamComponents, M3_AnErrorIsCountedAndSaidOnce)
{
    boot();
    for (int i = 0; i < 3; i++) {
        first_component.raise_error(MPAM_ERROR_REQ_PMG_RANGE, 4);
        machine->take_while_idle();
        mpam_components_alarm();
    }
    first_component.raise_error(MPAM_ERROR_REQ_PARTID_RANGE, 4);
    machine->take_while_idle();
    EXPECT_EQ(status().errors[MPAM_ERROR_REQ_PMG_RANGE], 3u);
    EXPECT_EQ(status().errors[MPAM_ERROR_REQ_PARTID_RANGE], 1u);
    EXPECT_EQ(status().error_interrupts, 4u);
    const std::string text = said();
    const auto first = text.find("group out of range in a request");
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find("group out of range in a request", first + 1), std::string::npos) << "said once";
    EXPECT_NE(text.find("PARTID out of range in a request"), std::string::npos);
}

TEST_F(MpamComponents, M3_AStormOfErrorsIsOneInterruptForEachLook)
{
    boot();
    const uint32_t before = first_component.interrupts;
    for (int i = 0; i < 100; i++) {
        first_component.raise_error(MPAM_ERROR_REQ_PMG_RANGE, 4);
        machine->take_while_idle();
    }
    EXPECT_EQ(first_component.interrupts - before, 1u);
    EXPECT_EQ(status().error_interrupts, 1u);
    mpam_components_alarm();
    EXPECT_EQ(status().errors[MPAM_ERROR_REQ_PMG_RANGE], 3u) << "one, and at least two that came meanwhile";
    first_component.raise_error(MPAM_ERROR_REQ_PMG_RANGE, 4);
    machine->take_while_idle();
    EXPECT_EQ(status().error_interrupts, 2u) << "it is heard again";
}

TEST_F(MpamComponents, M3_AnErrorWithoutAnInterruptIsFoundToo)
{
    boot();
    second_component.raise_error(MPAM_ERROR_REQ_PARTID_RANGE, 9);
    EXPECT_EQ(status().error_interrupts, 0u);
    mpam_components_alarm();
    EXPECT_EQ(status().errors[MPAM_ERROR_REQ_PARTID_RANGE], 1u);
    EXPECT_EQ(status().last_component, 1u);
}

TEST_F(MpamComponents, M3_EachOwnerHasAMonitorAsFarAsThereAre)
{
    boot();
    // Hypervisor, domain 0, four of domain 1: six PARTIDs; 4 + 8 monitors, 2 + 4 of the other component.
    EXPECT_EQ(status().monitor_count, 4u + 6u + 2u + 4u);
    EXPECT_EQ(status().without_monitor, 2u + 0u + 4u + 2u);
    EXPECT_EQ(first_component.filter(0, true, 0), 1);
    EXPECT_EQ(first_component.filter(0, true, 1), 2);
    EXPECT_EQ(first_component.filter(0, true, 3), 5);
    EXPECT_EQ(first_component.filter(1, false, 5), 7);
    EXPECT_EQ(second_component.filter(0, false, 3), 5);
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 1).owner, 0xFFFF);
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 5).owner, 1);
}

TEST_F(MpamComponents, M3_MonitorsArePublishedAndAReadDisturbsNobody)
{
    boot();
    first_component.set_monitor(0, true, 1, 0x12340);
    first_component.set_monitor(1, false, 1, 0x5'0000'0040);
    const uint32_t writes = first_component.monitor_writes;
    read_monitors();
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).bytes, 0x12340u);
    EXPECT_EQ(monitor(0, 1, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2).bytes, 0x5'0000'0040u);
    EXPECT_EQ(monitor(0, 1, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2).flags, 0);
    first_component.set_monitor(0, true, 1, 0x40);
    first_component.set_monitor(1, false, 1, 0x5'0000'0080);
    read_monitors();
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).bytes, 0x40u) << "what is stored now";
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).most_bytes, 0x12340u);
    EXPECT_EQ(monitor(0, 1, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2).bytes, 0x5'0000'0080u) << "of the whole run";
    EXPECT_EQ(first_component.monitor_writes, writes) << "none is configured anew";
    EXPECT_EQ(status().reads, 2u * status().monitor_count);
}

TEST_F(MpamComponents, M7_AMonitorThatIsNotReadyIsNotBelieved)
{
    boot();
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).flags, BH_MPAM_MONITOR_FLAG_NEVER_READ);
    first_component.set_monitor(0, true, 1, 0x7FFF, false);
    first_component.set_monitor(1, false, 1, 0x7FFF, false);
    read_monitors();
    for (const auto &one :
         {monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2), monitor(0, 1, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2)}) {
        EXPECT_EQ(one.flags, BH_MPAM_MONITOR_FLAG_NEVER_READ | BH_MPAM_MONITOR_FLAG_NOT_READY);
        EXPECT_EQ(one.bytes, 0u);
    }
    first_component.set_monitor(0, true, 1, 0x80);
    read_monitors();
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).flags, 0);
    EXPECT_EQ(monitor(0, 0, BH_MPAM_MONITOR_KIND_STORAGE, 2).bytes, 0x80u);
}

TEST_F(MpamComponents, M7_AMonitorThatWrapsGoesOn)
{
    boot();
    second_component.set_monitor(0, false, 1, 0x7FFFFFC0);
    read_monitors();
    second_component.set_monitor(0, false, 1, 0x40); // 31 bits
    read_monitors();
    EXPECT_EQ(monitor(1, 0, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2).bytes, 0x80000040u);
    EXPECT_EQ(monitor(1, 0, BH_MPAM_MONITOR_KIND_BANDWIDTH, 2).flags, BH_MPAM_MONITOR_FLAG_WRAPPED);
}

TEST_F(MpamComponents, M3_TheEndReadsEverythingOnceMore)
{
    boot();
    first_component.set_monitor(1, false, 0, 0x1000);
    machine->end();
    EXPECT_EQ(monitor(0, 1, BH_MPAM_MONITOR_KIND_BANDWIDTH, 1).bytes, 0x1000u);
    EXPECT_EQ(status().reads, status().monitor_count);
}

TEST_F(MpamComponents, M3_TheDumpIsWhatTheRegistersHave)
{
    boot();
    const auto *rows =
        reinterpret_cast<const status_mpam_register *>(image_start + status().dump_frame * BH_PAGE_BYTES);
    uint32_t of_first = 0;
    ASSERT_GT(status().dump_count, 0u);
    EXPECT_EQ(status().dump_left_out, 0u);
    for (uint32_t i = 0; i < status().dump_count; i++) {
        const status_mpam_register &row = rows[i];
        if (row.component == 0 && row.offset != MPAMCFG_MBW_WINWD) {
            of_first++;
            EXPECT_EQ(row.value, first_component.control(row.instance, row.partid, row.offset));
        }
    }
    EXPECT_EQ(of_first, sample_mpam_partids * (5 + 5));
}

TEST_F(MpamComponents, M2_WithoutFirmwaresPermissionItSaysSoAndGoesOn)
{
    machine = std::make_unique<HostedMachine>(give_mpam, [] {
        give_cores_mpam();
        fake_undefine_mpam(true);
        plug_in();
    });
    EXPECT_TRUE(machine->booted());
    EXPECT_EQ(status().state, uint32_t{BH_MPAM_STATE_FIRMWARE});
    EXPECT_EQ(status().writes, 0u);
    EXPECT_NE(said().find("MPAM: disabled by EL3 (MPAM3_EL3), nothing is partitioned"), std::string::npos)
        << said();
    for (uint32_t core = 0; core < 4; core++) {
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_MPAM2_EL2), 0u) << "no access to what is undefined";
    }
}

TEST_F(MpamComponents, M2_CoresWithoutItAreRefusedWhereTheManifestHasComponents)
{
    machine = std::make_unique<HostedMachine>(give_mpam, plug_in);
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("missing in the cores"), std::string::npos) << said();
}

TEST_F(MpamComponents, M2_CoresWithFewerPartidsAreRefused)
{
    machine = std::make_unique<HostedMachine>(give_mpam, [] {
        give_cores_mpam((mpam_ids & ~uint64_t{0xFFFF}) | 7);
        plug_in();
    });
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("MPAMIDR_EL1 has PARTID_MAX 7, the platform file says 15"), std::string::npos);
}

// PMGs are not mapped: a guest that writes its own labels can use all that the core has.
TEST_F(MpamComponents, M3_GroupsThatAComponentLacksAreRefusedWhereGuestsChooseThem)
{
    constexpr uint64_t more_groups = mpam_ids | uint64_t{7} << 32;
    for (const uint32_t virtual_partids : {4u, 0u}) {
        reset_components();
        machine = nullptr;
        machine = std::make_unique<HostedMachine>(
            [&](SampleManifest &m) {
                give_mpam(m);
                m.domains[1].mpam_virtual = virtual_partids;
                if (virtual_partids == 0) { // PARTIDs without an owner get the settings for none
                    m.header.mpam_settings.count = 0;
                    m.header.mpam_words.count = 0;
                }
            },
            [] {
                give_cores_mpam(more_groups);
                plug_in();
            });
        fake_switch_core(console_core);
        EXPECT_EQ(machine->booted(), virtual_partids == 0) << said();
        EXPECT_EQ(
            said().find("component 0: groups up to 3, guests with virtual PARTIDs can choose up to 7") ==
                std::string::npos,
            virtual_partids == 0)
            << said();
    }
}

// A known pitfall: a guest writes to a feature page. No width, no direction, no word succeeds.
TEST_F(MpamComponents, M7_NoByteOfAFeaturePageIsReachedByAGuest)
{
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    const uint32_t before = first_component.control(0, 2, MPAMCFG_CPBM(0));
    for (const uint32_t core : {0u, 1u}) { // of a domain without virtual PARTIDs, and of one with them
        guest_regs &regs = machine->on_core(core);
        const stage2 &tables = cpu_at(core)->vcpu->domain->stage2;
        for (const uint64_t page : {sample_mpam_page, sample_mpam_other_page}) {
            for (uint64_t at = page; at < page + BH_MPAM_PAGE_BYTES; at += 4) {
                EXPECT_FALSE(stage2_owns(&tables, ipaddr(at)));
                fake_set_sysreg(SYSREG_ID_FAR_EL2, at);
                fake_set_sysreg(SYSREG_ID_HPFAR_EL2, at >> 12 << 4);
                for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
                    ASSERT_FALSE(trap_data_abort_resolve(cpu_at(core), &regs, esr_load(bytes, 1))) << at;
                    ASSERT_FALSE(trap_data_abort_resolve(cpu_at(core), &regs, esr_store(bytes, 1))) << at;
                }
            }
        }
        machine->trap(esr_store(4, 1), sample_mpam_page + MPAMCFG_PART_SEL);
        EXPECT_EQ(machine->status(cpu_at(core)->vcpu->domain->index).state,
                  uint32_t{BH_DOMAIN_STATE_CRASHED});
    }
    EXPECT_EQ(first_component.control(0, 2, MPAMCFG_CPBM(0)), before) << "as it was programmed";
}

} // namespace
} // namespace mpam_components_test
