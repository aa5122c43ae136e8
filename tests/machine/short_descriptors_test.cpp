// SPDX-License-Identifier: Apache-2.0
// Short descriptors as DDI 0406C (B3.5 to B3.13) defines them: bits of descriptors, the two base registers,
// rights, domains, memory types, fault status; and what the TLBs of a Cortex-A9 keep of them, locked or not
// (DDI 0388I, 6.2 and table 4-26).
#include <map>

#include <gtest/gtest.h>

#include "machine/mmu.h"
#include "machine/random.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::short_descriptors_test {

namespace {

namespace sd = short_descriptors;
using cause = translation_fault::cause;
using kind = sd::access::kind;

constexpr std::uint32_t table = 1, large_page = 1, small_page = 2, section = 2, supersection = 2 | 1U << 18U;
constexpr std::uint32_t user_writes = 3, user_reads = 2, privileged = 1;
constexpr std::uint32_t not_global = 1U << 11U, section_not_global = 1U << 17U;
constexpr std::uint32_t write_back = 0xC; // TEX 0, C, B
constexpr std::uint32_t clients = 0x5555'5555;

// --- The walk, without time ---

class short_walk : public testing::Test {
protected:
    using outcome = std::variant<sd::descriptor, translation_fault>;

    outcome walk(std::uint32_t address)
    {
        paths_.clear();
        return sd::walk(
            registers_, address,
            [this](std::uint64_t where, walk_path from) -> std::variant<std::uint32_t, translation_fault> {
                paths_.push_back(from);
                if (where >= 0x8000'0000) {
                    return translation_fault{cause::external_walk, 1, 1};
                }
                return words_[where];
            });
    }
    sd::descriptor leaf(std::uint32_t address)
    {
        const outcome found = walk(address);
        EXPECT_TRUE(std::holds_alternative<sd::descriptor>(found)) << std::hex << address;
        const auto *one = std::get_if<sd::descriptor>(&found);
        return one == nullptr ? sd::descriptor{} : *one;
    }
    std::uint32_t status(std::uint32_t address)
    {
        const outcome found = walk(address);
        const auto *fault = std::get_if<translation_fault>(&found);
        return fault == nullptr ? 0 : sd::status_of(*fault);
    }

    sd::registers registers_{.ttbr0 = 0x4000};
    std::map<std::uint64_t, std::uint32_t> words_;
    std::vector<walk_path> paths_;
};

TEST_F(short_walk, all_four_sizes)
{
    words_[0x4000 + 4 * 0x123] = 0xABC0'0000 | section | user_writes << 10U | write_back;
    words_[0x4000 + 4 * 0x210] = 0x4500'0000 | supersection | user_writes << 10U;
    words_[0x4000 + 4 * 0x300] = 0x8000 | table | 6U << 5U;
    words_[0x8000 + 4 * 0x45] = 0x0777'7000 | small_page | not_global | user_reads << 4U;
    words_[0x8000 + 4 * 0x50] = 0x0123'0000 | large_page | 1U << 15U | user_writes << 4U;

    const sd::descriptor one = leaf(0x1234'5678);
    EXPECT_EQ(one.output, 0xABC0'0000U);
    EXPECT_EQ(one.shift, 20U);
    EXPECT_TRUE(one.global);
    EXPECT_EQ(one.says.memory, sd::memory_kind::cached);
    EXPECT_EQ(one.says.level, 1U);

    EXPECT_EQ(leaf(0x2100'0000).shift, 24U);
    EXPECT_EQ(leaf(0x2100'0000).output, 0x4500'0000U);

    const sd::descriptor page = leaf(0x3004'5FFF);
    EXPECT_EQ(page.output, 0x0777'7000U);
    EXPECT_EQ(page.shift, 12U);
    EXPECT_FALSE(page.global);
    EXPECT_EQ(page.says.domain, 6U);
    EXPECT_EQ(page.says.level, 2U);
    EXPECT_EQ(page.says.memory, sd::memory_kind::ordered);

    EXPECT_EQ(leaf(0x3005'0000).shift, 16U);
    EXPECT_EQ(leaf(0x3005'0000).output, 0x0123'0000U);
    EXPECT_NE(leaf(0x3005'0000).says.rights & sd::attributes::execute_never, 0);
}

TEST_F(short_walk, a_supersection_reaches_beyond_four_gib_and_has_domain_0)
{
    words_[0x4000 + 4 * 0x210] = 0x4500'0000 | supersection | 0x3U << 20U | 0x7U << 5U;
    EXPECT_EQ(leaf(0x2100'0000).output, 0x73'4500'0000U);
    EXPECT_EQ(leaf(0x2100'0000).says.domain, 0U);
}

TEST_F(short_walk, the_size_of_the_lower_space_chooses_the_base_register)
{
    registers_ = {.ttbr0 = 0x6000, .ttbr1 = 0x1'0000, .ttbcr = 1};
    words_[0x6000 + 4 * 0x7FF] = 0x1000'0000 | section;
    words_[0x1'0000 + 4 * 0x800] = 0x2000'0000 | section;
    EXPECT_EQ(leaf(0x7FF0'0000).output, 0x1000'0000U);
    EXPECT_EQ(leaf(0x8000'0000).output, 0x2000'0000U) << "a whole table of 16 KiB, by the whole address";
    registers_.ttbcr = 7; // 32 MiB below: a table of 128 bytes
    registers_.ttbr0 = 0x6080;
    words_[0x6080 + 4 * 0x1F] = 0x3000'0000 | section;
    words_[0x1'0000 + 4 * 0x20] = 0x4000'0000 | section;
    EXPECT_EQ(leaf(0x01F0'0000).output, 0x3000'0000U);
    EXPECT_EQ(leaf(0x0200'0000).output, 0x4000'0000U);
}

TEST_F(short_walk, faults_have_the_status_of_the_architecture)
{
    words_[0x4000 + 4 * 2] = 0x8000 | table | 3U << 5U;
    words_[0x4000 + 4 * 3] = 0xFFFF'FC00 | table;
    words_[0x4000 + 4 * 4] = 0x1000'0000 | 3; // PXN, which the core does not have
    EXPECT_EQ(status(0x0010'0000), 0x05U);
    EXPECT_EQ(status(0x0020'0000), 0x37U);
    EXPECT_EQ(status(0x0030'0000), 0x0EU);
    EXPECT_EQ(status(0x0040'0000), 0x05U);
    registers_.ttbr0 = 0x9000'0000;
    EXPECT_EQ(status(0), 0x0CU);
    registers_ = {.ttbr0 = 0x4000, .ttbcr = 1U << 4U}; // PD0
    words_[0x4000] = section;
    EXPECT_EQ(status(0), 0x05U);
}

TEST_F(short_walk, the_access_flag_is_in_place_of_the_lowest_access_bit)
{
    registers_.access_flag = true;
    words_[0x4000] = section | user_reads << 10U; // AP[0] clear
    words_[0x4004] = 0x8000 | table;
    words_[0x8000] = small_page;
    EXPECT_EQ(status(0), 0x3U);
    EXPECT_EQ(status(0x0010'0000), 0x6U);
    words_[0x4000] = section | user_writes << 10U;
    EXPECT_EQ(leaf(0).says.rights, 0xF) << "AP[2:1] = 01: all may write";
    words_[0x4000] = section | privileged << 10U | 1U << 15U;
    EXPECT_EQ(leaf(0).says.rights, sd::attributes::privileged_read);
}

TEST_F(short_walk, tables_are_read_from_the_cache_that_the_base_register_names)
{
    words_[0x4000] = section;
    const auto path = [&](std::uint32_t bits) {
        registers_.ttbr0 = 0x4000 | bits;
        (void)walk(0);
        return paths_.front();
    };
    EXPECT_EQ(path(0), walk_path::memory);
    EXPECT_EQ(path(1U << 6U | 1U << 3U), walk_path::l1);            // IRGN 01, RGN 01
    EXPECT_EQ(path(1U << 6U | 1U << 0U | 3U << 3U), walk_path::l1); // IRGN 11
    EXPECT_EQ(path(1U << 0U | 1U << 3U), walk_path::l2) << "IRGN 10: write-through, which L1 has not";
    EXPECT_EQ(path(1U << 3U), walk_path::l2);
    registers_.caches = false;
    EXPECT_EQ(path(1U << 6U | 1U << 3U), walk_path::memory);
}

TEST_F(short_walk, memory_types_with_and_without_remap)
{
    const auto memory = [&](std::uint32_t tex, std::uint32_t cb) {
        words_[0x4000] = section | tex << 12U | cb << 2U;
        return leaf(0).says.memory;
    };
    using enum sd::memory_kind;
    EXPECT_EQ(memory(0, 0), ordered);
    EXPECT_EQ(memory(0, 1), ordered); // Device
    EXPECT_EQ(memory(0, 2), outer_cached) << "write-through";
    EXPECT_EQ(memory(0, 3), cached);
    EXPECT_EQ(memory(1, 0), uncached);
    EXPECT_EQ(memory(1, 3), cached);
    EXPECT_EQ(memory(2, 0), ordered);
    EXPECT_EQ(memory(4, 1), cached) << "inner write-back, outer not";
    EXPECT_EQ(memory(5, 0), outer_cached);
    registers_.tex_remap = true;
    registers_.prrr = 2U << 2U | 1U << 4U | 2U << 6U; // 0: strongly ordered, 1: normal, 2: device, 3: normal
    registers_.nmrr = 1U << 2U | 1U << 22U;           // 1: inner write-back; 3: outer alone
    EXPECT_EQ(memory(0, 0), ordered);
    EXPECT_EQ(memory(0, 1), cached);
    EXPECT_EQ(memory(6, 2), ordered) << "TEX[2:1] are the operating system's";
    EXPECT_EQ(memory(0, 3), outer_cached);
}

// --- Rights ---

TEST(short_rights, access_bits_say_who_may_read_and_write)
{
    struct expectation {
        std::uint32_t ap; // AP[2:0]
        bool own_read, own_write, user_read, user_write;
    };
    const expectation all[] = {
        {0, false, false, false, false}, {1, true, true, false, false},  {2, true, true, true, false},
        {3, true, true, true, true},     {5, true, false, false, false}, {6, true, false, true, false},
        {7, true, false, true, false},
    };
    for (const expectation &one : all) {
        const std::uint32_t raw = section | (one.ap & 3U) << 10U | (one.ap >> 2U) << 15U;
        const sd::attributes says = sd::decode_first(raw, {}).says;
        const auto may = [&](bool is_privileged, kind what) {
            return !sd::refused(says, clients, {what, is_privileged});
        };
        EXPECT_EQ(may(true, kind::read), one.own_read) << one.ap;
        EXPECT_EQ(may(true, kind::write), one.own_write) << one.ap;
        EXPECT_EQ(may(false, kind::read), one.user_read) << one.ap;
        EXPECT_EQ(may(false, kind::write), one.user_write) << one.ap;
        EXPECT_EQ(may(false, kind::fetch), one.user_read) << one.ap;
        EXPECT_FALSE(!sd::refused(sd::decode_first(raw | 1U << 4U, {}).says, clients, {kind::fetch, true}));
    }
}

TEST(short_rights, domains_go_before_access_bits)
{
    const sd::attributes says = sd::decode_first(section | 4U << 5U, {}).says; // AP 0, domain 4
    const auto status = [&](std::uint32_t dacr) {
        const auto fault = sd::refused(says, dacr, {kind::read, true});
        return fault ? sd::status_of(*fault) : 0;
    };
    EXPECT_EQ(status(0), 0x49U) << "no access";
    EXPECT_EQ(status(1U << 8U), 0x4DU) << "client";
    EXPECT_EQ(status(3U << 8U), 0U) << "manager";
    const sd::attributes page = sd::decode_second(small_page, {}, 2).says;
    EXPECT_EQ(sd::status_of(*sd::refused(page, 0, {})), 0x2BU);
    EXPECT_EQ(sd::status_of(*sd::refused(page, clients, {})), 0x2FU);
}

// --- In the TLBs of a core ---

class short_tlbs : public testing::Test {
protected:
    static constexpr std::uint32_t pages = 96, l1_table = 0x4000, l2_table = 0x8000;

    // 2 x 4 entries and 4 lockable ones behind a first level of two.
    static mmu_settings small_a9()
    {
        mmu_settings wanted;
        wanted.l1 = {.entries = 2};
        wanted.l2 = {
            .entries = 8, .ways = 2, .lockable_entries = 4, .hit_cycles = 2, .page_shifts = {12, 16, 20, 24}};
        wanted.walk_cycles = 10;
        return wanted;
    }

    void run(const std::function<void(mmu &)> &body)
    {
        words_[l1_table] = l2_table | table;
        for (std::uint32_t i = 0; i < pages; ++i) {
            words_[l2_table + 4 * i] = (0x10'0000 + (i << 12U)) | small_page | not_global | user_writes << 4U;
        }
        words_[l1_table + 4] = 0x5000'0000 | section | section_not_global | user_writes << 10U;
        machine_ = make_machine(small_machine(1));
        core_ = &machine_->core_at({0});
        mmu unit = expect_made(
            mmu::make(small_a9(), *core_, [this](phys_addr where) -> std::optional<std::uint64_t> {
                ++reads_;
                return std::uint64_t{words_[where.value + 4]} << 32U | words_[where.value];
            }));
        core_->start([&](core &) { body(unit); });
        machine_->timeline().run(for_ever);
    }
    bool walks(mmu &unit, std::uint32_t address)
    {
        const std::uint64_t before = reads_;
        EXPECT_TRUE(
            std::holds_alternative<page_translation>(unit.translate(regime_, address, access_kind::read)));
        return reads_ != before;
    }
    void lock(mmu &unit, std::uint32_t entry, std::uint32_t address)
    {
        unit.invalidate_page_of(0, regime_.asid, address);
        unit.lock_walks_into(entry);
        EXPECT_TRUE(walks(unit, address));
        unit.lock_walks_into(std::nullopt);
    }
    void thrash(mmu &unit)
    {
        for (std::uint32_t i = 8; i < pages; ++i) {
            (void)walks(unit, i << 12U);
        }
    }

    std::map<std::uint64_t, std::uint32_t> words_;
    std::uint64_t reads_ = 0;
    translation_regime regime_{
        .stage1 = {}, .stage2 = {}, .asid = 5, .tables32 = sd::registers{.ttbr0 = l1_table}};
    std::unique_ptr<simulated_machine> machine_;
    core *core_ = nullptr;
};

TEST_F(short_tlbs, a_locked_translation_stays_where_others_are_evicted)
{
    run([&](mmu &unit) {
        lock(unit, 2, 0x1000);
        (void)walks(unit, 0x2000);
        thrash(unit);
        EXPECT_FALSE(walks(unit, 0x1000));
        EXPECT_TRUE(walks(unit, 0x2000));
    });
}

TEST_F(short_tlbs, what_is_invalidated_as_a_whole_leaves_locked_entries_and_what_is_named_does_not)
{
    run([&](mmu &unit) {
        lock(unit, 0, 0x1000);
        lock(unit, 1, 0x2000);
        unit.invalidate_all(locked_entries::stay); // TLBIALL
        EXPECT_FALSE(walks(unit, 0x1000));
        unit.invalidate_page(0, 0x1000, locked_entries::stay); // TLBIMVAA
        EXPECT_FALSE(walks(unit, 0x1000));
        unit.invalidate_page_of(0, 6, 0x1000); // TLBIMVA, of another address space
        EXPECT_FALSE(walks(unit, 0x1000));
        unit.invalidate_page_of(0, 5, 0x1000);
        EXPECT_TRUE(walks(unit, 0x1000));
        EXPECT_FALSE(walks(unit, 0x2000));
        unit.invalidate_asid(0, 5); // TLBIASID
        EXPECT_TRUE(walks(unit, 0x2000));
    });
}

TEST_F(short_tlbs, a_section_takes_one_lockable_entry)
{
    run([&](mmu &unit) {
        lock(unit, 0, 0x0010'0000);
        thrash(unit);
        EXPECT_FALSE(walks(unit, 0x001F'F000));
        ASSERT_TRUE(unit.locked(0));
        EXPECT_EQ(unit.locked(0)->what.shift, 20U);
        EXPECT_FALSE(unit.locked(1));
    });
}

TEST_F(short_tlbs, software_saves_and_restores_a_locked_entry)
{
    run([&](mmu &unit) {
        lock(unit, 3, 0x1000);
        const auto saved = unit.locked(3);
        ASSERT_TRUE(saved);
        unit.set_locked(3, std::nullopt);
        thrash(unit);
        EXPECT_TRUE(walks(unit, 0x1000));
        unit.invalidate_all();
        unit.set_locked(0, saved);
        EXPECT_FALSE(walks(unit, 0x1000));
        regime_.asid = 9;
        EXPECT_TRUE(walks(unit, 0x1000)) << "of another address space";
    });
}

TEST_F(short_tlbs, a_walk_that_finds_nothing_locks_nothing)
{
    run([&](mmu &unit) {
        unit.lock_walks_into(0);
        EXPECT_TRUE(std::holds_alternative<translation_fault>(
            unit.translate(regime_, 0x0030'0000, access_kind::read)));
        EXPECT_FALSE(unit.locked(0));
    });
}

TEST_F(short_tlbs, cycles_of_the_main_tlb_and_of_walks_are_counted_apart)
{
    run([&](mmu &unit) {
        const auto count = [&](core_event which) { return core_->count_of(which); };
        (void)walks(unit, 0x1000);
        const std::uint64_t of_walk = count(core_event::l2_tlb_stall);
        EXPECT_GT(of_walk, 10U) << "and the time of two reads";
        EXPECT_EQ(count(core_event::l1_tlb_stall), 0U);
        unit.empty_first();
        (void)walks(unit, 0x1000);
        EXPECT_EQ(count(core_event::l1_tlb_stall), 2U) << "a hit in the main TLB";
        EXPECT_EQ(count(core_event::l2_tlb_stall), of_walk);
        (void)unit.fetch(regime_, 0x1000);
        EXPECT_EQ(count(core_event::l1i_tlb_stall), 2U);
        (void)unit.fetch(regime_, 0x2000);
        EXPECT_GT(count(core_event::l2i_tlb_stall), 10U);
    });
}

TEST_F(short_tlbs, a_walk_in_caches_hits_there_when_it_is_repeated)
{
    regime_.tables32->ttbr0 |= 1U << 6U | 1U << 3U; // write-back, inner and outer
    run([&](mmu &unit) {
        (void)walks(unit, 0x1000);
        EXPECT_EQ(core_->count_of(core_event::walk_hit), 0U);
        unit.invalidate_all();
        (void)walks(unit, 0x1000);
        EXPECT_EQ(core_->count_of(core_event::walk_hit), 2U);
    });
}

// Tables that change under the TLBs, some of whose entries are locked: each answer is that of a walk of the
// present tables, as long as software invalidates each address whose mapping it changes.
TEST_F(short_tlbs, random_tables_are_translated_as_a_plain_walk_does)
{
    constexpr std::uint32_t mib = 1U << 20U, spaces = 3, reach = 32;
    random_source chance(7);
    const auto plain = [&](std::uint32_t address) {
        return sd::walk(
            *regime_.tables32, address,
            [&](std::uint64_t where, walk_path) -> std::variant<std::uint32_t, translation_fault> {
                return words_[where];
            });
    };
    const auto change = [&](mmu &unit) {
        const std::uint32_t number = chance.below(reach);
        const std::uint32_t output = chance.below(64) << 24U;
        std::uint32_t size = 1;
        std::uint32_t raw = 0;
        switch (chance.below(4)) {
        case 0:
            break;
        case 1:
            raw = output | section | section_not_global | user_writes << 10U;
            break;
        case 2: // sixteen of them, where no table is in the way
            size = 16;
            raw = output | supersection | user_reads << 10U;
            break;
        default:
            raw = (0x10'0000 + number * 0x400) | table;
            for (std::uint32_t i = 0; i < 256; i += 16) {
                const bool large = chance.below(2) == 0;
                for (std::uint32_t n = i; n < i + 16; ++n) {
                    words_[0x10'0000 + number * 0x400 + 4 * n] =
                        large ? output | i << 12U | large_page | not_global | user_writes << 4U
                              : output | (255 - n) << 12U | small_page | not_global | user_writes << 4U;
                }
            }
        }
        const std::uint32_t block = number / 16 * 16;
        if ((words_[l1_table + 4 * block + 60] & supersection) == supersection ||
            (words_[l1_table + 4 * block] & supersection) == supersection) {
            for (std::uint32_t i = block; i < block + 16; ++i) { // no entry of a supersection is left alone
                words_[l1_table + 4 * i] = 0;
            }
        }
        const std::uint32_t first = number / size * size;
        for (std::uint32_t i = first; i < first + size; ++i) {
            words_[l1_table + 4 * i] = raw;
        }
        for (std::uint32_t asid = 0; asid < spaces; ++asid) { // of all pages of the old and the new mapping
            for (std::uint32_t at = block * mib; at < (block + 16) * mib; at += 1U << 12U) {
                unit.invalidate_page_of(0, static_cast<std::uint16_t>(asid), at);
            }
        }
    };
    run([&](mmu &unit) {
        std::uint32_t found_pages = 0;
        for (std::uint32_t step = 0; step < 6000; ++step) {
            if (step % 300 == 0) {
                change(unit);
            }
            regime_.asid = static_cast<std::uint16_t>(chance.below(spaces));
            const std::uint32_t address = chance.below(reach) * mib + chance.below(256) * 0x1000U + 0x123;
            if (chance.below(8) == 0) {
                unit.invalidate_page_of(0, regime_.asid, address);
                unit.lock_walks_into(chance.below(4));
            }
            const auto expected = plain(address);
            const mmu::outcome answer = unit.translate(regime_, address, access_kind::read);
            unit.lock_walks_into(std::nullopt);
            const auto *const page = std::get_if<page_translation>(&answer);
            const auto *const leaf = std::get_if<sd::descriptor>(&expected);
            ASSERT_EQ(page == nullptr, leaf == nullptr) << std::hex << address;
            if (leaf != nullptr) {
                ++found_pages;
                const std::uint64_t offset = address & ((std::uint64_t{1} << leaf->shift) - 1);
                ASSERT_EQ(page->of(address).value, leaf->output + offset) << std::hex << address;
                ASSERT_EQ(page->says.rights, leaf->says.rights);
            }
        }
        EXPECT_GT(found_pages, 1000U);
    });
}

} // namespace

} // namespace bulkhead::machine::test::short_descriptors_test
