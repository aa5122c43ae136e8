// SPDX-License-Identifier: Apache-2.0
// Translation: tables of one and two stages as an AArch64 program would write them, faults by stage and
// level, what TLBs keep and for whom, and that walks take the time of their accesses.
#include <map>

#include <gtest/gtest.h>

#include "machine/mmu.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test {

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

    // The same behind a second stage that adds 1 GiB by 2 MiB blocks, but for what is said otherwise.
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
        EXPECT_EQ(made(unit.translate(regime, 0x4000'3123, access_kind::write)).frame, phys_addr{0x83000});
        EXPECT_EQ(made(unit.translate(regime, 0x4020'5000, access_kind::read)).frame, phys_addr{0x40'5000});
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
        EXPECT_EQ(made(unit.translate(regime, 0x4000'3000, access_kind::write)).frame,
                  phys_addr{0x4008'3000});
        memory_[0x9000] &= ~s2_write; // where the tables are, and the pages
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
    mmu_settings with_cache = two_tlbs();
    with_cache.walk_cache_entries = 8;
    reads_ = 0;
    run(with_cache, [&](mmu &unit) {
        (void)unit.translate(regime, 0x4000'3000, access_kind::read);
        reads_ = 0;
        (void)unit.translate(regime, 0x4000'4000, access_kind::read);
        EXPECT_EQ(reads_, 5U); // what is no table: the page of stage 1, and four blocks of stage 2
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
        EXPECT_TRUE(unit.lock(regime, 0x4000'0000));
        EXPECT_TRUE(unit.lock(regime, 0x4000'1000));
        EXPECT_FALSE(unit.lock(regime, 0x4000'2000));
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

TEST_F(mmu_test, a_walk_takes_longer_when_its_tables_are_in_no_cache)
{
    const translation_regime regime = one_stage();
    const auto second_walk_ps = [&](bool cached) {
        mmu_settings wanted = two_tlbs();
        wanted.walks_cached = cached;
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
    EXPECT_NEAR(static_cast<double>(second_walk_ps(true)), 3 * 12'000 + 5 * 833,
                1'000); // shared level, three times
    EXPECT_GT(second_walk_ps(false), 3U * 50'000);
}

TEST(tlb, impossible_sizes_are_refused)
{
    EXPECT_NE(reason_of(tlb::make({.entries = 12, .ways = 4})), "");
    EXPECT_EQ(reason_of(tlb::make({.entries = 512, .ways = 4})), "");
    EXPECT_EQ(reason_of(tlb::make({.entries = 128, .ways = 2, .lockable_entries = 4})), "") << "Cortex-A9";
}

TEST(tlb, a_page_can_be_locked_in_several_address_spaces)
{
    tlb both = std::get<tlb>(tlb::make({.entries = 4, .ways = 4, .lockable_entries = 2}));
    const page_key first{.page = 1, .asid = 1};
    const page_key second{.page = 1, .asid = 2};
    both.insert(first, {.frame = phys_addr{0x3000}});
    EXPECT_TRUE(both.lock(first, {.frame = phys_addr{0x1000}}));
    EXPECT_TRUE(both.lock(second, {.frame = phys_addr{0x2000}}));
    EXPECT_TRUE(both.lock(second, {.frame = phys_addr{0x4000}})) << "again: in the same entry";
    EXPECT_EQ(both.find(first), page_translation{.frame = phys_addr{0x1000}});
    EXPECT_EQ(both.find(second), page_translation{.frame = phys_addr{0x4000}});
}

} // namespace

} // namespace bulkhead::machine::test
