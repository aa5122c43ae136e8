// SPDX-License-Identifier: Apache-2.0
// Where the tables of a domain's stage 2 are, by its specification (X5): each table that a marked segment's
// walks read is in the memory that the manifest names, and no other is.
#include "hosted_machine.h"
#include "table_walk.h"
#include <gtest/gtest.h>
#include <set>

namespace table_memory_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t on_chip_pa = 0xFFFC0000;
constexpr uint64_t colored_pa = 0x4800C000; // color 6 of bits 15..13
constexpr uint64_t cached_walks = (1u << 8) | (1u << 10) | (3u << 12);

// Color 6, which no other owner has.
void give_colored(SampleManifest &m, uint64_t frames)
{
    m.header.tables.colored_pa = colored_pa;
    m.header.tables.colored_bytes = frames * BH_PAGE_BYTES;
    m.header.tables.colored_set = 3;
}

void give_on_chip(SampleManifest &m, uint64_t frames)
{
    m.header.tables.on_chip_pa = on_chip_pa;
    m.header.tables.on_chip_bytes = frames * BH_PAGE_BYTES;
}

std::vector<uint64_t> tables_on_the_way(uint32_t domain, uint64_t ipa)
{
    const stage2 &stage2 = domain_at(domain)->stage2;
    std::vector<uint64_t> tables{stage2.root.value};
    for (int level = 1; level < 3; level++) {
        const paddr_t table = paddr(tables.back());
        const auto *entries =
            static_cast<const uint64_t *>(pool_pointer(table_memory_holding(stage2.pool, table), table));
        const uint64_t descriptor = entries[ipa >> (12 + 9 * (3 - level)) & 511];
        if ((descriptor & 3) != 3) {
            break;
        }
        tables.push_back(descriptor & 0xFFFFFFFFF000);
    }
    return tables;
}

bool is_colored(uint64_t pa)
{
    return (pa >> 13 & 7) == 6;
}

bool is_on_chip(uint64_t pa)
{
    return pa >= on_chip_pa && pa < on_chip_pa + 0x40000;
}

TEST(TableMemory, X5_TablesOfAMarkedSegmentAreInColoredMemoryAndNoOthers)
{
    HostedMachine machine([](SampleManifest &m) {
        give_colored(m, 3);
        m.domains[1].table_memory = BH_TABLE_MEMORY_COLORED;
        m.segments[2].ipa = 0x40A00000; // level-3 tables of its own
        m.segments[2].flags = BH_SEGMENT_FLAG_TABLES_PLACED;
        m.images[1].ipa = 0x40700000;
    });
    ASSERT_TRUE(machine.booted());
    std::set<uint64_t> placed;
    for (uint64_t ipa = 0x40A00000; ipa < 0x40B00000; ipa += 4096) {
        const auto tables = tables_on_the_way(1, ipa);
        ASSERT_EQ(tables.size(), 3u);
        placed.insert(tables.begin(), tables.end());
    }
    EXPECT_EQ(placed.size(), 3u) << "what the planner counts";
    EXPECT_TRUE(std::ranges::all_of(placed, is_colored));
    for (uint64_t ipa = 0x40000000; ipa < 0x40800000; ipa += 0x200000) {
        const auto tables = tables_on_the_way(1, ipa);
        ASSERT_EQ(tables.size(), 3u);
        EXPECT_TRUE(is_colored(tables[0]) && is_colored(tables[1])) << "both need them";
        EXPECT_EQ(tables[2] >> 13 & 7, 7u) << "the hypervisor's color";
    }
    EXPECT_EQ(tables_on_the_way(0, 0x40000000)[0] >> 13 & 7, 7u) << "the other domain's";
    EXPECT_EQ(domain_at(1)->stage2.vtcr & cached_walks, cached_walks);
}

TEST(TableMemory, X5_AFaultMapsPagesThroughPlacedTables)
{
    HostedMachine machine([](SampleManifest &m) {
        give_colored(m, 6);
        m.domains[1].table_memory = BH_TABLE_MEMORY_COLORED;
        m.segments[1].flags = BH_SEGMENT_FLAG_TABLES_PLACED;
    });
    ASSERT_TRUE(machine.booted());
    machine.on_core(1);
    const stage2 &stage2 = domain_at(1)->stage2;
    for (uint64_t ipa : {0x40000000u, 0x407FF000u, 0x40800000u}) { // the last one is not marked
        EXPECT_EQ(walk(*stage2.pool, stage2.root, ipa).level, 0);
        machine.trap(esr_load(4, 0), ipa);
        EXPECT_EQ(walk(*stage2.pool, stage2.root, ipa).level, 3);
    }
}

TEST(TableMemory, X5_OnTheChipAreAllTablesAndWalksGoPastTheCaches)
{
    HostedMachine machine([](SampleManifest &m) {
        give_on_chip(m, 16);
        m.domains[1].table_memory = BH_TABLE_MEMORY_ON_CHIP;
    });
    ASSERT_TRUE(machine.booted());
    for (uint64_t ipa : {0x40000000u, 0x40800000u, 0x0A000000u}) { // the last one is a device
        EXPECT_TRUE(std::ranges::all_of(tables_on_the_way(1, ipa), is_on_chip));
    }
    machine.on_core(1);
    machine.trap(esr_load(4, 0), 0x40001000);
    EXPECT_EQ(walk(*domain_at(1)->stage2.pool, domain_at(1)->stage2.root, 0x40001000).level, 3);
    EXPECT_EQ(domain_at(1)->stage2.vtcr & cached_walks, 0u);
    EXPECT_EQ(system_status()->domains[1].vtcr, domain_at(1)->stage2.vtcr);
    EXPECT_EQ(domain_at(0)->stage2.vtcr & cached_walks, cached_walks);
    EXPECT_FALSE(is_on_chip(tables_on_the_way(0, 0x40000000)[0]));
}

TEST(TableMemory, X5_WalksThroughTablesOnTheChipUseTheCachesWhereTheManifestSaysSo)
{
    HostedMachine machine([](SampleManifest &m) {
        give_on_chip(m, 16);
        m.header.tables.on_chip_cached = 1;
        m.domains[1].table_memory = BH_TABLE_MEMORY_ON_CHIP;
    });
    EXPECT_EQ(domain_at(1)->stage2.vtcr & cached_walks, cached_walks);
    EXPECT_TRUE(is_on_chip(tables_on_the_way(1, 0x40000000)[0]));
}

TEST(TableMemory, X5_WhoNeedsMoreThanThereIsDoesNotStart)
{
    HostedMachine colored([](SampleManifest &m) {
        give_colored(m, 2); // and three are needed
        m.domains[1].table_memory = BH_TABLE_MEMORY_COLORED;
        m.segments[2].flags = BH_SEGMENT_FLAG_TABLES_PLACED;
    });
    EXPECT_FALSE(colored.booted());
    HostedMachine on_chip([](SampleManifest &m) {
        give_on_chip(m, 3);
        m.domains[1].table_memory = BH_TABLE_MEMORY_ON_CHIP;
    });
    EXPECT_FALSE(on_chip.booted());
}

TEST(TableMemory, X5_NothingIsTakenOnceTheSystemRuns)
{
    HostedMachine machine([](SampleManifest &m) {
        give_on_chip(m, 32);
        m.domains[1].table_memory = BH_TABLE_MEMORY_ON_CHIP;
    });
    paddr_t frame;
    EXPECT_FALSE(pool_allocate(domain_at(1)->stage2.pool, &frame));
}

} // namespace
} // namespace table_memory_test
