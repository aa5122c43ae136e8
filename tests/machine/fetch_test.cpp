// SPDX-License-Identifier: Apache-2.0
// S7, instruction side: lines of code come through L1I and the shared level, with the latency of both; an
// evicted line is fetched again; and the program that executes it is told when it is evicted.
#include <gtest/gtest.h>

#include "machine/program/program_text.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::fetch_test {
namespace {

constexpr std::uint64_t line = 64, kib = 1024, text_at = 0x100000, l2_latency_ps = 12'000;

settings machine_with_l1i()
{
    settings made = small_machine(2);
    for (core_settings &one : made.cores) {
        one.l1i = {.size_bytes = 32 * kib, .ways = 2, .line_bytes = line, .policy = replacement::lru};
    }
    return made;
}

class noted_text final : public fetched_text {
public:
    void left(std::uint64_t core_bit, std::uint64_t offset, std::uint64_t bytes) override
    {
        EXPECT_LE(bytes, line);
        gone.emplace_back(core_bit, offset);
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gone;
};

class fetches : public testing::Test {
protected:
    // `what` runs on core 0.
    void run(const settings &hardware, const std::function<void(core &)> &what)
    {
        whole = make_machine(hardware);
        whole->core_at({0}).start(what);
        whole->timeline().run(for_ever);
    }
    // The time to fetch the line at an offset of the text.
    std::uint64_t fetch(core &on, std::uint64_t offset)
    {
        const picoseconds before = on.clock();
        on.fetch(phys_addr{text_at + offset}, text, offset);
        return (on.clock() - before).value;
    }
    static std::uint64_t refills(const core &on) { return on.count_of(core_event::l1i_refill); }

    std::shared_ptr<noted_text> text = std::make_shared<noted_text>();
    std::unique_ptr<simulated_machine> whole;
};

TEST_F(fetches, what_l1i_has_takes_no_time)
{
    run(machine_with_l1i(), [this](core &on) {
        EXPECT_GT(fetch(on, 0), l2_latency_ps) << "from memory";
        EXPECT_EQ(fetch(on, 0), 0U);
        EXPECT_EQ(fetch(on, line - 4), 0U);
        EXPECT_EQ(refills(on), 1U);
        EXPECT_GT(fetch(on, line), 0U);
        EXPECT_EQ(refills(on), 2U);
        EXPECT_EQ(on.counts().of(stall_cause::fetch), on.clock().value) << "nothing else took time";
    });
}

TEST_F(fetches, a_third_line_of_a_set_of_two_pushes_one_out_which_is_told_and_is_in_the_shared_level)
{
    constexpr std::uint64_t way = 16 * kib;
    run(machine_with_l1i(), [this](core &on) {
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)fetch(on, i * way);
        }
        ASSERT_EQ(text->gone.size(), 1U);
        EXPECT_EQ(text->gone[0], std::pair(std::uint64_t{1}, std::uint64_t{0})) << "of core 0, the first";
        EXPECT_NEAR(static_cast<double>(fetch(on, 0)), l2_latency_ps, 2000);
        EXPECT_EQ(refills(on), 4U);
    });
}

TEST_F(fetches, lines_enter_a_shared_level_that_takes_data_on_eviction)
{
    settings hardware = machine_with_l1i();
    hardware.levels[0].cache.on_eviction = true;
    run(hardware, [this](core &on) {
        (void)fetch(on, 0);
        on.dependent_read(phys_addr{text_at + kib}, 8);
        const cache &level = whole->memory().level(0).storage();
        EXPECT_TRUE(level.contains(phys_addr{text_at}));
        EXPECT_FALSE(level.contains(phys_addr{text_at + kib})) << "a datum is in L1 alone";
    });
}

// Interference by text: code that was in the cache comes from memory again.
TEST_F(fetches, another_core_that_fills_the_shared_level_makes_code_come_from_memory)
{
    std::uint64_t undisturbed = 0, disturbed = 0;
    for (const bool beside : {false, true}) {
        whole = make_machine(machine_with_l1i());
        whole->core_at({0}).start([&](core &on) {
            for (std::uint64_t pass = 0; pass < 2; ++pass) {
                const picoseconds before = on.clock();
                for (std::uint64_t at = 0; at < 64 * kib; at += line) { // twice L1I
                    (void)fetch(on, at);
                }
                (beside ? disturbed : undisturbed) = (on.clock() - before).value;
                on.spend(picoseconds{5'000'000'000});
            }
        });
        if (beside) {
            whole->core_at({1}).start([](core &on) {
                on.spend(picoseconds{300'000'000}); // between both passes
                for (std::uint64_t at = 0; at < 2048 * kib; at += line) {
                    on.access(phys_addr{0x1000000 + at}, 8, access_kind::read);
                }
            });
        }
        whole->timeline().run(for_ever);
    }
    EXPECT_NEAR(static_cast<double>(undisturbed), 64.0 * kib / line * l2_latency_ps, 2e6);
    EXPECT_GT(disturbed, 3 * undisturbed);
}

TEST_F(fetches, an_inclusive_level_takes_what_it_gives_up_out_of_l1i)
{
    settings hardware = machine_with_l1i();
    hardware.levels[0].inclusive = true;
    run(hardware, [this](core &on) {
        (void)fetch(on, 0);
        for (std::uint64_t at = 0; at < 2048 * kib; at += line) {
            on.access(phys_addr{0x1000000 + at}, 8, access_kind::read);
        }
        EXPECT_EQ(text->gone.size(), 1U);
        EXPECT_GT(fetch(on, 0), l2_latency_ps);
    });
}

TEST_F(fetches, a_text_that_takes_the_place_of_another_one_in_memory_is_the_one_that_is_told)
{
    run(machine_with_l1i(), [this](core &on) {
        const auto before = text;
        (void)fetch(on, 0);
        text = std::make_shared<noted_text>();
        EXPECT_EQ(fetch(on, 0), 0U) << "the line is here";
        EXPECT_EQ(before->gone.size(), 1U);
        (void)fetch(on, 16 * kib);
        (void)fetch(on, 32 * kib);
        EXPECT_EQ(before->gone.size(), 1U);
        EXPECT_EQ(text->gone.size(), 1U);
    });
}

TEST_F(fetches, lines_of_half_the_size_of_the_other_caches_are_two_fetches)
{
    settings hardware = machine_with_l1i();
    hardware.cores[0].l1i->line_bytes = 32;
    run(hardware, [this](core &on) {
        EXPECT_GT(fetch(on, 0), l2_latency_ps);
        EXPECT_NEAR(static_cast<double>(fetch(on, 32)), l2_latency_ps, 2000) << "the shared level has it";
        EXPECT_EQ(refills(on), 2U);
        EXPECT_EQ(fetch(on, 4), 0U);
    });
}

// Pages of one color are contiguous in the program's addresses: they use all sets.
TEST_F(fetches, l1i_is_indexed_by_virtual_addresses)
{
    constexpr std::uint64_t page = 4 * kib;
    settings hardware = machine_with_l1i();
    hardware.levels[0].inclusive = true;
    run(hardware, [this](core &on) {
        for (std::uint64_t at = 0; at < 32 * kib; at += line) {
            on.fetch(phys_addr{text_at + at / page * 16 * page + at % page}, text, at);
        }
        EXPECT_TRUE(text->gone.empty());
        (void)fetch(on, 32 * kib);
        ASSERT_EQ(text->gone.size(), 1U);
        EXPECT_EQ(text->gone[0].second, 0U);
        for (std::uint64_t at = 0; at < 2048 * kib; at += line) {
            on.access(phys_addr{0x1000000 + at}, 8, access_kind::read);
        }
        EXPECT_EQ(text->gone.size(), 1U + 32 * kib / line) << "whoever sees them where";
    });
}

TEST_F(fetches, impossible_caches_are_refused)
{
    settings hardware = machine_with_l1i();
    hardware.cores[0].l1i->line_bytes = 128;
    const auto made = simulated_machine::make(hardware);
    ASSERT_TRUE(std::holds_alternative<refusal>(made));
    EXPECT_NE(std::get<refusal>(made).reason.find("cores[0].l1i.line_bytes"), std::string::npos);
}

// --- Blocks ---

TEST(program_text, the_blocks_of_a_line_are_those_that_have_any_of_it)
{
    const std::vector<std::uint32_t> lengths{4, 20, 0, 8, 16}; // from bytes 0, 16, 96, 96, 128 on; end 192
    const text_blocks blocks(lengths);
    EXPECT_EQ(blocks.bytes(), 192U);
    std::vector<std::uint16_t> words(lengths.size(), 0);
    constexpr std::uint64_t at = 0x40000000;
    program_text text(blocks, words.data(), at);
    text.left(2, at + 64, 64);
    EXPECT_EQ(words, (std::vector<std::uint16_t>{0, 2, 2, 2, 0}));
    text.left(1, at, 64);
    EXPECT_EQ(words, (std::vector<std::uint16_t>{1, 3, 2, 2, 0}));
    text.left(1, at + 192, 64); // behind the end
    EXPECT_EQ(words, (std::vector<std::uint16_t>{1, 3, 2, 2, 0}));
    EXPECT_EQ(text.address_of(64), 0x40000040U);
}

TEST(program_text, a_block_that_is_entered_is_there_for_that_core)
{
    const text_blocks blocks(std::vector<std::uint32_t>{4, 20});
    std::vector<std::uint16_t> words(2, 0xFFFF);
    program_text text(blocks, words.data(), 0);
    const program_text::part part = text.entered(&words[1], 4);
    EXPECT_EQ(part.begin, 16U);
    EXPECT_EQ(part.end, 96U);
    EXPECT_EQ(words[1], 0xFFFB);
    EXPECT_EQ(words[0], 0xFFFF);
    std::uint16_t elsewhere = 4;
    const program_text::part none = text.entered(&elsewhere, 4);
    EXPECT_EQ(none.begin, none.end);
}

} // namespace
} // namespace bulkhead::machine::test::fetch_test
