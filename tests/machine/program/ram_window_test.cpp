// SPDX-License-Identifier: Apache-2.0
// Simulated RAM and windows on it: a page of a window is a frame, so a write through one window is read
// through another and seen by the machine; impossible mappings are refused before anything changes. Issue 4,
// S1.
#include "machine/program/window.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::machine::ram_window_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

ram make_ram(std::vector<memory_range> ranges = {{{0x40000000}, {64 * mib}}})
{
    return std::get<ram>(ram::make(ranges));
}

window make_window(const ram &memory, std::uint64_t first = 0x80000, std::uint64_t bytes = mib)
{
    return std::get<window>(window::make(memory, {first, {bytes}, {16 * kib}, {16 * kib}}));
}

std::string reason(const std::optional<refusal> &what)
{
    return what ? what->reason : "";
}

TEST(ram, is_zero_and_found_by_physical_address)
{
    const ram memory = make_ram({{{0x1000}, {0x2000}}, {{0x100000}, {0x1000}}});
    EXPECT_EQ(memory.bytes({0x1ffc}, {8}).size(), 8U);
    EXPECT_EQ(memory.bytes({0x100ffc}, {4})[3], std::byte{0});
    EXPECT_TRUE(memory.bytes({0x2ffc}, {8}).empty()) << "beyond the end of the first range";
    EXPECT_TRUE(memory.bytes({0}, {1}).empty());
    EXPECT_TRUE(memory.bytes({0x1000}, {~std::uint64_t{0}}).empty());
}

TEST(ram, refuses_ranges_that_make_no_sense)
{
    const std::vector<std::vector<memory_range>> bad = {
        {},
        {{{0x1000}, {0}}},
        {{{0x1001}, {0x1000}}},
        {{{0x1000}, {0x1001}}},
        {{{0x1000}, {0x2000}}, {{0x2000}, {0x1000}}},
        {{{~std::uint64_t{0xfff}}, {0x2000}}},
    };
    for (const auto &ranges : bad) {
        EXPECT_TRUE(std::holds_alternative<refusal>(ram::make(ranges)));
    }
}

TEST(window, two_windows_that_map_the_same_frame_share_its_bytes)
{
    const ram memory = make_ram();
    window one = make_window(memory);
    window other = make_window(memory, 0);
    ASSERT_EQ(reason(one.map({{{0x80000, {0x40004000}, {0x2000}}}}, {})), "");
    ASSERT_EQ(reason(other.map({{{0x3000, {0x40005000}, {0x1000}}}}, {})), "");
    std::memcpy(one.host(0x81010), "moved", 6);
    EXPECT_STREQ(reinterpret_cast<const char *>(other.host(0x3010)), "moved");
    EXPECT_STREQ(reinterpret_cast<const char *>(memory.bytes({0x40005010}, {6}).data()), "moved");
    EXPECT_EQ(other.translate(0x3010), phys_addr{0x40005010});
    EXPECT_EQ(other.translate(0x4000), std::nullopt);
}

TEST(window, a_page_can_be_replaced_unmapped_and_protected)
{
    const ram memory = make_ram();
    window space = make_window(memory);
    ASSERT_EQ(reason(space.map({{{0x80000, {0x40000000}, {0x4000}}}}, {})), "");
    memory.bytes({0x40009000}, {1})[0] = std::byte{7};
    ASSERT_EQ(reason(space.map({{{0x81000, {0x40009000}, {0x1000}}}}, {.writable = false})), "");
    EXPECT_EQ(*space.host(0x81000), std::byte{7});
    EXPECT_EQ(space.translate(0x82000), phys_addr{0x40002000});
    space.unmap(0x81000, {0x1000});
    EXPECT_EQ(space.translate(0x81000), std::nullopt);
    EXPECT_EQ(space.translate(0x80fff), phys_addr{0x40000fff});
}

TEST(window, counts_host_mappings_as_contiguous_runs)
{
    const ram memory = make_ram();
    const std::uint64_t before = window::host_mappings();
    {
        window space = make_window(memory);
        // Two of four colors: pieces of 8 KiB every 16 KiB.
        std::vector<mapping_run> runs;
        for (std::uint64_t i = 0; i < 16; ++i) {
            runs.push_back({0x80000 + i * 0x2000, {0x40000000 + i * 0x4000}, {0x2000}});
        }
        ASSERT_EQ(reason(space.map(runs, {})), "");
        EXPECT_EQ(
            window::host_mappings() - before,
            17U); // and the annex, without its unmapped pages The same frames without gaps are one mapping.
        ASSERT_EQ(
            reason(space.map({{{0x80000, {0x40000000}, {0x10000}}, {0x90000, {0x40010000}, {0x10000}}}}, {})),
            "");
        EXPECT_EQ(window::host_mappings() - before, 2U);
    }
    EXPECT_EQ(window::host_mappings(), before);
}

TEST(window, more_pieces_than_the_host_maps_are_refused_beforehand)
{
    const ram memory = make_ram({{{0}, {1024 * mib}}});
    window space = make_window(memory, 0, 512 * mib);
    ASSERT_EQ(reason(space.map({{{0, {0x1000}, {0x1000}}}}, {})), "");
    std::vector<mapping_run> runs;
    for (std::uint64_t i = 0; i < 512 * mib / page_bytes; ++i) {
        runs.push_back({i * page_bytes, {i * 2 * page_bytes}, {page_bytes}});
    }
    EXPECT_THAT(reason(space.map(runs, {})), HasSubstr("the host maps"));
    EXPECT_EQ(space.translate(0), phys_addr{0x1000}) << "as it was before";
    EXPECT_EQ(space.translate(0x1000), std::nullopt);
}

TEST(window, refuses_runs_outside_of_window_or_memory)
{
    const ram memory = make_ram();
    window space = make_window(memory);
    EXPECT_THAT(reason(space.map({{{0x7f000, {0x40000000}, {0x1000}}}}, {})),
                HasSubstr("outside of the window"));
    EXPECT_THAT(reason(space.map({{{0x17f000, {0x40000000}, {0x2000}}}}, {})),
                HasSubstr("outside of the window"));
    EXPECT_THAT(reason(space.map({{{0x80000, {0x3ffff000}, {0x1000}}}}, {})), HasSubstr("not memory"));
    EXPECT_THAT(reason(space.map({{{0x80000, {0x40000800}, {0x1000}}}}, {})), HasSubstr("not whole pages"));
    // The first of two is valid, and yet nothing is mapped.
    EXPECT_NE(reason(space.map({{{0x80000, {0x40000000}, {0x1000}}, {0, {0x40000000}, {0x1000}}}}, {})), "");
    EXPECT_EQ(space.translate(0x80000), std::nullopt);
}

TEST(window, annexes_have_the_frames_of_what_they_stand_for_also_later)
{
    const ram memory = make_ram();
    window space = make_window(memory);
    const std::byte *stack = space.host(0x80000 + mib);
    space.stand_for(stack, {0x2000}, 0x90000);
    const auto entry = [&] { return space.view().entries[(stack - space.host(0x80000)) / 4096 + 4 + 1]; };
    EXPECT_FALSE(page::valid(entry()));
    ASSERT_EQ(reason(space.map({{{0x91000, {0x40003000}, {0x1000}}}}, {})), "");
    EXPECT_EQ(page::frame(entry()), phys_addr{0x40003000});
    EXPECT_EQ(space.ipa_of(reinterpret_cast<std::uint64_t>(stack) + 0x1008), 0x91008U);
    space.unmap(0x90000, {0x2000});
    EXPECT_FALSE(page::valid(entry()));
}

TEST(window, writes_through_its_map_and_says_where_there_is_none)
{
    const ram memory = make_ram();
    window space = make_window(memory);
    ASSERT_EQ(reason(space.map({{{0x80000, {0x40001000}, {0x1000}}, {0x81000, {0x40000000}, {0x1000}}}},
                               {.writable = false})),
              "");
    const std::vector<std::byte> data(4, std::byte{5});
    EXPECT_TRUE(space.write(0x80ffe, data));
    EXPECT_EQ(memory.bytes({0x40000000}, {4})[1], std::byte{5});
    EXPECT_EQ(memory.bytes({0x40001ffe}, {2})[0], std::byte{5});
    EXPECT_FALSE(space.write(0x81ffe, data));
}

} // namespace
} // namespace bulkhead::machine::ram_window_test
