// SPDX-License-Identifier: Apache-2.0
// The PL310's registers on a shared level: off at reset, lockdown by way and master while it runs, and
// maintenance by line, index and way (DDI 0246H).
#include <gtest/gtest.h>

#include "machine/devices/pl310.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::pl310_test {
namespace {

using machine::test::for_ever;
using machine::test::make_machine;

constexpr std::uint64_t control = 0x100, sync_register = 0x730, invalidate_ways = 0x77C, clean_line = 0x7B0;
constexpr std::uint64_t flush_index = 0x7F8, flush_ways = 0x7FC, lock_data = 0x900, lock_code = 0x904;
constexpr std::uint64_t way_bytes = 64 * 1024;
constexpr std::uint32_t all_ways = 0xFF;

// Two cores whose L1 has one set, before 512 KiB in 8 ways as a Zynq has them.
class pl310_test : public testing::Test {
protected:
    pl310_test() : machine_(make_machine(like_zynq()))
    {
        cache_ = std::make_unique<pl310>(*machine_, 0,
                                         [this](std::string_view name) { missing_.emplace_back(name); });
    }

    static settings like_zynq()
    {
        settings all = machine::test::small_machine(2);
        for (core_settings &one : all.cores) {
            one.l1d = {.size_bytes = 64, .ways = 2, .line_bytes = 32, .policy = replacement::lru};
        }
        all.levels[0].cache = {
            .size_bytes = 512 * 1024, .ways = 8, .line_bytes = 32, .policy = replacement::lru};
        return all;
    }

    void run(const std::function<void(core &)> &body, std::uint32_t on = 0)
    {
        machine_->core_at({on}).start(body);
        machine_->timeline().run(for_ever);
    }
    // A line of set 5; `number` selects one of those that map to this set.
    static phys_addr line(std::uint64_t number) { return phys_addr{number * way_bytes + 5 * 32}; }
    static void touch(core &own, std::uint64_t number, access_kind kind = access_kind::read)
    {
        own.access(line(number), 4, kind);
        own.access(phys_addr{0x10'0000 + 6 * 32}, 4, access_kind::read); // dirty lines leave L1
        own.access(phys_addr{0x18'0000 + 7 * 32}, 4, access_kind::read);
    }
    [[nodiscard]] bool has(std::uint64_t number) const
    {
        return machine_->memory().level(0).storage().contains(line(number));
    }

    std::unique_ptr<simulated_machine> machine_;
    std::unique_ptr<pl310> cache_;
    std::vector<std::string> missing_;
};

TEST_F(pl310_test, is_off_at_reset_and_holds_nothing_until_it_is_on)
{
    run([&](core &own) {
        EXPECT_EQ(cache_->read({0}, control), 0U);
        touch(own, 1);
        EXPECT_FALSE(has(1));
        cache_->write({0}, control, 1);
        touch(own, 2);
        EXPECT_TRUE(has(2));
        cache_->write({0}, control, 0);
        touch(own, 3);
        EXPECT_FALSE(has(3));
        EXPECT_TRUE(has(2)) << "what it holds stays";
    });
}

TEST_F(pl310_test, a_locked_way_keeps_its_lines_however_many_others_come)
{
    run([&](core &own) {
        cache_->write({0}, control, 1);
        for (const std::uint64_t offset : {lock_data, lock_code}) {
            cache_->write({0}, offset, all_ways & ~1U); // all but way 0
        }
        touch(own, 0);
        for (const std::uint64_t offset : {lock_data, lock_code}) {
            cache_->write({0}, offset, 1); // way 0 only
        }
        EXPECT_EQ(cache_->read({0}, lock_data), 1U);
        touch(own, 1);
        for (std::uint64_t number = 2; number < 40; ++number) {
            touch(own, number);
        }
        EXPECT_TRUE(has(0));
        EXPECT_FALSE(has(1)) << "which lay in no locked way";
        const std::uint64_t reads = machine_->memory().counts().line_reads;
        touch(own, 0);
        EXPECT_EQ(machine_->memory().counts().line_reads, reads) << "and it is hit";
    });
}

TEST_F(pl310_test, lockdown_is_of_a_master_and_of_data_or_instructions)
{
    run([&](core &own) {
        cache_->write({0}, control, 1);
        cache_->write({0}, lock_data, all_ways);
        touch(own, 1);
        EXPECT_FALSE(has(1)) << "all ways: nothing of this core's data takes a place";
        own.walk_read(line(2), walk_path::l2);
        EXPECT_FALSE(has(2)) << "nor its walks";
        own.fetch(line(3), nullptr, 0);
    });
    run([&](core &own) { touch(own, 4); }, 1);
    EXPECT_TRUE(has(4)) << "the other core's does";
}

TEST_F(pl310_test, dirty_lines_without_a_place_go_to_memory)
{
    run([&](core &own) {
        cache_->write({0}, control, 1);
        cache_->write({0}, lock_data, all_ways);
        const std::uint64_t written = machine_->memory().counts().line_writes;
        touch(own, 1, access_kind::write);
        touch(own, 2, access_kind::write);
        EXPECT_GE(machine_->memory().counts().line_writes, written + 1);
        EXPECT_FALSE(has(1));
    });
}

TEST_F(pl310_test, maintenance_by_line_index_and_way)
{
    run([&](core &own) {
        cache_->write({0}, control, 1);
        touch(own, 1, access_kind::write);
        touch(own, 2, access_kind::write);
        touch(own, 3);
        own.flush(phys_addr{0}, byte_count{4 * way_bytes}); // L1 no longer has any of these lines
        const std::uint64_t before = machine_->memory().counts().line_writes;
        cache_->write({0}, clean_line, static_cast<std::uint32_t>(line(1).value));
        EXPECT_EQ(machine_->memory().counts().line_writes, before + 1);
        EXPECT_TRUE(has(1));
        cache_->write({0}, clean_line, static_cast<std::uint32_t>(line(1).value));
        EXPECT_EQ(machine_->memory().counts().line_writes, before + 1) << "it is clean";
        for (std::uint32_t way = 0; way < 8; ++way) {
            cache_->write({0}, flush_index, way << 28U | 5U << 5U);
        }
        EXPECT_EQ(machine_->memory().counts().line_writes, before + 2);
        EXPECT_FALSE(has(1) || has(2) || has(3));
        touch(own, 4, access_kind::write);
        cache_->write({0}, flush_ways, all_ways);
        EXPECT_FALSE(has(4));
        EXPECT_EQ(cache_->read({0}, flush_ways), all_ways) << "in the background";
        own.spend(picoseconds{1'000'000'000});
        EXPECT_EQ(cache_->read({0}, flush_ways), 0U);
        cache_->write({0}, sync_register, 0);
        cache_->write({0}, invalidate_ways, all_ways);
    });
}

TEST_F(pl310_test, says_once_what_is_not_modelled)
{
    cache_->write({0}, 0x950, 1);
    cache_->write({0}, 0x950, 0);
    EXPECT_EQ(missing_, std::vector<std::string>{"PL310 lockdown by line"});
}

TEST_F(pl310_test, says_how_large_it_is)
{
    EXPECT_EQ(cache_->read({0}, 0x104) >> 16U & 0xFU, 3U << 1U) << "eight ways of 64 KiB";
    EXPECT_EQ(cache_->read({0}, 0) >> 24U, 0x41U);
}

} // namespace
} // namespace bulkhead::machine::devices::pl310_test
