// SPDX-License-Identifier: Apache-2.0
// M2, M4: MPAM's registers of a core, and the labels of its requests at EL2 and at EL1.
#include "machine/hosted/partition_registers.h"

#include <gtest/gtest.h>

#include "tests/machine/mpam/mpam_make.h"

namespace bulkhead::machine::test::partition_registers_test {
namespace {

using hosted::partition_registers;

constexpr std::uint64_t enabled = std::uint64_t{1} << 63U;
constexpr std::uint64_t trap_mpam0 = std::uint64_t{1} << 49U;
constexpr std::uint64_t trap_mpam1 = std::uint64_t{1} << 48U;
constexpr std::uint64_t trap_ids = std::uint64_t{1} << 31U; // MPAMHCR_EL2
constexpr std::uint64_t virtual_at_el1 = 2;                 // MPAMHCR_EL2

// PARTID and PMG of data; instructions have others.
constexpr std::uint64_t data(std::uint64_t partid, std::uint64_t group)
{
    return partid << 16U | group << 40U;
}

class M2PartitionRegisters : public testing::Test {
protected:
    M2PartitionRegisters()
    {
        settings all = machine_with_mpam(1);
        all.mpam->partids = 64;
        all.mpam->virtual_partids = 8;
        machine_ = make_machine(all);
        own_.emplace(machine_->core_at({0}), *machine_->made_from().mpam);
    }
    [[nodiscard]] mpam_label label() const { return machine_->core_at({0}).label(); }
    void set(sysreg_id id, std::uint64_t value) { EXPECT_TRUE(own_->write(id, value)); }
    [[nodiscard]] std::uint64_t get(sysreg_id id) const { return own_->read(id).value_or(~0ULL); }
    mpam_label at_el1(std::uint64_t mpam1)
    {
        set(SYSREG_ID_MPAM1_EL1, mpam1);
        own_->enter_el1();
        return label();
    }

    std::unique_ptr<simulated_machine> machine_;
    std::optional<partition_registers> own_;
};

TEST_F(M2PartitionRegisters, WhatThereIsComesFromThePlatform)
{
    // PARTID_MAX 63, HAS_HCR, VPMR_MAX 1, PMG_MAX 3, HAS_TIDR.
    EXPECT_EQ(get(SYSREG_ID_MPAMIDR_EL1), 63 | 1U << 17U | 1U << 18U | 3ULL << 32U | 1ULL << 58U);
    const mpam::system_settings &has = *machine_->made_from().mpam;
    EXPECT_EQ(partition_registers::id_fields(has, SYSREG_ID_ID_AA64PFR0_EL1), 1ULL << 40U);
    EXPECT_EQ(partition_registers::id_fields(has, SYSREG_ID_ID_AA64PFR1_EL1), 1ULL << 16U);
    set(SYSREG_ID_MPAMIDR_EL1, 0);
    EXPECT_EQ(get(SYSREG_ID_MPAMIDR_EL1) & 0xFFFFU, 63U) << "read-only";
    EXPECT_FALSE(own_->read(SYSREG_ID_VTTBR_EL2));
    EXPECT_FALSE(own_->write(SYSREG_ID_VTTBR_EL2, 0));
}

TEST_F(M2PartitionRegisters, RequestsHaveTheLabelOfTheExceptionLevelThatMadeThem)
{
    set(SYSREG_ID_MPAM2_EL2, enabled | data(1, 2) | 9);
    EXPECT_EQ(label(), (mpam_label{1, 2}));
    EXPECT_EQ(at_el1(data(5, 3)), (mpam_label{5, 3}));
    own_->enter_el2();
    EXPECT_EQ(label(), (mpam_label{1, 2}));
    EXPECT_EQ(get(SYSREG_ID_MPAM1_EL1), enabled | data(5, 3)) << "the enable bit is EL2's";
}

TEST_F(M2PartitionRegisters, WithoutTheEnableBitAndBeyondTheLastIdItIsTheDefault)
{
    set(SYSREG_ID_MPAM2_EL2, data(1, 1));
    EXPECT_EQ(label(), mpam_label{});
    EXPECT_EQ(at_el1(data(5, 1)), mpam_label{});
    set(SYSREG_ID_MPAM2_EL2, enabled | data(64, 1));
    EXPECT_EQ(label(), mpam_label{}) << "PARTID 64 of 64";
    set(SYSREG_ID_MPAM2_EL2, enabled | data(63, 4));
    EXPECT_EQ(label(), (mpam_label{63, 0})) << "group 4 of 4";
}

TEST_F(M2PartitionRegisters, VirtualNumbersBecomePhysicalOnes)
{
    set(SYSREG_ID_MPAM2_EL2, enabled);
    set(SYSREG_ID_MPAMHCR_EL2, virtual_at_el1);
    set(SYSREG_ID_MPAMVPM0_EL2, 40ULL | 41ULL << 16U | 42ULL << 32U | 43ULL << 48U);
    set(SYSREG_ID_MPAMVPM1_EL2, 44ULL | 45ULL << 16U | 46ULL << 32U | 500ULL << 48U);
    set(SYSREG_ID_MPAMVPMV_EL2, 0xEF); // not 4
    EXPECT_EQ(at_el1(data(0, 1)), (mpam_label{40, 1}));
    EXPECT_EQ(at_el1(data(6, 2)), (mpam_label{46, 2}));
    EXPECT_EQ(at_el1(data(4, 0)), (mpam_label{40, 0})) << "not valid: that of 0";
    EXPECT_EQ(at_el1(data(8 + 3, 0)), (mpam_label{43, 0})) << "beyond the entries: from the first one on";
    EXPECT_EQ(at_el1(data(0xFFFE, 0)), (mpam_label{46, 0}));
    EXPECT_EQ(at_el1(data(7, 3)), mpam_label{}) << "no physical one";
    set(SYSREG_ID_MPAMVPMV_EL2, 0xFE);
    EXPECT_EQ(at_el1(data(0, 1)), mpam_label{}) << "nothing is valid for it";
    set(SYSREG_ID_MPAMVPM0_EL2, 0);
    EXPECT_EQ(get(SYSREG_ID_MPAMVPM0_EL2), 0U);
    set(SYSREG_ID_MPAMVPM2_EL2, ~0ULL);
    EXPECT_EQ(get(SYSREG_ID_MPAMVPM2_EL2), 0U) << "two registers of entries";
    EXPECT_EQ(get(SYSREG_ID_MPAMVPMV_EL2), 0xFEU);
}

// No label that a guest can write is another domain's: every value maps to one of the map's entries.
TEST_F(M2PartitionRegisters, AGuestWithVirtualNumbersHasOnlyThoseOfItsMap)
{
    set(SYSREG_ID_MPAM2_EL2, enabled);
    set(SYSREG_ID_MPAMHCR_EL2, virtual_at_el1);
    set(SYSREG_ID_MPAMVPM0_EL2, 0x000B'000A'000B'000A);
    set(SYSREG_ID_MPAMVPM1_EL2, 0x000B'000A'000B'000A);
    set(SYSREG_ID_MPAMVPMV_EL2, 0xFF);
    for (std::uint64_t number = 0; number < 0x10000; number += 7) {
        own_->write_by_guest(SYSREG_ID_MPAM1_EL1, data(number, number) | number);
        EXPECT_TRUE(label().partition == 0xA || label().partition == 0xB) << number;
    }
}

TEST_F(M2PartitionRegisters, EL2TrapsWhatItAskedFor)
{
    for (const sysreg_id id : {SYSREG_ID_MPAM1_EL1, SYSREG_ID_MPAM0_EL1, SYSREG_ID_MPAMIDR_EL1}) {
        EXPECT_FALSE(own_->traps_from_guest(id));
    }
    set(SYSREG_ID_MPAM2_EL2, trap_mpam1);
    EXPECT_TRUE(own_->traps_from_guest(SYSREG_ID_MPAM1_EL1));
    EXPECT_FALSE(own_->traps_from_guest(SYSREG_ID_MPAM0_EL1));
    set(SYSREG_ID_MPAM2_EL2, trap_mpam0);
    EXPECT_TRUE(own_->traps_from_guest(SYSREG_ID_MPAM0_EL1));
    EXPECT_FALSE(own_->traps_from_guest(SYSREG_ID_MPAM1_EL1));
    set(SYSREG_ID_MPAMHCR_EL2, trap_ids);
    EXPECT_TRUE(own_->traps_from_guest(SYSREG_ID_MPAMIDR_EL1));
    set(SYSREG_ID_MPAMHCR_EL2, 0);
    set(SYSREG_ID_MPAM2_EL2, 1ULL << 58U); // TIDR
    EXPECT_TRUE(own_->traps_from_guest(SYSREG_ID_MPAMIDR_EL1));
}

} // namespace
} // namespace bulkhead::machine::test::partition_registers_test
