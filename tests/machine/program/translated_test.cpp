// SPDX-License-Identifier: Apache-2.0
// Programs on their core's MMU: which pages use the fast path and for how long, that this path changes
// nothing but the speed of the simulation, and what translation costs.
#include <gtest/gtest.h>

#include "machine/random.h"
#include "tests/machine/program/run.h"

namespace bulkhead::machine::test::translated_test {
namespace {

constexpr std::uint64_t first = 0x400000, mib = 1024 * 1024, tables_at = 0x3000000;

mmu_settings cortex_a53()
{
    const std::vector<std::uint32_t> sizes{12, 16, 21, 29};
    mmu_settings made;
    made.l1 = {.entries = 10};
    made.l2 = {.entries = 512, .ways = 4, .hit_cycles = 2, .page_shifts = sizes};
    made.intermediate = {.entries = 64, .ways = 4, .page_shifts = sizes};
    made.walk_cache = {.entries = 64, .ways = 4};
    made.walk_cycles = 10;
    made.walks = walk_path::l1;
    return made;
}

settings machine_with_mmu()
{
    settings made = small_machine(1);
    made.cores[0].mmu = cortex_a53();
    return made;
}

// Every second frame of four, as with colors, or one piece.
std::vector<mapping_run> memory_of(std::uint64_t bytes, bool colored)
{
    if (!colored) {
        return {{first, {0x800000}, {bytes}}};
    }
    std::vector<mapping_run> made;
    for (std::uint64_t done = 0; done < bytes; done += page_bytes) {
        made.push_back({first + done, {0x800000 + 2 * done}, {page_bytes}});
    }
    return made;
}

space_settings space_of(const std::vector<mapping_run> &memory)
{
    space_settings made;
    for (const mapping_run &one : memory) {
        made.pieces.push_back({one.ipa, one.pa.value, one.bytes.value});
    }
    const auto count = expect_made(address_space::frames_for(made));
    for (std::uint64_t i = 0; i < count; ++i) {
        made.frames.push_back(tables_at + i * page_bytes);
    }
    return made;
}

class fast_pages_test : public testing::Test {
protected:
    void SetUp() override { ASSERT_FALSE(space_.map(memory_of(mib, false), {})); }

    [[nodiscard]] bool fast(std::uint64_t ipa, page_entry how = page::fast_read) const
    {
        const page_view seen = pages_.view();
        return (seen.entries[(address(ipa) - seen.low) / page_bytes] & how) != 0;
    }
    [[nodiscard]] std::uint64_t address(std::uint64_t ipa) const
    {
        return reinterpret_cast<std::uint64_t>(space_.host(ipa));
    }

    ram memory_ = make_ram();
    window space_ = expect_made(window::make(memory_, {first, {mib}, {page_bytes}, {page_bytes}}));
    fast_pages pages_{space_, 4};
};

TEST_F(fast_pages_test, a_page_is_fast_from_its_look_up_to_the_end_of_its_tlb_entry)
{
    EXPECT_FALSE(fast(first));
    pages_.allow(address(first), 1, true);
    pages_.allow(address(first + page_bytes), 1, true);
    pages_.allow(address(first + 5 * page_bytes), 2, true);
    EXPECT_TRUE(fast(first) && fast(first, page::fast_write) && fast(first + page_bytes));
    EXPECT_FALSE(fast(first + 2 * page_bytes)) << "of the same block, and not looked up yet";
    EXPECT_EQ(page::frame(pages_.view().entries[(address(first) - space_.view().low) / page_bytes]),
              phys_addr{0x800000});
    pages_.dropped(1);
    EXPECT_FALSE(fast(first) || fast(first + page_bytes));
    EXPECT_TRUE(fast(first + 5 * page_bytes));
}

TEST_F(fast_pages_test, a_page_that_the_window_maps_anew_is_looked_up_again)
{
    for (std::uint64_t i = 0; i < 4; ++i) {
        pages_.allow(address(first + i * page_bytes), 0, true);
    }
    space_.unmap(first + page_bytes, {page_bytes});
    ASSERT_FALSE(space_.map({{{first + 2 * page_bytes, {0xC00000}, {page_bytes}}}}, {}));
    EXPECT_TRUE(fast(first) && fast(first + 3 * page_bytes));
    EXPECT_FALSE(fast(first + page_bytes) || fast(first + 2 * page_bytes));
}

TEST_F(fast_pages_test, neither_the_tlb_nor_the_window_is_overruled)
{
    pages_.allow(address(first), 0, false);
    EXPECT_TRUE(fast(first));
    EXPECT_FALSE(fast(first, page::fast_write)) << "the TLB: read only";
    const mapping_run run{first, {0x800000}, {page_bytes}};
    ASSERT_FALSE(space_.map({&run, 1}, {.writable = false}));
    pages_.allow(address(first), 0, true);
    EXPECT_FALSE(fast(first, page::fast_write)) << "the window: read only";
    ASSERT_FALSE(space_.map({&run, 1}, {.past_caches = true}));
    pages_.allow(address(first), 0, true);
    EXPECT_FALSE(fast(first));
    pages_.allow(1, 0, true); // not in the window
}

struct outcome {
    std::uint64_t clock_ps;
    std::uint64_t digest;
    core_counts counts;
};

// Random accesses through the callbacks; `fast`: as programs make them, otherwise each one goes to the MMU.
outcome touched(bool colored, bool fast, std::uint64_t seed)
{
    constexpr std::uint64_t bytes = 4 * mib;
    const ram memory = make_ram();
    const auto whole = make_machine(machine_with_mmu());
    core &own = whole->core_at({0});
    window space = expect_made(window::make(memory, {first, {bytes}, {0}, {0}}));
    const auto runs = memory_of(bytes, colored);
    EXPECT_FALSE(space.map(runs, {}));
    const auto tables =
        expect_made(translated_program::make(expect_made(address_space::make(space_of(runs))), space, own));
    execution here;
    here.on = &own;
    own.start([&](core &) {
        enter_execution(&here);
        tables->enter(here);
        if (!fast) {
            here.pages = {};
        }
        random_source chance(seed);
        std::uint64_t page = 0;
        for (int i = 0; i < 50'000; ++i) {
            page = chance.below(3) == 0 ? chance.below(bytes / page_bytes) : page ^ chance.below(8);
            own.instructions(2);
            touch(reinterpret_cast<std::uint64_t>(space.host(first)) + page * page_bytes +
                      std::uint64_t{chance.below(512)} * 8,
                  8, chance.below(2) == 0 ? access_kind::read : access_kind::write);
        }
        enter_execution(nullptr);
    });
    whole->timeline().run(for_ever);
    return {own.clock().value, whole->digest(), own.counts()};
}

TEST(translated_program, the_fast_way_changes_nothing)
{
    for (const bool colored : {false, true}) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const outcome with = touched(colored, true, seed);
            const outcome without = touched(colored, false, seed);
            EXPECT_EQ(with.clock_ps, without.clock_ps);
            EXPECT_EQ(with.digest, without.digest);
            EXPECT_EQ(with.counts.events, without.counts.events);
            EXPECT_EQ(with.counts.stall_ps, without.counts.stall_ps);
        }
    }
}

TEST(translated_program, blocks_stay_in_the_tlbs_and_pages_do_not)
{
    const outcome blocks = touched(false, true, 1);
    const outcome pages = touched(true, true, 1);
    EXPECT_EQ(blocks.counts.of(core_event::l2_tlb_refill), 2U) << "4 MiB";
    EXPECT_GT(pages.counts.of(core_event::l2_tlb_refill), 1024U) << "of 1024 pages, in 512 entries";
    EXPECT_GT(pages.counts.of(stall_cause::walk), 20 * blocks.counts.of(stall_cause::walk));
}

TEST(translated_program, computes_the_same_and_takes_as_much_longer_as_its_walks)
{
    const image kernels = read_image(KERNELS_IMAGE);
    const auto run = [&](bool is_translated) {
        const ram bytes = make_ram();
        const auto whole = make_machine(machine_with_mmu());
        const auto memory = memory_of(2 * mib, true);
        bare_program::setup wanted;
        wanted.memory = memory;
        wanted.arguments = call("sum", 4000);
        if (is_translated) {
            wanted.space = space_of(memory);
        }
        const auto program =
            expect_made(bare_program::make(kernels, bytes, whole->core_at({0}), std::move(wanted)));
        program->start();
        whole->timeline().run(for_ever);
        return run_result{program->outcome(), whole->core_at({0}).counts(), whole->digest()};
    };
    const run_result with = run(true);
    const run_result without = run(false);
    EXPECT_EQ(with.result, without.result);
    EXPECT_EQ(with.counts.instructions, without.counts.instructions);
    EXPECT_EQ(with.counts.of(core_event::memory_access), without.counts.of(core_event::memory_access));
    EXPECT_EQ(without.counts.of(core_event::l2_tlb_refill), 0U);
    EXPECT_GE(with.counts.of(core_event::l2_tlb_refill), 4U) << "16,000 bytes, stack and text";
    EXPECT_LT(with.counts.of(core_event::l2_tlb_refill), 20U) << "once each";
    EXPECT_GT(with.counts.of(stall_cause::walk), 0U);
}

} // namespace
} // namespace bulkhead::machine::test::translated_test
