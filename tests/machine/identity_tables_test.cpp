// SPDX-License-Identifier: Apache-2.0
// Identity tables, walked by the MMU that experiments walk them with.
#include "machine/identity_tables.h"

#include <gtest/gtest.h>

#include "machine_make.h"
#include "make.h"

namespace bulkhead::machine::test {

namespace {

constexpr std::uint64_t frame = 4096;

std::uint64_t translated(const identity_tables &tables, std::uint64_t address)
{
    const auto machine = make_machine(small_machine(1));
    core &mine = machine->core_at({0});
    std::uint64_t found = 0;
    mine.start([&](core &on) {
        mmu unit = expect_made(mmu::make({}, on, [&](phys_addr where) { return tables.read(where); }));
        const mmu::outcome outcome = unit.translate(tables.regime(), address, access_kind::write);
        const auto *page = std::get_if<page_translation>(&outcome);
        ASSERT_NE(page, nullptr);
        EXPECT_FALSE(page->device);
        found = page->frame.value;
    });
    machine->timeline().run(for_ever);
    return found;
}

TEST(identity_tables, each_page_is_its_own_translation)
{
    const std::vector<std::uint64_t> addresses{0x1234, 0x20'0008, 0x3FFF'F000};
    for (std::uint32_t levels = 2; levels <= 4; ++levels) {
        const auto tables = expect_made(identity_tables::make(
            levels, addresses,
            {1 * frame, 2 * frame, 3 * frame, 4 * frame, 5 * frame, 6 * frame, 7 * frame, 8 * frame}));
        for (const std::uint64_t address : addresses) {
            EXPECT_EQ(translated(tables, address), address / frame * frame) << levels;
        }
        EXPECT_FALSE(tables.read(phys_addr{9 * frame})) << "no table is there";
    }
}

TEST(identity_tables, impossible_ones_are_refused)
{
    const auto refused = [](std::uint32_t levels, const std::vector<std::uint64_t> &addresses,
                            const std::vector<std::uint64_t> &frames) {
        return reason_of(identity_tables::make(levels, addresses, frames)) != "";
    };
    EXPECT_FALSE(refused(2, {0x1000}, {0, frame}));
    EXPECT_TRUE(refused(0, {0x1000}, {0}));
    EXPECT_TRUE(refused(5, {0x1000}, {0, frame, 2 * frame, 3 * frame, 4 * frame}));
    EXPECT_TRUE(refused(2, {0x1000}, {}));
    EXPECT_TRUE(refused(2, {0x1000}, {0})) << "no room for the second level";
    EXPECT_TRUE(refused(2, {0x1000}, {0, 100})) << "not aligned";
    EXPECT_TRUE(refused(2, {std::uint64_t{1} << 30U}, {0, frame})) << "beyond two levels";
}

} // namespace

} // namespace bulkhead::machine::test
