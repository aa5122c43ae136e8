// SPDX-License-Identifier: Apache-2.0
// Address spaces of programs: how the MMU translates by their tables, how large its entries become, how many
// reads a walk takes, and how many frames the tables need.
#include "machine/address_space.h"

#include <gtest/gtest.h>

#include "machine/translated.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::address_space_test {

namespace {

constexpr std::uint64_t page = address_space::page_bytes, block = address_space::block_bytes;
constexpr std::uint64_t first = 2 * block, tables_at = 0x3000'0000;

space_settings with_frames(space_settings wanted)
{
    const auto count = expect_made(address_space::frames_for(wanted));
    for (std::uint64_t i = 0; i < count; ++i) {
        wanted.frames.push_back(tables_at + i * page);
    }
    return wanted;
}

// Two blocks of memory, or pages of every second frame, as two of four colors are.
space_settings contiguous(std::uint32_t stages)
{
    return {.stages = stages, .pieces = {{first, 0x1000'0000, 2 * block}}};
}
space_settings colored(std::uint32_t stages)
{
    space_settings made{.stages = stages};
    for (std::uint64_t i = 0; i < 2 * block / page; ++i) {
        made.pieces.push_back({first + i * page, 0x1000'0000 + i * 2 * page, page});
    }
    return made;
}

struct outcome {
    std::uint32_t shift = 0;
    std::uint64_t output = 0;
    std::uint64_t reads = 0;
};

outcome walked(const address_space &space, std::uint64_t address)
{
    const auto machine = make_machine(small_machine(1));
    outcome found;
    machine->core_at({0}).start([&](core &on) {
        mmu unit = expect_made(mmu::make({}, on, [&](phys_addr where) {
            ++found.reads;
            return space.read(where);
        }));
        const mmu::outcome answer = unit.translate(space.regime(), address, access_kind::write);
        const auto *one = std::get_if<page_translation>(&answer);
        ASSERT_NE(one, nullptr) << std::hex << address;
        EXPECT_FALSE(one->device);
        found.shift = one->shift;
        found.output = one->of(address).value;
    });
    machine->timeline().run(for_ever);
    return found;
}

TEST(address_space, contiguous_memory_is_mapped_in_blocks_and_colored_memory_in_pages)
{
    for (const std::uint32_t stages : {1U, 2U}) {
        const auto blocks = expect_made(address_space::make(with_frames(contiguous(stages))));
        const auto pages = expect_made(address_space::make(with_frames(colored(stages))));
        for (const std::uint64_t at : {first, first + 5 * page + 8, first + 2 * block - 8}) {
            const outcome whole = walked(blocks, at);
            EXPECT_EQ(whole.shift, 21U);
            EXPECT_EQ(whole.output, at - first + 0x1000'0000);
            const outcome small = walked(pages, at);
            EXPECT_EQ(small.shift, 12U);
            EXPECT_EQ(small.output, 0x1000'0000 + (at - first) / page * 2 * page + at % page);
            // For a block: two reads of each stage and two for each table of stage 1. For pages: one more of
            // stage 2 only, since the guest's blocks stay, and for stage 1's tables, which are in pages.
            EXPECT_EQ(whole.reads, stages == 1 ? 2U : 2 * (3 + 1) + 2U);
            EXPECT_EQ(small.reads, stages == 1 ? 3U : 2 * (3 + 1) + 3U);
        }
    }
}

TEST(address_space, of_pages_alone_if_it_shall_be_so)
{
    space_settings wanted = contiguous(2);
    wanted.blocks = false;
    const auto space = expect_made(address_space::make(with_frames(wanted)));
    EXPECT_EQ(walked(space, first + block).shift, 12U);
    EXPECT_EQ(walked(space, first).reads, 3 * (3 + 1) + 3U);
}

TEST(address_space, has_as_many_levels_as_asked_for)
{
    for (std::uint32_t levels = 2; levels <= 4; ++levels) {
        space_settings wanted = contiguous(1);
        wanted.levels = levels;
        wanted.blocks = false;
        EXPECT_EQ(walked(expect_made(address_space::make(with_frames(wanted))), first).reads, levels);
    }
}

TEST(address_space, a_page_is_added_to_stage_1)
{
    for (const std::uint32_t stages : {1U, 2U}) {
        space_settings wanted = with_frames(contiguous(stages));
        wanted.frames.push_back(tables_at + 0x10'0000);
        wanted.frames.push_back(tables_at + 0x10'1000);
        auto space = expect_made(address_space::make(wanted));
        const std::uint64_t at = space.end() + 7 * page;
        EXPECT_FALSE(space.map_page(at, first + 3 * page));
        EXPECT_EQ(walked(space, at + 16).output, 0x1000'3010U);
        EXPECT_EQ(walked(space, at).shift, 12U);
        EXPECT_TRUE(space.map_page(at, first)) << "twice";
    }
}

TEST(address_space, knows_what_is_its_own)
{
    const auto space = expect_made(address_space::make(with_frames(contiguous(2))));
    EXPECT_TRUE(space.has(first));
    EXPECT_TRUE(space.has(first + 2 * block - 1));
    EXPECT_FALSE(space.has(first - 1));
    EXPECT_FALSE(space.has(first + 2 * block));
    EXPECT_FALSE(space.read(phys_addr{0x1000})) << "no table is there";
}

TEST(address_space, impossible_ones_are_refused)
{
    const auto refused = [](space_settings wanted) { return reason_of(address_space::make(wanted)) != ""; };
    space_settings good = with_frames(contiguous(2));
    EXPECT_FALSE(refused(good));
    const auto but = [&](auto &&change) {
        space_settings other = good;
        change(other);
        return refused(other);
    };
    EXPECT_TRUE(but([](space_settings &one) { one.levels = 1; }));
    EXPECT_TRUE(but([](space_settings &one) { one.levels = 5; }));
    EXPECT_TRUE(but([](space_settings &one) { one.stages = 3; }));
    EXPECT_TRUE(but([](space_settings &one) { one.frames.pop_back(); }));
    EXPECT_TRUE(but([](space_settings &one) { one.frames.clear(); }));
    EXPECT_TRUE(but([](space_settings &one) { one.frames.front() += 100; }));
    EXPECT_TRUE(but([](space_settings &one) { one.pieces.clear(); }));
    EXPECT_TRUE(but([](space_settings &one) { one.pieces.front().bytes = 100; }));
    EXPECT_TRUE(but([](space_settings &one) { one.pieces.push_back(one.pieces.front()); }));
    EXPECT_TRUE(but([](space_settings &one) {
        one.levels = 2;
        one.pieces.front().address = std::uint64_t{1} << 30U;
    }));
}

TEST(translated, what_was_looked_up_last_is_at_hand_until_a_flush)
{
    auto settings = small_machine(1);
    settings.cores[0].mmu.l1 = {.entries = 4};
    const auto machine = make_machine(settings);
    machine->core_at({0}).start([&](core &on) {
        const auto both =
            expect_made(translated::make(expect_made(address_space::make(with_frames(colored(2)))), on));
        const auto walks = [&] { return on.counts().of(core_event::l2_tlb_refill); };
        EXPECT_EQ(both->of(first + 8, access_kind::read), phys_addr{0x1000'0008});
        EXPECT_EQ(both->of(first + page, access_kind::read), phys_addr{0x1000'2000});
        EXPECT_EQ(walks(), 2U);
        EXPECT_EQ(both->of(first + page + 8, access_kind::write), phys_addr{0x1000'2008});
        EXPECT_EQ(both->of(first + 16, access_kind::read), phys_addr{0x1000'0010});
        EXPECT_EQ(walks(), 2U);
        both->flush();
        EXPECT_EQ(walks(), 3U) << "the instructions'";
        EXPECT_EQ(both->of(first + 16, access_kind::read), phys_addr{0x1000'0010});
        EXPECT_EQ(walks(), 4U);
        EXPECT_EQ(both->of(first + 64 * block, access_kind::read), translated::nowhere);
    });
    machine->timeline().run(for_ever);
}

} // namespace

// X5: stage 2's tables in memory of their own.
TEST(X5AddressSpace, TablesOfStage2CanHaveFramesAndATypeOfTheirOwn)
{
    constexpr std::uint64_t apart = 0x4000'0000;
    space_settings wanted = with_frames(colored(2));
    const std::uint64_t reads = walked(expect_made(address_space::make(wanted)), 2 * block).reads;
    for (std::uint64_t i = 0; i < 8; ++i) {
        wanted.stage2_frames.push_back(apart + i * page);
    }
    wanted.stage2_cached = false;
    const address_space made = expect_made(address_space::make(wanted));
    EXPECT_EQ(made.regime().stage2.root.value, apart);
    EXPECT_FALSE(made.regime().stage2.cached);
    EXPECT_TRUE(made.regime().stage1.cached);
    EXPECT_EQ(walked(made, 2 * block + page).output, 0x1000'0000 + 2 * page);
    EXPECT_EQ(walked(made, 2 * block).reads, reads);
    wanted.stage2_frames.resize(2); // root and level 2; the tables of pages have no room
    EXPECT_FALSE(std::holds_alternative<address_space>(address_space::make(wanted)));
    wanted.stage2_frames = {apart + 1};
    EXPECT_FALSE(std::holds_alternative<address_space>(address_space::make(wanted)));
}

} // namespace bulkhead::machine::test::address_space_test
