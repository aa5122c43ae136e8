// SPDX-License-Identifier: Apache-2.0
// Owners of requests: labels of cores and VCPUs, in every order in which they change, and what guests
// see of MPAM. No request carries another domain's PARTID.
#include "hosted_machine.h"
#include "mpam_component.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

extern "C" {
#include "mpam/mpam_labels.h"
#include "vgic/vgic.h"
}

namespace mpam_labels_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t esr_wfi = 0x01ull << 26 | 1u << 25;
constexpr uint32_t shared = 0;
constexpr uint32_t elsewhere = 2;
constexpr uint32_t uart_spi = 33;
constexpr uint64_t enable = 1ull << 63;
constexpr uint64_t trap_mpam1 = 1ull << 48;
constexpr uint64_t trap_mpam0 = 1ull << 49;
constexpr uint64_t trap_ids = 1ull << 31; // MPAMHCR_EL2
constexpr uint64_t label_of_hypervisor = 1u << 16 | 1;
constexpr uint64_t label_of_first = 1ull << 40 | 1ull << 32 | 2u << 16 | 2; // PMG 1, PARTID 2
constexpr uint64_t label_of_second = 4u << 16 | 4;

constexpr uint64_t undefined = ~0ull;

class MpamLabels : public testing::Test {
protected:
    MpamLabels() { reset_components(); }

    void boot(const std::function<void(SampleManifest &)> &change)
    {
        machine = boot_with_mpam(change);
        ASSERT_TRUE(machine->booted());
    }
    // Domain 1's first VCPU is on domain 0's core.
    static void share(SampleManifest &m)
    {
        m.vcpus[1].core = shared;
        m.domains[1].priority = 1;
    }
    static void without_virtual(SampleManifest &m)
    {
        share(m);
        m.domains[1].mpam_virtual = 0;
    }
    uint32_t running() const { return cpu_at(shared)->vcpu->domain->index; }

    // Domain 0 enables the interrupt that it will wait for, and waits: domain 1 runs.
    void switch_to_second()
    {
        guest_regs &regs = machine->on_core(shared);
        for (auto [address, value] :
             {std::pair{0x08000000ull, 2ull}, {0x08000084ull, ~0ull}, {0x08000104ull, 2ull}}) {
            regs.x[1] = value;
            machine->trap(esr_store(4, 1), address);
        }
        machine->trap(esr_wfi);
        ASSERT_EQ(running(), 1u);
    }
    // The interrupt arrives, from a device that another core emulates.
    void switch_back()
    {
        fake_switch_core(elsewhere);
        vgic_set_spi_level(domain_at(0), uart_spi, true);
        fake_switch_core(shared);
        machine->interrupt();
        ASSERT_EQ(running(), 0u);
    }
    // The value that the guest of the executing core reads from a register; all ones: the register is
    // undefined.
    uint64_t read_register(unsigned op1, unsigned crm, unsigned op2, unsigned crn = 10)
    {
        guest_regs &regs = machine->regs(fake_current_core());
        fake_set_sysreg(SYSREG_ID_ELR_EL2, 0x1000);
        regs.x[3] = 0;
        machine->trap(esr_sysreg(3, op1, crn, crm, op2, 3, true));
        return fake_sysreg(SYSREG_ID_ELR_EL2) == 0x1004 ? regs.x[3] : undefined;
    }

    std::unique_ptr<HostedMachine> machine;
};

// Checks all writes of MPAM1_EL1, MPAM0_EL1 and VTTBR_EL2: while walks are possible, the label belongs to the
// owner of the tables.
void expect_labels_follow_tables(const std::map<uint64_t, std::set<uint64_t>> &labels_of, uint64_t vttbr,
                                 uint64_t mpam1, uint64_t mpam0)
{
    constexpr uint64_t walks_off = 1u << 7 | 1u << 23;
    bool closed = false;

    for (size_t i = 0; i < fake_write_count(); i++) {
        const fake_write *write = fake_write_at(i);
        if (write->is_mmio) {
            continue;
        }
        switch (write->id) {
        case SYSREG_ID_TCR_EL1:
            closed = (write->value & walks_off) == walks_off;
            break;
        case SYSREG_ID_VTTBR_EL2:
            vttbr = write->value;
            break;
        case SYSREG_ID_MPAM1_EL1:
            mpam1 = write->value;
            break;
        case SYSREG_ID_MPAM0_EL1:
            mpam0 = write->value;
            break;
        default:
            break;
        }
        if (!closed) {
            ASSERT_TRUE(labels_of.at(vttbr).contains(mpam1))
                << "write " << i << ": MPAM1_EL1 " << std::hex << mpam1;
            ASSERT_TRUE(labels_of.at(vttbr).contains(mpam0))
                << "write " << i << ": MPAM0_EL1 " << std::hex << mpam0;
        }
    }
}

TEST_F(MpamLabels, M2_ACoreHasTheHypervisorsLabelAndGuestsAccessesTrap)
{
    boot([](SampleManifest &) {});
    for (uint32_t core = 0; core < 4; core++) {
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_MPAM2_EL2),
                  enable | trap_mpam1 | trap_mpam0 | label_of_hypervisor);
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_MPAMHCR_EL2), trap_ids);
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_MPAM1_EL1), label_of_hypervisor) << "nobody has it yet";
        EXPECT_EQ(fake_core_sysreg(core, SYSREG_ID_MPAM0_EL1), label_of_hypervisor);
    }
}

TEST_F(MpamLabels, M2_AVcpuRunsWithItsDomainsLabel)
{
    boot([](SampleManifest &) {});
    machine->on_core(shared);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), label_of_first);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM2_EL2) & 0xFFFFFFFF, label_of_hypervisor) << "EL2's is its own";
}

// A known pitfall: a PARTID that a VCPU leaves on its core.
TEST_F(MpamLabels, M7_NoVcpuFindsAnothersPartid)
{
    boot(without_virtual);
    const uint64_t first = machine->status(0).vttbr;
    const uint64_t second = machine->status(1).vttbr;

    machine->on_core(shared);
    ASSERT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
    fake_forget_writes();
    switch_to_second();
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_second);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), label_of_second);
    switch_back();
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
    machine->hvc(0x84000008); // domain 0 ends: the other one runs
    EXPECT_EQ(running(), 1u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_second);
    expect_labels_follow_tables({{first, {label_of_first}}, {second, {label_of_second}}}, first,
                                label_of_first, label_of_first);
}

TEST_F(MpamLabels, M2_ASwitchWritesTwoRegistersAndNothingElseDoes)
{
    boot(without_virtual);
    machine->on_core(shared);
    fake_forget_writes();
    switch_to_second();
    unsigned labels = 0;
    unsigned others = 0;
    for (size_t i = 0; i < fake_write_count(); i++) {
        const fake_write *write = fake_write_at(i);
        labels += !write->is_mmio && (write->id == SYSREG_ID_MPAM1_EL1 || write->id == SYSREG_ID_MPAM0_EL1);
        others +=
            !write->is_mmio && write->id >= SYSREG_ID_MPAMHCR_EL2 && write->id <= SYSREG_ID_MPAMVPM7_EL2;
    }
    EXPECT_EQ(labels, 2u) << "and the traps before the switch none";
    EXPECT_EQ(others, 0u);
}

TEST_F(MpamLabels, M2_AGuestWithoutVirtualPartidsSeesNone)
{
    boot(without_virtual);
    fake_set_core_sysreg(shared, SYSREG_ID_VBAR_EL1, 0x80000);
    machine->on_core(shared);
    EXPECT_EQ(read_register(0, 4, 0, 0) >> 40 & 0xF, 0u) << "ID_AA64PFR0_EL1.MPAM";
    EXPECT_EQ(read_register(0, 4, 1, 0) >> 16 & 0xF, 0u) << "ID_AA64PFR1_EL1.MPAM_frac";
    for (unsigned crm : {4u, 5u, 6u}) {
        for (unsigned op2 = 0; op2 < 8; op2++) {
            for (unsigned op1 : {0u, 4u, 5u, 6u}) {
                EXPECT_EQ(read_register(op1, crm, op2), undefined) << op1 << " " << crm << " " << op2;
            }
        }
    }
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
}

TEST_F(MpamLabels, M2_AGuestWithVirtualPartidsHasItsOwnInEveryEntry)
{
    boot([](SampleManifest &) {});
    machine->on_core(1);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2), trap_ids | 3) << "EL1's and EL0's numbers are virtual";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM2_EL2), enable | label_of_hypervisor) << "its accesses do not trap";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMVPMV_EL2), 0xFFu) << "all eight entries are valid";
    for (const sysreg_id id : {SYSREG_ID_MPAMVPM0_EL2, SYSREG_ID_MPAMVPM1_EL2}) {
        for (unsigned entry = 0; entry < 4; entry++) {
            EXPECT_EQ(fake_sysreg(id) >> (16 * entry) & 0xFFFF, 4u + entry);
        }
    }
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u) << "its partition 0";
    EXPECT_EQ(read_register(0, 4, 0, 0) >> 40 & 0xF, 1u);
    EXPECT_EQ(read_register(0, 4, 1, 0) >> 16 & 0xF, 1u);
    EXPECT_EQ(read_register(0, 4, 4), uint64_t{3} << 32 | 3) << "four PARTIDs, four groups, no EL2";
    EXPECT_EQ(read_register(4, 5, 0), undefined) << "MPAM2_EL2";
}

TEST_F(MpamLabels, M2_ThreePartidsFillEightEntries)
{
    boot([](SampleManifest &m) { m.domains[1].mpam_virtual = 3; });
    machine->on_core(1);
    std::set<uint64_t> found;
    for (const sysreg_id id : {SYSREG_ID_MPAMVPM0_EL2, SYSREG_ID_MPAMVPM1_EL2}) {
        for (unsigned entry = 0; entry < 4; entry++) {
            found.insert(fake_sysreg(id) >> (16 * entry) & 0xFFFF);
        }
    }
    EXPECT_EQ(found, (std::set<uint64_t>{4, 5, 6}));
}

TEST_F(MpamLabels, M2_OnASharedCoreAVirtualGuestKeepsItsNumbersAndTheOtherSeesNone)
{
    boot(share);
    machine->on_core(shared);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
    switch_to_second();
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2) & 3, 3u);
    fake_set_sysreg(SYSREG_ID_MPAM1_EL1, 2u << 16 | 2); // the guest's own writes: they do not trap
    fake_set_sysreg(SYSREG_ID_MPAM0_EL1, 3u << 16 | 3);
    switch_back();
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), label_of_first);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), label_of_first);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2), trap_ids) << "physical numbers again";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM2_EL2) & (trap_mpam0 | trap_mpam1), trap_mpam0 | trap_mpam1);
    machine->trap(esr_wfi);
    fake_switch_core(shared);
    if (running() == 0) { // its interrupt is still pending: it would not wait
        machine->hvc(0x84000008);
    }
    ASSERT_EQ(running(), 1u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 2u << 16 | 2);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), 3u << 16 | 3);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2) & 3, 3u);
}

TEST_F(MpamLabels, M2_ANewLifeBeginsWithPartitionZero)
{
    boot([](SampleManifest &) {});
    guest_regs &regs = machine->on_core(1);
    domain_at(1)->vcpus[0].mpam = {7, 7}; // whatever an earlier life left
    fake_set_sysreg(SYSREG_ID_MPAM1_EL1, 7);
    vcpu_begin(cpu_at(1), &regs);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), 0u);
}

// A VCPU that is turned on again does not find the label that it chose before it went off, or that an earlier
// guest of the core left.
TEST_F(MpamLabels, M7_ACoreThatComesUpLateHasItsDomainsPartitionZero)
{
    constexpr uint32_t late = 3;
    constexpr uint64_t cpu_on = 0xC4000003;
    constexpr uint64_t cpu_off = 0x84000002;

    boot([](SampleManifest &) {});
    for (const uint64_t left : {label_of_first, uint64_t{3} << 16 | 3}) {
        fake_set_core_sysreg(late, SYSREG_ID_MPAM1_EL1, left);
        fake_set_core_sysreg(late, SYSREG_ID_MPAM0_EL1, left);
        fake_set_core_sysreg(late, SYSREG_ID_MPAMVPMV_EL2, 0);
        machine->on_core(1);
        ASSERT_EQ(machine->hvc(cpu_on, 1, 0x40004000, 0), 0u);
        machine->on_core(late);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), 0u);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2), trap_ids | 3);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMVPMV_EL2), 0xFFu);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMVPM0_EL2) & 0xFFFF, 4u);
        EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM2_EL2) & 0xFFFFFFFF, label_of_hypervisor);
        machine->hvc(cpu_off);
    }
}

// The label of the previous life is saved at the switch, and must not be restored in the next life.
TEST_F(MpamLabels, M7_ADomainThatRestartsOnASharedCoreForgetsWhatItChose)
{
    boot(share);
    machine->on_core(shared);
    switch_to_second();
    fake_set_sysreg(SYSREG_ID_MPAM1_EL1, 3u << 16 | 3);
    fake_set_sysreg(SYSREG_ID_MPAM0_EL1, 3u << 16 | 3);
    switch_back();
    ASSERT_EQ(domain_at(1)->vcpus[0].mpam.mpam1, 3u << 16 | 3);
    machine->hvc(0x84000008); // domain 0 ends: the other one runs, and starts again
    ASSERT_EQ(running(), 1u);
    ASSERT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 3u << 16 | 3);
    machine->hvc(0x84000009);
    ASSERT_EQ(running(), 1u);
    EXPECT_EQ(machine->status(1).restarts, 1u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM0_EL1), 0u);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2) & 3, 3u);
}

TEST_F(MpamLabels, M2_WithoutComponentsEverybodyIsInPartitionZeroAndGuestsSeeNone)
{
    machine = std::make_unique<HostedMachine>([](SampleManifest &) {}, [] { give_cores_mpam(); });
    ASSERT_TRUE(machine->booted());
    machine->on_core(shared);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM2_EL2), enable | trap_mpam1 | trap_mpam0);
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAM1_EL1), 0u) << "also if a loader left something";
    EXPECT_EQ(fake_sysreg(SYSREG_ID_MPAMHCR_EL2), trap_ids);
    EXPECT_EQ(read_register(0, 4, 0, 0) >> 40 & 0xF, 0u);
    EXPECT_EQ(read_register(0, 4, 4), undefined);
}

TEST_F(MpamLabels, M2_CoresWithoutMpamAreNotTouched)
{
    machine = std::make_unique<HostedMachine>();
    machine->on_core(shared);
    for (size_t i = 0; i < fake_write_count(); i++) {
        const fake_write *write = fake_write_at(i);
        EXPECT_FALSE(!write->is_mmio && write->id >= SYSREG_ID_MPAMIDR_EL1 &&
                     write->id <= SYSREG_ID_MPAMVPM7_EL2);
    }
}

} // namespace
} // namespace mpam_labels_test
