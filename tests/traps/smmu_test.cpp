// SPDX-License-Identifier: Apache-2.0
// The SMMU's driver on a model of an SMMU: which memory the devices of domains reach, when they reach none,
// who is told of refusals, and that a device or an SMMU that does not answer stops nobody (D1, D2).
#include "smmu_fixture.h"
#include "smmu_model.h"
#include <gtest/gtest.h>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "base/image.h"
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmu_driver.h"
#include "memory/ptable.h"
#include "run/domain_life.h"
#include "trap/psci.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/rare_alarm.h"
}

namespace smmu_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t stream = 8;       // of control
constexpr uint32_t other_stream = 9; // of linux
constexpr uint32_t nobodys = 10;     // in a leaf with entries of domains
constexpr uint32_t far_nobodys = 0x700;
constexpr uint32_t beyond = 0x8000; // no entry of the table
constexpr uint64_t ram = 0x40000000;
constexpr uint64_t first_frame = 0x48000000; // of control
constexpr uint64_t other_frame = 0x48006000; // of linux
constexpr uint64_t outside = 0x70000000;
constexpr uint32_t vmid = 1; // of control
constexpr uint32_t cfgi_ste = 0x03, tlbi_s12_vmall = 0x28, cmd_sync = 0x46;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint32_t hypervisor_timer = 26;

class Smmu : public SmmuFixture {
protected:
    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        boot_with(
            [&](SampleManifest &m) {
                give_smmu(m);
                change(m);
            },
            [this] { smmu.plug_in(sample_smmu_pa); });
    }
    SmmuModel smmu;
};

TEST_F(Smmu, D2_NothingPassesWhileItIsSetUp)
{
    smmu.cr0 = smmu.cr0ack = 0; // as after reset: disabled, accesses bypass
    ASSERT_EQ(smmu.access(stream, outside), outside);
    boot();
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(smmu.order, "gdcvE") << "abort, disable; then commands, events, translation";
    EXPECT_NE(smmu.gbpa & 1u << 20, 0u);
    EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
    EXPECT_NE(said().find("SMMU: 3 streams of domains, all others are refused"), std::string::npos);
}

TEST_F(Smmu, D2_NoStreamIsTranslatedBeforeItsDomainStarts)
{
    bool enabled = false;
    smmu.on_enabled = [&] {
        enabled = true;
        EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
        EXPECT_EQ(smmu.access(nobodys, ram), std::nullopt);
    };
    boot();
    EXPECT_TRUE(enabled);
    EXPECT_EQ(smmu.access(stream, ram), first_frame)
        << "and then it is, although the SMMU knew it as aborted";
}

// A hostile PCI function names physical addresses itself.
TEST_F(Smmu, D2_AnAddressThatADeviceCallsTranslatedIsChecked)
{
    smmu.idr0 |= 1u << 10;
    boot();
    EXPECT_EQ(smmu.translated_access(stream, other_frame), std::nullopt);
    EXPECT_EQ(smmu.translated_access(nobodys, other_frame), std::nullopt);
    EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
}

// Types 1, 5, 7 and 8: a transaction that the SMMU does not know, a request for a translation, an address
// that the device calls translated, a substream.
TEST_F(Smmu, D2_RefusalsOfATranslatingDeviceAreItsDomains)
{
    boot();
    for (const uint32_t type : {1u, 5u, 7u, 8u}) {
        smmu.record(type, stream, 0, true);
    }
    look();
    EXPECT_EQ(status().refused[0], 4u);
    EXPECT_EQ(status().nobody + status().other, 0u);
    EXPECT_NE(said().find("write of 0 is refused, of a kind that it does not know (event 1)"),
              std::string::npos);
}

TEST_F(Smmu, D2_ABootLoadersTablesAreForgottenAndItsBypassEnds)
{
    smmu.cr0 = smmu.cr0ack = 0xD; // it left the SMMU enabled
    smmu.irq_ctrl = 5;
    smmu.gerror_message = smmu.eventq_message = first_frame; // messages that would be written there
    boot();
    ASSERT_TRUE(machine->booted());
    EXPECT_EQ(smmu.gerror_message | smmu.eventq_message, 0u);
    EXPECT_EQ(smmu.order, "gdcvE");
    ASSERT_GE(smmu.commands.size(), 3u);
    EXPECT_EQ(smmu.commands[0].opcode, 0x04u) << "all configuration";
    EXPECT_EQ(smmu.commands[1].opcode, 0x30u) << "all translations";
    EXPECT_EQ(smmu.commands[2].opcode, cmd_sync);
}

TEST_F(Smmu, D2_ADomainsDeviceUsesTheTablesOfItsVcpus)
{
    boot();
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_EQ(smmu.access(stream, ram + 0x6000), first_frame + 0x10000) << "past the colors of others";
    EXPECT_EQ(smmu.access(0x100, ram + 8), first_frame + 8) << "its second stream, in another leaf";
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame);
    EXPECT_EQ(smmu.access(stream, ram, false), first_frame);
    EXPECT_EQ(smmu.events_waiting(), 0u);
}

TEST_F(Smmu, D2_AnyOtherAddressIsRefusedAndCountedForTheDomain)
{
    boot();
    for (uint64_t address :
         {outside, first_frame + 0x2000000, uint64_t{0}, ~uint64_t{0}, uint64_t{sample_smmu_pa}}) {
        EXPECT_EQ(smmu.access(stream, address), std::nullopt) << std::hex << address;
    }
    EXPECT_EQ(smmu.access(other_stream, outside, false), std::nullopt);
    look();
    EXPECT_EQ(status().refused[0], 5u);
    EXPECT_EQ(status().refused[1], 1u);
    EXPECT_EQ(status().nobody + status().other, 0u);
    EXPECT_EQ(status().last_stream, other_stream);
    EXPECT_EQ(status().last_address, outside);
    const std::string text = said();
    EXPECT_EQ(
        count(text, "SMMU: stream 8 of 'control': write of 70000000 is refused, not its memory (event 10)"),
        1u)
        << text;
    EXPECT_EQ(count(text, "SMMU: stream 9 of 'linux': read of 70000000 is refused"), 1u) << text;
    EXPECT_EQ(count(text, "stream 8"), 1u) << "logged once";
    smmu_end();
    EXPECT_NE(said().find("SMMU: 5 accesses of devices of 'control' were refused"), std::string::npos)
        << said();
}

TEST_F(Smmu, D2_AStreamThatNoDomainHasIsRefused)
{
    boot();
    for (uint32_t one : {nobodys, far_nobodys, beyond, 0xFFFFFFFFu}) {
        EXPECT_EQ(smmu.access(one, ram), std::nullopt) << one;
    }
    look();
    EXPECT_EQ(status().nobody, 4u);
    EXPECT_EQ(status().refused[0] + status().refused[1], 0u);
    EXPECT_EQ(count(said(), "which no domain has"), 1u) << said();
}

TEST_F(Smmu, D2_ADeviceOfADomainThatStopsReachesNothingMore)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    smmu.commands.clear();
    EXPECT_EQ(domain_stop(domain_at(0)), BH_DOMAIN_STATE_RUNNING);
    const std::vector<SmmuCommand> expected = {
        {cfgi_ste, stream, 0}, {cfgi_ste, 0x100, 0}, {tlbi_s12_vmall, 0, vmid}, {cmd_sync, 0, 0}};
    EXPECT_EQ(smmu.commands, expected);
    EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
    EXPECT_EQ(smmu.access(0x100, ram), std::nullopt);
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame) << "the other domain goes on";
    EXPECT_EQ(smmu.events_waiting(), 0u) << "a device left running costs no interrupt";
}

TEST_F(Smmu, D2_ARestartedDomainsDeviceWorksAgain)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    for (int life = 0; life < 200; life++) { // more commands than the queue has
        machine->on_core(0);
        machine->hvc(system_reset);
    }
    EXPECT_EQ(machine->status(0).restarts, 200u);
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
}

// While the images are loaded again, no device of the last life may write.
TEST_F(Smmu, D2_MemoryIsReusedOnlyAfterItsDevicesAreQuiet)
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

TEST_F(Smmu, D2_WithoutAnAnswerADomainIsNotRestartedAndTheOthersGoOn)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    smmu.consumes = false;
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_TRUE(machine->waited()) << "its core waits at EL2";
    EXPECT_EQ(machine->status(0).restarts, 0u);
    EXPECT_EQ(status().unanswered, 1u) << "counted once";
    EXPECT_EQ(count(said(), "SMMU: it does not answer, 'control' cannot be restarted before it does"), 1u);
    EXPECT_EQ(machine->status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    EXPECT_EQ(smmu.access(stream, ram), first_frame) << "the old translation is still cached";

    fake_switch_core(0);
    const uint64_t alarm = this_cpu()->rare_alarms[RARE_ALARM_QUIET];
    EXPECT_GT(alarm, clock_now());
    EXPECT_LE(alarm, clock_now() + clock_ticks(100000000)) << "nobody else would wake the core";
    smmu.consumes = true;
    smmu.run_commands();
    fake_gic_raise(hypervisor_timer);
    fake_clock_set(alarm);
    machine->on_core(0);
    EXPECT_EQ(machine->status(0).restarts, 1u) << "it answers late";
    EXPECT_EQ(this_cpu()->rare_alarms[RARE_ALARM_QUIET], 0u);
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
}

// Who asks is on a core with other domains, or holds a lock that a manager waits for.
TEST_F(Smmu, D2_NoStartStopOrQuestionWaits)
{
    boot();
    smmu.consumes = false; // each read of a register takes a millisecond
    const uint64_t before = clock_now();
    smmu_domain_stop(domain_at(0));
    EXPECT_FALSE(smmu_domain_is_quiet(domain_at(0)));
    smmu_domain_start(domain_at(0));
    EXPECT_LE(clock_now() - before, clock_ticks(3000000)) << "each reads one index";
}

TEST_F(Smmu, D2_CommandsThatFindNoRoomAreNeverDone)
{
    boot();
    smmu.consumes = false;
    for (int i = 0; i < 200; i++) {
        (void)smmu_forget(domain_at(0)); // two commands each
    }
    smmu_domain_stop(domain_at(0));
    smmu.consumes = true;
    smmu.run_commands();
    EXPECT_FALSE(smmu_domain_is_quiet(domain_at(0)));
    EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
}

TEST_F(Smmu, D2_UnmappedMemoryIsUnmappedForDevicesToo)
{
    boot();
    ASSERT_EQ(smmu.access(stream, ram), first_frame);
    ptable_entry_t *entry = ptable_page_entry(domain_at(0)->stage2.pool, domain_at(0)->stage2.root, ram);
    *entry = 0;
    EXPECT_EQ(smmu.access(stream, ram), first_frame) << "the model has caches";
    smmu.delays_commands = true;
    smmu_domain_unmapped(domain_at(0));
    EXPECT_FALSE(smmu_domain_is_unmapped(domain_at(0)));
    smmu.run_commands();
    EXPECT_TRUE(smmu_domain_is_unmapped(domain_at(0)));
    EXPECT_EQ(smmu.access(stream, ram), std::nullopt);
}

// Flash of linux that takes commands. Its device reads the flash, too.
class SmmuAndFlash : public Smmu {
protected:
    static constexpr uint32_t core = 1; // linux has this one and core 3
    static constexpr uint32_t other_core = 3;
    static constexpr uint64_t at = 0x40800000;
    static constexpr uint64_t permission_fault_level3 = 0x0F;

    static void as_flash(SampleManifest &m)
    {
        m.images[1].ipa = 0x407E0000; // not in it
        m.segments[2].flags = BH_SEGMENT_FLAG_READ_ONLY | BH_SEGMENT_FLAG_PROGRAMMABLE;
    }
    void start(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        boot([&](SampleManifest &m) {
            as_flash(m);
            change(m);
        });
        ASSERT_TRUE(machine->booted()) << said();
        machine->on_core(core);
        frame = smmu.access(other_stream, at, false).value_or(0);
        ASSERT_NE(frame, 0u);
        fake_hook_translation([](uint64_t, bool) -> uint64_t { return 0xFFull << 56 | frame; });
        smmu.delays_commands = true;
    }
    ~SmmuAndFlash() override { fake_hook_translation(nullptr); }

    bool is_hidden() const { return domain_at(1)->flash.hidden; }
    // The guest of the executing core writes a command. Returns whether it has been carried out: otherwise
    // the guest is still at the same instruction.
    bool command(uint32_t core_index, uint32_t code)
    {
        const uint64_t pc = fake_sysreg(SYSREG_ID_ELR_EL2);
        machine->regs(core_index).x[0] = code << 16 | code;
        machine->trap(is_hidden() ? esr_store(4, 0) : (esr_store(4, 0) & ~0x3Full) | permission_fault_level3,
                      at);
        return fake_sysreg(SYSREG_ID_ELR_EL2) != pc;
    }

    static inline uint64_t frame = 0;
};

TEST_F(SmmuAndFlash, D2_ACommandIsCarriedOutWhenNoDeviceReadsTheFlashAnyMore)
{
    start();
    EXPECT_FALSE(command(core, 0x70));
    EXPECT_EQ(domain_at(1)->flash.chip.mode, NOR_FLASH_ARRAY);
    EXPECT_EQ(smmu.access(other_stream, at, false), frame) << "the SMMU has not forgotten it yet";
    EXPECT_FALSE(command(core, 0x70));
    smmu.run_commands();
    EXPECT_EQ(smmu.access(other_stream, at, false), std::nullopt);
    EXPECT_TRUE(command(core, 0x70));
    machine->trap(esr_load(4, 0), at);
    EXPECT_EQ(machine->regs(core).x[0], 0x00800080u);
    EXPECT_TRUE(command(core, 0xFF)) << "showing it needs no command";
    EXPECT_EQ(smmu.access(other_stream, at, false), frame);
}

// Interrupts are masked while EL2 handles the access.
TEST_F(SmmuAndFlash, D2_NoAccessWaitsForTheSmmu)
{
    start();
    for (int i = 0; i < 200; i++) {
        const unsigned reads = smmu.reads;
        EXPECT_FALSE(command(core, 0x70));
        EXPECT_LE(smmu.reads - reads, 3u) << "room in the queue, and whether the commands are executed";
    }
    EXPECT_EQ(smmu.commands_waiting(), 2u) << "one unmapping, however often the guest tries";
    EXPECT_EQ(status().unanswered, 1u);
}

// Two VCPUs, one of which makes the flash readable all the time.
TEST_F(SmmuAndFlash, D2_AGuestThatChangesTheModeInALoopHasOneUnmappingUnderWay)
{
    unsigned carried_out = 0;
    start();
    for (unsigned i = 0; i < 2000; i++) {
        const uint32_t on = i % 2 == 0 ? core : other_core;
        const unsigned reads = smmu.reads;
        fake_switch_core(on);
        if (i % 7 == 0) {
            machine->trap(esr_load(4, 0), at);
        } else {
            carried_out += command(on, i % 3 == 0 ? 0x70 : 0xFF) ? 1 : 0;
        }
        EXPECT_LE(smmu.reads - reads, 3u);
        EXPECT_LE(smmu.commands_waiting(), 2u);
        if (i % 50 == 0) {
            smmu.run_commands();
        }
    }
    EXPECT_GT(carried_out, 40u);
    EXPECT_TRUE(smmu.violations.empty()) << smmu.violations[0];
    EXPECT_EQ(machine->status(1).state, uint32_t{BH_DOMAIN_STATE_RUNNING});
    smmu_domain_stop(domain_at(1));
    EXPECT_FALSE(smmu_domain_is_quiet(domain_at(1)));
    smmu.run_commands();
    EXPECT_TRUE(smmu_domain_is_quiet(domain_at(1))) << "no command was dropped";
}

TEST_F(SmmuAndFlash, D2_TheCoreServesOtherDomainsWhileOneWaitsForTheSmmu)
{
    start([](SampleManifest &m) {
        m.vcpus[0].core = core; // of control, which has no work yet
        m.domains[0].priority = 1;
    });
    const uint64_t pc = fake_sysreg(SYSREG_ID_ELR_EL2);
    ASSERT_EQ(this_cpu()->vcpu->domain, domain_at(1));
    (void)command(core, 0x70);
    EXPECT_EQ(this_cpu()->vcpu->domain, domain_at(0)) << "the other domain has the core";
    const uint64_t alarm = this_cpu()->rare_alarms[RARE_ALARM_QUIET];
    EXPECT_GT(alarm, clock_now());
    EXPECT_LE(alarm, clock_now() + clock_ticks(50000));

    fake_gic_raise(hypervisor_timer);
    fake_clock_set(alarm);
    machine->interrupt();
    EXPECT_EQ(this_cpu()->vcpu->domain, domain_at(0)) << "not yet";
    EXPECT_GT(this_cpu()->rare_alarms[RARE_ALARM_QUIET], clock_now()) << "the core asks again";

    smmu.run_commands();
    fake_gic_raise(hypervisor_timer);
    fake_clock_set(this_cpu()->rare_alarms[RARE_ALARM_QUIET]);
    machine->interrupt();
    EXPECT_EQ(this_cpu()->vcpu->domain, domain_at(1)) << "the more urgent one";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_ELR_EL2), pc) << "which executes the instruction again";
    EXPECT_TRUE(command(core, 0x70));
}

// The VCPU's core has not seen the stop yet. Otherwise the unmappings of many lives would fill the queue.
TEST_F(SmmuAndFlash, D2_ARestartWaitsForAnUnmappingThatCameAfterTheStop)
{
    start();
    fake_switch_core(console_core ^ 2); // a manager's
    ASSERT_TRUE(domain_restart(domain_at(1), BH_DOMAIN_END_MANAGER_REQUEST));
    smmu.run_commands();
    fake_switch_core(core);
    EXPECT_FALSE(command(core, 0x70));
    EXPECT_EQ(smmu.commands_waiting(), 2u);
    machine->interrupt();
    EXPECT_EQ(machine->status(1).restarts, 0u);
    smmu.run_commands();
    fake_gic_raise(hypervisor_timer);
    fake_clock_set(this_cpu()->rare_alarms[RARE_ALARM_QUIET]);
    machine->on_core(core);
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_FALSE(is_hidden());
}

TEST_F(SmmuAndFlash, D2_ARestartEndsTheWait)
{
    start();
    EXPECT_FALSE(command(core, 0x70));
    fake_switch_core(core);
    EXPECT_TRUE(is_hidden());
    smmu.delays_commands = false;
    smmu.run_commands();
    machine->hvc(system_reset);
    EXPECT_FALSE(is_hidden());
    EXPECT_EQ(domain_at(1)->flash.chip.mode, NOR_FLASH_ARRAY);
}

TEST_F(Smmu, D2_AnSmmuThatDoesNotAnswerIsNoStart)
{
    smmu.answers_registers = false;
    boot();
    EXPECT_FALSE(machine->booted());
}

TEST_F(Smmu, D2_AnSmmuThatExecutesNoCommandIsNoStart)
{
    smmu.consumes = false;
    boot();
    EXPECT_FALSE(machine->booted());
    EXPECT_NE(said().find("SMMU: it does not answer"), std::string::npos) << said();
}

TEST_F(Smmu, D2_AnSmmuThatLacksSomethingIsNoStart)
{
    struct Row {
        const char *text;
        void (*change)(SmmuModel &);
    };
    const Row rows[] = {
        {SMMU_NO_STAGE2, [](SmmuModel &m) { m.idr0 &= ~1u; }},
        {"no tables of AArch64", [](SmmuModel &m) { m.idr0 &= ~(2u << 2); }},
        {"no pages of 4 KiB", [](SmmuModel &m) { m.idr5 &= ~(1u << 4); }},
        {"tables are big-endian", [](SmmuModel &m) { m.idr0 |= 3u << 21; }},
        {"walks are not coherent with caches", [](SmmuModel &m) { m.idr0 &= ~(1u << 4); }},
        {"every fault stalls", [](SmmuModel &m) { m.idr0 = (m.idr0 & ~(3u << 24)) | 2u << 24; }},
        {"places of tables or queues are fixed", [](SmmuModel &m) { m.idr1 |= 1u << 30; }},
        {"fewer stream ids than the manifest has", [](SmmuModel &m) { m.idr1 = (m.idr1 & ~0x3Fu) | 15; }},
        {"the command queue is too short", [](SmmuModel &m) { m.idr1 = (m.idr1 & ~(31u << 21)) | 7u << 21; }},
        {"the event queue is too short", [](SmmuModel &m) { m.idr1 = (m.idr1 & ~(31u << 16)) | 6u << 16; }},
        {"no stream tables of two levels", [](SmmuModel &m) { m.idr0 &= ~(3u << 27); }},
    };
    for (const Row &row : rows) {
        smmu = {};
        row.change(smmu);
        boot();
        EXPECT_FALSE(machine->booted()) << row.text;
        EXPECT_NE(said().find(std::string("SMMU: ") + row.text), std::string::npos) << said();
    }
}

// It would read its tables from the address without the upper bits.
TEST_F(Smmu, D2_MemoryIsWithinTheAddressesOfTheSmmu)
{
    boot();
    auto *manifest = const_cast<manifest_header *>(system_manifest());
    auto *memory = const_cast<manifest_ram *>(manifest_ram_ranges(manifest));
    memory->pa = 0x900000000; // 37 bits with its end
    memory->bytes = 0x700001000;
    smmu.idr5 = 1u << 4 | 2u;
    EXPECT_EQ(smmu_missing(), nullptr);
    smmu.idr5 = 1u << 4 | 1u; // 36 bits
    EXPECT_STREQ(smmu_missing(), "memory is beyond the addresses that it has");
}

// Otherwise EL2 would start, and the SMMU would refuse all accesses of devices.
TEST_F(Smmu, D2_TheSmmuHasAllAddressesOfGuests)
{
    boot();
    const uint32_t idr0 = smmu.idr0;
    smmu.idr5 = 1u << 4 | 1u; // 36 bits, which are enough for the memory
    EXPECT_STREQ(smmu_missing(), "guests have more addresses than it has");
    smmu.idr0 = idr0 | 1u << 2; // tables of AArch32: 40 bits
    EXPECT_EQ(smmu_missing(), nullptr);
    smmu.idr0 = idr0;
    smmu.idr5 = 1u << 4 | 2u;
    EXPECT_EQ(smmu_missing(), nullptr);
}

TEST_F(Smmu, D2_ForcedWriteBackNeedsAnSmmuThatHasIt)
{
    const auto forced = [](SampleManifest &m) { m.header.platform.s2fwb = 1; };
    boot(forced);
    EXPECT_FALSE(machine->booted());
    smmu = {};
    smmu.idr3 = 1u << 8;
    boot(forced);
    EXPECT_TRUE(machine->booted());
}

TEST_F(Smmu, D2_FewStreamsNeedOneLevel)
{
    smmu.idr1 = (smmu.idr1 & ~0x3Fu) | 6;
    smmu.idr0 &= ~(3u << 27);
    boot([](SampleManifest &m) {
        m.header.smmu.stream_bits = 6;
        m.streams[1].stream = 63;
    });
    ASSERT_TRUE(machine->booted()) << said();
    EXPECT_EQ(smmu.access(stream, ram), first_frame);
    EXPECT_EQ(smmu.access(63, ram), first_frame);
    EXPECT_EQ(smmu.access(other_stream, ram), other_frame);
    EXPECT_EQ(smmu.access(nobodys, ram), std::nullopt);
    EXPECT_EQ(smmu.access(64, ram), std::nullopt);
}

TEST_F(Smmu, D2_AFloodOfRefusalsIsABoundedStepInEachInterval)
{
    boot();
    for (int i = 0; i < 10000; i++) {
        (void)smmu.access(stream, outside);
        machine->take_while_idle();
    }
    for (unsigned step = 0; step < 8; step++) { // 128 events in the queue, 16 in a step
        EXPECT_EQ(status().refused[0], 16u * step);
        EXPECT_EQ(status().interrupts, 1u) << "disabled while events are left";
        smmu_alarm();
        machine->take_while_idle();
    }
    EXPECT_EQ(status().refused[0], 128u);
    EXPECT_EQ(status().overflows, 1u) << "and some were lost";
    EXPECT_EQ(count(said(), "stream 8"), 1u);

    look(); // an edge came while they were disabled
    const uint64_t before = status().interrupts;
    (void)smmu.access(stream, outside);
    look();
    EXPECT_EQ(status().interrupts, before + 1) << "it is heard again";
    EXPECT_EQ(status().refused[0], 129u);
    EXPECT_EQ(status().overflows, 1u) << "acknowledged";
    for (int i = 0; i < 200; i++) {
        (void)smmu.access(stream, outside);
    }
    look();
    EXPECT_EQ(status().overflows, 2u) << "and the next one is noticed";
}

TEST_F(Smmu, D2_AnEventBetweenTheLastLookAndTheEnablingIsNotLost)
{
    boot();
    (void)smmu.access(stream, outside);
    machine->take_while_idle();
    smmu_alarm();
    (void)smmu.access(stream, outside + 0x1000);
    look();
    EXPECT_EQ(status().refused[0], 2u);
    EXPECT_EQ(smmu.events_waiting(), 0u);
}

// The queue was not empty when it came, so the SMMU does not interrupt for it.
TEST_F(Smmu, D2_AnEventDuringALookIsNotLost)
{
    boot();
    (void)smmu.access(stream, outside);
    machine->take_while_idle();
    smmu.on_events_taken = [this] { (void)smmu.access(stream, outside + 0x1000); };
    rare_alarm_set(RARE_ALARM_SMMU, 0);
    smmu_alarm();
    ASSERT_EQ(smmu.events_waiting(), 1u);
    EXPECT_NE(this_cpu()->rare_alarms[RARE_ALARM_SMMU], 0u) << "it looks again";
    smmu_alarm();
    EXPECT_EQ(status().refused[0], 2u);
}

TEST_F(Smmu, D2_AGlobalErrorIsCountedLoggedOnceAndAcknowledged)
{
    boot();
    for (int i = 0; i < 3; i++) {
        smmu.raise_error(1u << 2);
        look();
        EXPECT_EQ(smmu.gerror, smmu.gerrorn);
    }
    EXPECT_EQ(status().global_errors, 3u);
    EXPECT_EQ(status().overflows, 3u) << "as this error says that events are lost";
    EXPECT_EQ(status().last_error, 1u << 2);
    EXPECT_EQ(count(said(), "SMMU: global error (GERROR 4): events are lost"), 1u) << said();
}

TEST_F(Smmu, D2_AfterACommandErrorNoDomainWithADeviceIsRestarted)
{
    boot();
    smmu.raise_error(1);
    for (int i = 0; i < 3; i++) {
        look();
    }
    EXPECT_EQ(status().global_errors, 1u) << "it stays active and is counted once";
    EXPECT_EQ(count(said(), "it executes no more commands"), 1u) << said();
    smmu.consumes = true;
    smmu_domain_stop(domain_at(0));
    smmu.consumes = false; // time passes at each read
    EXPECT_FALSE(smmu_domain_is_quiet(domain_at(0)));
    EXPECT_FALSE(smmu_domain_is_quiet(domain_at(0)));
    EXPECT_EQ(status().unanswered, 1u) << "counted once for each stop";
}

TEST_F(Smmu, D2_ACoresTlbMaintenanceHasNoEffectAndUnknownStreamsAreHeardOf)
{
    boot();
    EXPECT_EQ(smmu.cr2, 1u << 1 | 1u << 2);
    EXPECT_EQ(smmu.cr1, 0xD75u);
}

} // namespace
} // namespace smmu_test
