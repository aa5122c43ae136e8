// SPDX-License-Identifier: Apache-2.0
// C5, machine S2: every policy and many geometries against the naive reference, on random mixes of reads,
// writes and write-backs of several owners. Seeds are fixed: a failure repeats.
#include "machine/cache.h"

#include "make.h"
#include "reference_cache.h"

namespace bulkhead::machine::test::cache_property_test {

namespace {

constexpr std::size_t owner_count = 4;

struct setup {
    std::uint32_t sets;
    std::uint32_t ways;
    std::uint64_t line;
    replacement policy;
};

std::string name_of(const testing::TestParamInfo<setup> &info)
{
    return std::string(replacement_name(info.param.policy)) + "_" + std::to_string(info.param.sets) +
           "sets_" + std::to_string(info.param.ways) + "ways_" + std::to_string(info.param.line) + "B";
}

bool same(const std::optional<displaced> &one, const std::optional<displaced> &other)
{
    return one.has_value() == other.has_value() &&
           (!one || (one->owner == other->owner && one->dirty == other->dirty && one->line == other->line));
}

void expect_same_statistics(const cache_statistics &model, reference_cache &reference)
{
    for (std::uint8_t id = 0; id < owner_count; ++id) {
        const owner_id owner{id};
        EXPECT_EQ(model.of(owner).accesses.get(), reference.accesses[owner]);
        EXPECT_EQ(model.of(owner).misses.get(), reference.misses[owner]);
        EXPECT_EQ(model.of(owner).received.get(), reference.received[owner]);
        EXPECT_EQ(model.of(owner).received_misses.get(), reference.received_misses[owner]);
        EXPECT_EQ(model.of(owner).write_backs.get(), reference.write_backs[owner]);
        std::uint64_t by_others = 0;
        for (std::uint8_t other = 0; other < owner_count; ++other) {
            const std::uint64_t lines = reference.evicted[{owner, owner_id{other}}];
            EXPECT_EQ(model.evicted(owner, owner_id{other}).get(), lines);
            by_others += other == id ? 0 : lines;
        }
        EXPECT_EQ(model.evicted_by_others(owner), by_others);
    }
}

class C5CacheAgainstReference : public testing::TestWithParam<setup> {};

TEST_P(C5CacheAgainstReference, SameHitsVictimsAndCounts)
{
    const auto [sets, ways, line, policy] = GetParam();
    cache model = make_cache(geometry(line * ways * sets, ways, line), policy, owner_count, 42);
    reference_cache reference(sets, ways, line, policy, 42);
    random_source random(sets * 1000 + ways);
    // Four times as many lines as fit, in four pages of owners; every fourth access stays near the previous
    // one.
    const std::uint32_t lines = 4 * sets * ways;
    std::uint32_t number = 0;
    for (int step = 0; step < 20000; ++step) {
        number = random.below(4) == 0 ? (number + random.below(2)) % lines : random.below(lines);
        const std::uint64_t address = number * line + random.below(static_cast<std::uint32_t>(line));
        const owner_id owner{static_cast<std::uint8_t>(number % owner_count)};
        const std::uint32_t what = random.below(8);
        if (what == 0) {
            const auto victim = model.receive({phys_addr{address}, owner});
            ASSERT_TRUE(same(victim, reference.receive(address, owner))) << "step " << step;
        } else {
            const bool write = what < 3;
            const auto outcome =
                model.access(phys_addr{address}, owner, write ? access_kind::write : access_kind::read);
            const auto expected = reference.access(address, owner, write);
            ASSERT_EQ(outcome.hit, expected.hit) << "step " << step;
            ASSERT_TRUE(same(outcome.victim, expected.victim)) << "step " << step;
        }
    }
    expect_same_statistics(model.statistics(), reference);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, C5CacheAgainstReference,
    testing::Values(setup{1, 1, 64, replacement::lru}, setup{4, 4, 64, replacement::lru},
                    setup{8, 3, 32, replacement::lru}, setup{2, 64, 16, replacement::lru},
                    setup{16, 16, 64, replacement::lru}, setup{1, 1, 64, replacement::tree_plru},
                    setup{4, 2, 64, replacement::tree_plru}, setup{8, 8, 128, replacement::tree_plru},
                    setup{2, 64, 64, replacement::tree_plru}, setup{1, 1, 4, replacement::random},
                    setup{4, 4, 64, replacement::random}, setup{8, 12, 64, replacement::random},
                    setup{16, 16, 64, replacement::random}),
    name_of);

TEST(C5CacheDeterminism, SameSeedSameEvictionsAnotherSeedOthers)
{
    const auto missed = [](std::uint64_t seed) {
        cache model = make_cache(geometry(4096, 8, 64), replacement::random, owner_count, seed);
        std::vector<bool> hits;
        random_source random(7);
        for (int step = 0; step < 5000; ++step) {
            hits.push_back(
                model.access(phys_addr{std::uint64_t{random.below(128)} * 64}, first, access_kind::read).hit);
        }
        return hits;
    };
    EXPECT_EQ(missed(1), missed(1));
    EXPECT_NE(missed(1), missed(2));
}

TEST(C5CacheDeterminism, RandomReplacementUsesAllWaysAboutEvenly)
{
    // One full set of 8 ways; each new line evicts a random old one: the age of victims is geometric with a
    // mean of 8 replacements. 16,000 draws have a standard error of 0.06.
    cache model = make_cache(geometry(8 * 64, 8, 64), replacement::random);
    std::uint64_t total_age = 0;
    constexpr std::uint64_t draws = 16000;
    for (std::uint64_t line = 0; line < draws + 8; ++line) {
        if (const auto victim = model.fill(phys_addr{line * 64}, first, access_kind::read)) {
            total_age += line - victim->line.value / 64;
        }
    }
    EXPECT_NEAR(static_cast<double>(total_age) / draws, 8.0, 0.3);
}

} // namespace

} // namespace bulkhead::machine::test::cache_property_test
