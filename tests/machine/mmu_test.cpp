// SPDX-License-Identifier: Apache-2.0
// Translation: tables of one and two stages as an AArch64 program would write them, faults by stage and
// level, what TLBs keep and for which address space, and that walks take the time of their accesses.
#include <map>

#include <gtest/gtest.h>

#include "machine/mmu.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::mmu_test {

namespace {

constexpr std::uint64_t table = 3, page = 3, block = 1;
constexpr std::uint64_t accessed = 1U << 10U, read_only = 1U << 7U, not_global = 1U << 11U;
constexpr std::uint64_t s2_read = 1U << 6U, s2_write = 1U << 7U, s2_normal = 0xFU << 2U;

// A core with an MMU over tables in a map; bodies run on the core.
class mmu_test : public testing::Test {
protected:
    static mmu_settings two_tlbs()
    {
        mmu_settings wanted;
        wanted.l1 = {.entries = 4};
        wanted.l2 = {.entries = 16, .ways = 4, .hit_cycles = 2};
        wanted.walk_cycles = 5;
        return wanted;
    }

    void run(const mmu_settings &wanted, const std::function<void(mmu &)> &body)
    {
        machine_ = make_machine(small_machine(1));
        core_ = &machine_->core_at({0});
        mmu unit =
            expect_made(mmu::make(wanted, *core_, [this](phys_addr where) -> std::optional<std::uint64_t> {
                ++reads_;
                const auto found = memory_.find(where.value);
                return found == memory_.end() ? 0 : found->second;
            }));
        core_->start([&](core &) { body(unit); });
        machine_->timeline().run(for_ever);
    }

    // Stage 1: 39 bits, three levels at 0x1000; 0x4000'0000 + n pages.
    translation_regime one_stage()
    {
        memory_[0x1000 + 8 * 1] = 0x2000 | table;
        memory_[0x2000 + 8 * 0] = 0x3000 | table;
        for (std::uint64_t i = 0; i < 32; ++i) {
            memory_[0x3000 + 8 * i] = (0x80000 + (i << 12U)) | page | accessed | not_global;
        }
        memory_[0x3000 + 8 * 32] = 0x90000 | page | accessed | read_only;
        memory_[0x3000 + 8 * 33] = 0x90000 | page;
        memory_[0x3000 + 8 * 34] = 0x90000 | page | accessed | 1U << 2U; // attribute 1
        memory_[0x2000 + 8 * 1] = 0x40'0000 | block | accessed;          // 2 MiB
        return {.stage1 = {.on = true, .root = phys_addr{0x1000}, .input_bits = 39, .start_level = 1},
                .stage2 = {},
                .mair = 0x00FF, // attribute 0: normal, 1: device
                .asid = 5,
                .vmid = 1};
    }

    // The same with a second stage that adds 1 GiB by 2 MiB blocks, unless a test says otherwise.
    translation_regime two_stages()
    {
        translation_regime both = one_stage();
        std::map<std::uint64_t, std::uint64_t> moved;
        for (const auto &[where, what] : memory_) {
            moved[where + 0x4000'0000] = what;
        }
        memory_ = moved;
        memory_[0x8000] = 0x9000 | table; // level 1, 32 bits: four entries
        for (std::uint64_t i = 0; i < 4; ++i) {
            memory_[0x9000 + 8 * i] =
                (0x4000'0000 + (i << 21U)) | block | accessed | s2_read | s2_write | s2_normal;
        }
        both.stage2 = {.on = true, .root = phys_addr{0x8000}, .input_bits = 32, .start_level = 1};
        return both;
    }

    static std::uint64_t output(const mmu::outcome &found, std::uint64_t address)
    {
        return made(found).of(address).value;
    }
    static page_translation made(const mmu::outcome &found)
    {
        EXPECT_TRUE(std::holds_alternative<page_translation>(found));
        const auto *known = std::get_if<page_translation>(&found);
        return known == nullptr ? page_translation{} : *known;
    }
    static translation_fault fault(const mmu::outcome &found)
    {
        EXPECT_TRUE(std::holds_alternative<translation_fault>(found));
        const auto *known = std::get_if<translation_fault>(&found);
        return known == nullptr ? translation_fault{} : *known;
    }

    std::map<std::uint64_t, std::uint64_t> memory_;
    std::uint64_t reads_ = 0;
    std::unique_ptr<simulated_machine> machine_;
    core *core_ = nullptr;
};

TEST_F(mmu_test, pages_blocks_permissions_and_attributes_of_stage_1)
{
    const translation_regime regime = one_stage();
    run(two_tlbs(), [&](mmu &unit) {
        EXPECT_EQ(output(unit.translate(regime, 0x4000'3123, access_kind::write), 0x4000'3123), 0x83123U);
        EXPECT_EQ(output(unit.translate(regime, 0x4020'5000, access_kind::read), 0x4020'5000), 0x40'5000U);
        EXPECT_FALSE(made(unit.translate(regime, 0x4002'0000, access_kind::read)).writable);
        EXPECT_TRUE(made(unit.translate(regime, 0x4002'2000, access_kind::read)).device);
        EXPECT_FALSE(made(unit.translate(regime, 0x4000'0000, access_kind::read)).device);
    });
}

TEST_F(mmu_test, faults_say_stage_level_and_cause)
{
    using cause = translation_fault::cause;
    const translation_regime regime = one_stage();
    run(two_tlbs(), [&](mmu &unit) {
        const translation_fault unmapped = fault(unit.translate(regime, 0x8000'0000, access_kind::read));
        EXPECT_EQ(unmapped.why, cause::translation);
        EXPECT_EQ(unmapped.stage, 1);
        EXPECT_EQ(unmapped.level, 1);
        EXPECT_EQ(fault(unit.translate(regime, 0x4004'0000, access_kind::read)).level, 3);
        EXPECT_EQ(fault(unit.translate(regime, 0x4002'0000, access_kind::write)).why, cause::permission);
        EXPECT_EQ(fault(unit.translate(regime, 0x4002'1000, access_kind::read)).why, cause::access_flag);
        EXPECT_EQ(fault(unit.translate(regime, std::uint64_t{1} << 39U, access_kind::read)).why,
                  cause::translation);
    });
}

TEST_F(mmu_test, stage_2_moves_both_the_tables_of_stage_1_and_what_they_map)
{
    using cause = translation_fault::cause;
    const translation_regime regime = two_stages();
    run(two_tlbs(), [&](mmu &unit) {
        EXPECT_EQ(output(unit.translate(regime, 0x4000'3000, access_kind::write), 0x4000'3000), 0x4008'3000U);
        memory_[0x9000] &= ~s2_write; // the tables, and the pages
        unit.invalidate_all();
        const translation_fault refused = fault(unit.translate(regime, 0x4000'4000, access_kind::write));
        EXPECT_EQ(refused.why, cause::permission);
        EXPECT_EQ(refused.stage, 2);
        EXPECT_EQ(refused.level, 2);
        EXPECT_EQ(refused.intermediate, 0x84000U);
        EXPECT_FALSE(refused.of_table_walk);
        memory_[0x9000] = 0;
        unit.invalidate_all();
        const translation_fault of_walk = fault(unit.translate(regime, 0x4000'4000, access_kind::read));
        EXPECT_TRUE(of_walk.of_table_walk);
        EXPECT_EQ(of_walk.intermediate, 0x1008U);
    });
}

TEST_F(mmu_test, a_walk_of_two_stages_reads_each_table_of_both)
{
    const translation_regime regime = two_stages();
    run(two_tlbs(), [&](mmu &unit) {
        (void)unit.translate(regime, 0x4000'3000, access_kind::read);
        EXPECT_EQ(reads_,
                  3U * (2 + 1) + 2); // each of three descriptors behind two of stage 2; the page's own
        EXPECT_EQ(core_->counts().of(core_event::l2_tlb_refill), 1U);
        (void)unit.translate(regime, 0x4000'3FF8, access_kind::read);
        EXPECT_EQ(reads_, 11U);
    });
}

TEST_F(mmu_test, the_walk_cache_has_the_table_of_the_last_level_and_the_other_what_stage_2_says)
{
    const translation_regime regime = two_stages();
    const auto reads_of_a_second_walk = [&](std::uint32_t walks, std::uint32_t intermediate) {
        mmu_settings wanted = two_tlbs();
        wanted.walk_cache = {.entries = walks};
        wanted.intermediate = {.entries = intermediate};
        std::uint64_t took = 0;
        run(wanted, [&](mmu &unit) {
            (void)unit.translate(regime, 0x4000'3000, access_kind::read);
            reads_ = 0;
            (void)unit.translate(regime, 0x4000'4000, access_kind::read);
            took = reads_;
        });
        return took;
    };
    EXPECT_EQ(reads_of_a_second_walk(0, 0), 11U);
    EXPECT_EQ(reads_of_a_second_walk(8, 0), 1U + 2 + 2) << "the page's descriptor, and stage 2 of both";
    EXPECT_EQ(reads_of_a_second_walk(0, 8), 3U) << "stage 1 alone: all lies in one block of stage 2";
    EXPECT_EQ(reads_of_a_second_walk(8, 8), 1U);
}

TEST_F(mmu_test, a_block_of_stage_1_leaves_nothing_in_the_walk_cache)
{
    const translation_regime regime = one_stage();
    mmu_settings wanted = two_tlbs();
    wanted.l2.page_shifts = {12};
    wanted.walk_cache = {.entries = 8};
    run(wanted, [&](mmu &unit) {
        (void)unit.translate(regime, 0x4020'0000, access_kind::read);
        reads_ = 0;
        (void)unit.translate(regime, 0x4020'1000, access_kind::read);
        EXPECT_EQ(reads_, 0U) << "the first level keeps it whole";
        unit.invalidate_page(1, 0x4000'0000);
        (void)unit.translate(regime, 0x4020'1000, access_kind::read);
        EXPECT_EQ(reads_, 2U) << "and the main TLB a page of it, as it was told";
    });
}

TEST_F(mmu_test, an_entry_is_as_large_as_the_smaller_of_both_stages)
{
    translation_regime regime = two_stages(); // stage 2: blocks of 2 MiB
    run(two_tlbs(), [&](mmu &unit) {
        EXPECT_EQ(made(unit.translate(regime, 0x4000'3000, access_kind::read)).shift, 12U);
        EXPECT_EQ(made(unit.translate(regime, 0x4020'5000, access_kind::read)).shift, 21U);
        reads_ = 0;
        (void)unit.translate(regime, 0x4021'F000, access_kind::read);
        EXPECT_EQ(reads_, 0U) << "anywhere in the block";
        // The block of stage 1 is now backed by pages, as colored memory is.
        memory_[0x9000 + 8 * 2] = 0xA000 | table;
        for (std::uint64_t i = 0; i < 512; ++i) {
            memory_[0xA000 + 8 * i] = (0x1000'0000 + (i << 13U)) | page | accessed | s2_read | s2_normal;
        }
        unit.invalidate_vmid(1);
        EXPECT_EQ(made(unit.translate(regime, 0x4020'5000, access_kind::read)).shift, 12U);
        EXPECT_EQ(output(unit.translate(regime, 0x4020'6010, access_kind::read), 0x4020'6010), 0x1000'C010U);
        EXPECT_EQ(core_->counts().of(core_event::l2_tlb_refill), 4U);
    });
}

TEST_F(mmu_test, contiguous_pages_share_an_entry)
{
    const translation_regime regime = one_stage();
    for (std::uint64_t i = 0; i < 16; ++i) {
        memory_[0x3000 + 8 * (48 + i)] = (0x10'0000 + (i << 12U)) | page | accessed | std::uint64_t{1} << 52U;
    }
    run(two_tlbs(), [&](mmu &unit) {
        const page_translation found = made(unit.translate(regime, 0x4003'3000, access_kind::read));
        EXPECT_EQ(found.shift, 16U);
        EXPECT_EQ(found.of(0x4003'F008).value, 0x10'F008U);
    });
}

TEST_F(mmu_test, maintenance_of_an_address_ends_all_parts_of_its_block)
{
    const translation_regime regime = one_stage();
    mmu_settings wanted = two_tlbs();
    wanted.l1.page_shifts = {12};
    wanted.l2.page_shifts = {12}; // a Cortex-A53 splits 1 GiB into such entries
    run(wanted, [&](mmu &unit) {
        EXPECT_EQ(made(unit.translate(regime, 0x4020'5000, access_kind::read)).shift, 12U);
        memory_[0x2000 + 8 * 1] = 0;
        unit.invalidate_page(1, 0x4030'0000);
        EXPECT_EQ(fault(unit.translate(regime, 0x4020'5000, access_kind::read)).level, 2);
    });
}

TEST_F(mmu_test, what_stage_2_alone_forgets_stays_in_the_tlbs_until_stage_1_is_forgotten)
{
    const translation_regime regime = two_stages();
    mmu_settings wanted = two_tlbs();
    wanted.intermediate = {.entries = 8};
    run(wanted, [&](mmu &unit) {
        (void)unit.translate(regime, 0x4020'5000, access_kind::read);
        memory_[0x9000 + 8 * 2] = 0; // the output of the block
        unit.invalidate_intermediate(1, 0x40'5000);
        EXPECT_TRUE(
            std::holds_alternative<page_translation>(unit.translate(regime, 0x4020'5000, access_kind::read)));
        unit.invalidate_stage1(1);
        EXPECT_EQ(fault(unit.translate(regime, 0x4020'5000, access_kind::read)).stage, 2);
    });
}

TEST_F(mmu_test, instructions_have_a_first_tlb_of_their_own)
{
    const translation_regime regime = one_stage();
    mmu_settings wanted = two_tlbs();
    wanted.l2 = {};
    run(wanted, [&](mmu &unit) {
        (void)unit.fetch(regime, 0x4000'0000);
        for (std::uint64_t i = 1; i < 32; ++i) {
            (void)unit.translate(regime, 0x4000'0000 + (i << 12U), access_kind::read);
        }
        reads_ = 0;
        (void)unit.fetch(regime, 0x4000'0000);
        EXPECT_EQ(reads_, 0U);
        (void)unit.translate(regime, 0x4000'0000, access_kind::read);
        EXPECT_NE(reads_, 0U);
    });
}

TEST_F(mmu_test, the_first_level_drops_its_oldest_entry_and_says_so)
{
    const translation_regime regime = one_stage();
    run(two_tlbs(), [&](mmu &unit) {
        std::vector<std::uint32_t> dropped;
        unit.on_dropped([&](std::uint32_t entry) { dropped.push_back(entry); });
        std::vector<std::uint32_t> entries;
        for (std::uint64_t i = 0; i < 4; ++i) {
            entries.push_back(
                made(unit.translate(regime, 0x4000'0000 + (i << 12U), access_kind::read)).entry);
        }
        (void)unit.translate(regime, 0x4000'0000, access_kind::read); // used again, and the oldest
        dropped.clear();
        (void)unit.translate(regime, 0x4000'9000, access_kind::read);
        EXPECT_EQ(dropped, std::vector<std::uint32_t>{entries[0]});
        EXPECT_FALSE(unit.knows(regime, 0x4000'0000, access_kind::read));
        EXPECT_TRUE(unit.knows(regime, 0x4000'1000, access_kind::read));
        dropped.clear();
        unit.invalidate_page(9, 0);
        EXPECT_GE(dropped.size(), 4U) << "whatever is invalidated empties the first level";
    });
}

TEST_F(mmu_test, tlbs_keep_translations_apart_and_forget_what_they_are_told)
{
    translation_regime regime = one_stage();
    run(two_tlbs(), [&](mmu &unit) {
        const auto walks = [&](std::uint64_t address) {
            const std::uint64_t before = reads_;
            (void)unit.translate(regime, address, access_kind::read);
            return reads_ != before;
        };
        EXPECT_TRUE(walks(0x4000'0000));
        EXPECT_FALSE(walks(0x4000'0008));
        regime.asid = 6;
        EXPECT_TRUE(walks(0x4000'0000));
        regime.vmid = 2;
        EXPECT_TRUE(walks(0x4000'0000));
        EXPECT_TRUE(walks(0x4020'0000)); // global
        regime.asid = 7;
        EXPECT_FALSE(walks(0x4020'0000));
        unit.invalidate_asid(2, 6);
        regime.asid = 6;
        EXPECT_TRUE(walks(0x4000'0000));
        regime.vmid = 1;
        EXPECT_FALSE(walks(0x4000'0000));
        unit.invalidate_vmid(1);
        EXPECT_TRUE(walks(0x4000'0000));
        unit.invalidate_page(1, 0x4000'0000);
        EXPECT_TRUE(walks(0x4000'0000));
    });
}

TEST_F(mmu_test, locked_translations_survive_what_would_evict_them)
{
    mmu_settings wanted = two_tlbs();
    wanted.l2 = {.entries = 4, .ways = 4, .lockable_entries = 2};
    const translation_regime regime = one_stage();
    run(wanted, [&](mmu &unit) {
        for (const std::uint32_t entry : {0U, 1U}) {
            unit.lock_walks_into(entry);
            (void)unit.translate(regime, 0x4000'0000 + (std::uint64_t{entry} << 12U), access_kind::read);
        }
        unit.lock_walks_into(std::nullopt);
        for (std::uint64_t i = 2; i < 32; ++i) {
            (void)unit.translate(regime, 0x4000'0000 + (i << 12U), access_kind::read);
        }
        const std::uint64_t before = reads_;
        (void)unit.translate(regime, 0x4000'0000, access_kind::read);
        (void)unit.translate(regime, 0x4000'1000, access_kind::read);
        EXPECT_EQ(reads_, before);
        (void)unit.translate(regime, 0x4000'2000, access_kind::read);
        EXPECT_GT(reads_, before);
    });
}

TEST_F(mmu_test, a_walk_takes_longer_the_farther_away_its_tables_are)
{
    translation_regime regime = one_stage();
    const auto second_walk_ps = [&](walk_path from) {
        mmu_settings wanted = two_tlbs();
        wanted.walks = from;
        std::uint64_t took = 0;
        run(wanted, [&](mmu &unit) {
            (void)unit.translate(regime, 0x4000'0000, access_kind::read);
            const picoseconds before = core_->clock();
            (void)unit.translate(regime, 0x4000'1000, access_kind::read);
            took = (core_->clock() - before).value;
        });
        EXPECT_GT(core_->counts().of(stall_cause::walk), 0U);
        return took;
    };
    constexpr double cycle = 833;
    EXPECT_NEAR(static_cast<double>(second_walk_ps(walk_path::l1)), (3 * 2 + 5) * cycle, 10);
    EXPECT_NEAR(static_cast<double>(second_walk_ps(walk_path::l2)), 3 * 12'000 + 5 * cycle, 1'000);
    const std::uint64_t past_caches = second_walk_ps(walk_path::memory);
    EXPECT_GT(past_caches, 3U * 50'000);
    regime.stage1.cached = false;
    EXPECT_EQ(second_walk_ps(walk_path::l1), past_caches) << "so says the tables' memory type";
}

TEST(mmu, a_first_level_with_cycles_of_its_own_is_refused)
{
    mmu_settings wanted;
    wanted.l1 = {.entries = 10};
    EXPECT_FALSE(mmu::refused(wanted));
    wanted.intermediate = {.entries = 12, .ways = 4};
    EXPECT_TRUE(mmu::refused(wanted)) << "three sets";
    wanted.intermediate = {};
    wanted.l1.hit_cycles = 1;
    EXPECT_TRUE(mmu::refused(wanted));
}

using small_tlb = translation_cache<int>;

TEST(tlb, impossible_sizes_are_refused)
{
    EXPECT_NE(reason_of(small_tlb::make({.entries = 12, .ways = 4})), "");
    EXPECT_EQ(reason_of(small_tlb::make({.entries = 512, .ways = 4})), "");
    EXPECT_EQ(reason_of(small_tlb::make({.entries = 128, .ways = 2, .lockable_entries = 4})), "")
        << "Cortex-A9";
}

TEST(tlb, a_page_can_be_locked_in_several_address_spaces)
{
    small_tlb both = expect_made(small_tlb::make({.entries = 4, .ways = 4, .lockable_entries = 2}));
    const translation_tag first{.asid = 1};
    const translation_tag second{.asid = 2};
    both.insert(0x1000, 12, 12, first, 3);
    both.lock(0, 0x1000, 12, 12, first, 1);
    both.lock(1, 0x1000, 12, 12, second, 2);
    EXPECT_EQ(both.find(0x1000, first)->what, 1);
    EXPECT_EQ(both.find(0x1000, second)->what, 2);
    both.lock(0, 0x1000, 12, 12, second, 4);
    EXPECT_EQ(both.find(0x1000, first), nullptr) << "its entry has another now";
    EXPECT_EQ(both.find(0x1000, second)->what, 4);
    EXPECT_EQ(both.locked(1).used, 0U) << "and no two have the same";
}

TEST(tlb, entries_of_several_sizes_lie_in_sets_of_their_own_number)
{
    small_tlb mixed = expect_made(small_tlb::make({.entries = 8, .ways = 2, .page_shifts = {12, 21}}));
    mixed.insert(0x20'0000, 21, 21, {}, 1);
    for (std::uint64_t number = 0; number < 4; ++number) {
        mixed.insert(number << 12U, 12, 12, {}, 2);
    }
    EXPECT_EQ(mixed.find(0x3F'F000, {})->what, 1);
    EXPECT_EQ(mixed.find(0x3000, {})->what, 2);
    EXPECT_EQ(mixed.find(0x4000, {}), nullptr);
    EXPECT_EQ(mixed.kept(30), 21U);
    EXPECT_EQ(mixed.kept(16), 12U);
    EXPECT_EQ(mixed.kept(11), 0U);
}

TEST(tlb, the_least_recently_used_way_goes_and_the_oldest_where_that_is_the_policy)
{
    for (const tlb_policy policy : {tlb_policy::lru, tlb_policy::fifo}) {
        small_tlb pair = expect_made(small_tlb::make({.entries = 2, .ways = 2, .policy = policy}));
        pair.insert(0x1000, 12, 12, {}, 1);
        pair.insert(0x2000, 12, 12, {}, 2);
        EXPECT_NE(pair.find(0x1000, {}), nullptr);
        pair.insert(0x3000, 12, 12, {}, 3);
        EXPECT_EQ(pair.find(0x1000, {}) != nullptr, policy == tlb_policy::lru);
    }
}

} // namespace

} // namespace bulkhead::machine::test::mmu_test
