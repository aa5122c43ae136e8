// SPDX-License-Identifier: Apache-2.0
// Entries that walkers may use change in the order of break-before-make (DDI 0487, D8.16): observed at each
// barrier and each TLBI, with the contents of the entry at that time.
#include "hypervisor/arch/hosted/fake_registers.h"
#include <gtest/gtest.h>
#include <vector>

extern "C" {
#include "memory/table_update.h"
}

namespace table_update_test {
namespace {

constexpr uint64_t attributes = 0x7FC;
constexpr uint64_t before = 0x40001000 | attributes | 3;
constexpr uint64_t after = 0x40002000 | attributes | 3;
constexpr uint64_t address = 0x6000005000;
constexpr ipaddr_t ipa{0x48003000};

// An operation, and the entry that a walk would find while it is executed.
struct Step {
    enum fake_barrier what;
    uint64_t entry;
    bool everywhere = false;
    uint64_t address = 0;

    bool operator==(const Step &) const = default;
};

void PrintTo(const Step &step, std::ostream *to)
{
    *to << step.what << " entry " << std::hex << step.entry << " everywhere " << step.everywhere << " of "
        << step.address;
}

ptable_entry_t entry;
std::vector<Step> steps;

void note(enum fake_barrier which, bool everywhere, uint64_t of)
{
    steps.push_back({which, entry, everywhere, of});
}

class TableUpdate : public testing::Test {
protected:
    TableUpdate()
    {
        fake_reset();
        steps.clear();
        entry = before;
        fake_hook_barriers(note);
    }
    ~TableUpdate() override { fake_reset(); }
};

std::vector<Step> el2_replaced(bool everywhere)
{
    return {{FAKE_DSB_ISHST, 0},
            {FAKE_TLBI_EL2_PAGE, 0, everywhere, address},
            {FAKE_DSB_ISHST, after},
            {FAKE_ISB, after}};
}

std::vector<Step> stage2_replaced(bool everywhere)
{
    return {{FAKE_DSB_ISHST, 0},
            {FAKE_TLBI_STAGE2_PAGE, 0, everywhere, ipa.value},
            {FAKE_TLBI_STAGE1_ALL, 0, everywhere},
            {FAKE_DSB_ISHST, after}};
}

TEST_F(TableUpdate, AValidEntryOfEl2IsInvalidUntilItsUsersHaveForgottenIt)
{
    for (const bool everywhere : {false, true}) {
        entry = before;
        steps.clear();
        table_replace_el2(&entry, address, everywhere ? TABLE_ALL_CORES : TABLE_OWN_CORE, paddr(0x40002000),
                          attributes);
        EXPECT_EQ(steps, el2_replaced(everywhere));
        EXPECT_EQ(entry, after);
    }
}

TEST_F(TableUpdate, AValidEntryOfStage2IsInvalidUntilItsUsersHaveForgottenBothStages)
{
    for (const bool everywhere : {false, true}) {
        entry = before;
        steps.clear();
        table_replace_stage2(&entry, ipa, everywhere ? TABLE_ALL_CORES : TABLE_OWN_CORE, paddr(0x40002000),
                             attributes);
        EXPECT_EQ(steps, stage2_replaced(everywhere));
        EXPECT_EQ(entry, after);
    }
}

TEST_F(TableUpdate, WhatWasInvalidIsInNoTlb)
{
    entry = 0;
    table_replace_el2(&entry, address, TABLE_ALL_CORES, paddr(0x40002000), attributes);
    EXPECT_EQ(steps, (std::vector<Step>{{FAKE_DSB_ISHST, after}, {FAKE_ISB, after}}));
    entry = 0;
    steps.clear();
    table_replace_stage2(&entry, ipa, TABLE_ALL_CORES, paddr(0x40002000), attributes);
    EXPECT_EQ(steps, (std::vector<Step>{{FAKE_DSB_ISHST, after}}));
}

TEST_F(TableUpdate, WhatIsBrokenStaysInvalid)
{
    table_break_el2(&entry, address, TABLE_OWN_CORE);
    EXPECT_EQ(entry, 0u);
    EXPECT_EQ(steps, (std::vector<Step>{{FAKE_DSB_ISHST, 0}, {FAKE_TLBI_EL2_PAGE, 0, false, address}}));
    entry = before;
    steps.clear();
    table_break_stage2(&entry, ipa, TABLE_ALL_CORES);
    EXPECT_EQ(entry, 0u);
    EXPECT_EQ(steps, (std::vector<Step>{{FAKE_DSB_ISHST, 0},
                                        {FAKE_TLBI_STAGE2_PAGE, 0, true, ipa.value},
                                        {FAKE_TLBI_STAGE1_ALL, 0, true}}));
}

TEST_F(TableUpdate, WhatIsHiddenKeepsAllButThatItIsThere)
{
    for (const bool everywhere : {false, true}) {
        entry = before;
        steps.clear();
        table_hide_stage2(&entry, 1, everywhere ? TABLE_ALL_CORES : TABLE_OWN_CORE);
        EXPECT_EQ(entry, before & ~uint64_t{1});
        table_show_stage2(&entry, 1);
        EXPECT_EQ(entry, before);
        EXPECT_EQ(steps, (std::vector<Step>{{FAKE_DSB_ISHST, before & ~uint64_t{1}},
                                            {FAKE_TLBI_GUEST_ALL, before & ~uint64_t{1}, everywhere},
                                            {FAKE_DSB_ISHST, before}}));
    }
}

} // namespace
} // namespace table_update_test
