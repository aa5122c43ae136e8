// SPDX-License-Identifier: Apache-2.0
// Devices that master memory: the SMMU's hits, misses and walks in exact numbers, and the limits of a device.
#include "machine/devices/bus_master.h"

#include <gtest/gtest.h>

#include "machine/address_space.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::bus_master_test {
namespace {

constexpr std::uint64_t mapped = 4U << 20U; // where the device sees its memory
constexpr std::uint64_t page = 4096;

// Gives pieces from a list, and then nothing for ever.
class listed_traffic final : public bus_traffic {
public:
    explicit listed_traffic(std::vector<traffic_piece> pieces) : pieces_(std::move(pieces)) {}
    traffic_piece next(picoseconds) override
    {
        return at_ < pieces_.size() ? pieces_[at_++]
                                    : traffic_piece{mapped, 64, access_kind::read, machine::test::for_ever};
    }

private:
    std::vector<traffic_piece> pieces_;
    std::size_t at_ = 0;
};

class bus_master_test : public testing::Test {
protected:
    std::unique_ptr<simulated_machine> machine = machine::test::make_machine(machine::test::small_machine(1));
    std::unique_ptr<address_space> space;
    std::unique_ptr<smmu> unit;
    std::unique_ptr<listed_traffic> traffic;
    std::unique_ptr<bus_master> device;

    void make_smmu(bool blocks, std::uint32_t tlb_entries, std::uint32_t main_entries, std::uint32_t tables)
    {
        space_settings wanted;
        wanted.blocks = blocks;
        wanted.pieces = {{mapped, 8U << 20U, 4U << 20U}};
        wanted.instructions = mapped;
        for (std::uint64_t i = 0; i < 32; ++i) {
            wanted.frames.push_back((32U << 20U) + i * page);
        }
        space = std::make_unique<address_space>(machine::test::expect_made(address_space::make(wanted)));
        unit = machine::test::expect_made(
            smmu::make({.tlb = {.entries = tlb_entries},
                        .main = {.entries = main_entries},
                        .walk_cache = {.entries = tables},
                        .hit = {},
                        .request = {40'000}},
                       space->regime().stage2,
                       {.timeline = machine->timeline(),
                        .memory = machine->memory(),
                        .way = {{}, 0},
                        .owner = {1},
                        .descriptor = [this](phys_addr at) { return space->read(at); }}));
    }
    void run(std::vector<traffic_piece> pieces, bus_master::settings wanted = {.line = {4'000}},
             picoseconds until = {50'000'000})
    {
        traffic = std::make_unique<listed_traffic>(std::move(pieces));
        device =
            std::make_unique<bus_master>(wanted, bus_master::surroundings{.timeline = machine->timeline(),
                                                                          .memory = machine->memory(),
                                                                          .way = {{}, 0},
                                                                          .owner = {1},
                                                                          .traffic = *traffic,
                                                                          .translation = unit.get()});
        device->start({});
        machine->timeline().run(until);
    }
    static traffic_piece read_of_page(std::uint64_t number)
    {
        return {mapped + number * page, 64, access_kind::read};
    }
};

TEST_F(bus_master_test, a_walk_reads_each_level_once)
{
    make_smmu(false, 4, 0, 0);
    run({read_of_page(0)});
    EXPECT_EQ(unit->counts().misses, 1U);
    EXPECT_EQ(unit->counts().reads, 3U);
}

TEST_F(bus_master_test, a_block_needs_one_read_less)
{
    make_smmu(true, 4, 0, 0);
    run({read_of_page(0), read_of_page(300)});
    EXPECT_EQ(unit->counts().misses, 1U);
    EXPECT_EQ(unit->counts().reads, 2U);
}

TEST_F(bus_master_test, the_walk_cache_leaves_the_last_read)
{
    make_smmu(false, 4, 0, 4);
    run({read_of_page(0), read_of_page(1)});
    EXPECT_EQ(unit->counts().walks, 2U);
    EXPECT_EQ(unit->counts().reads, 3U + 1U);
}

TEST_F(bus_master_test, the_least_recently_used_entry_is_replaced)
{
    make_smmu(false, 2, 0, 4);
    run({read_of_page(0), read_of_page(1), read_of_page(0), read_of_page(2), read_of_page(0),
         read_of_page(1)});
    EXPECT_EQ(unit->counts().lookups, 6U);
    EXPECT_EQ(unit->counts().misses, 4U); // 0, 1, 2, and 1 again
}

TEST_F(bus_master_test, the_main_tlb_saves_the_walk)
{
    make_smmu(false, 1, 8, 4);
    run({read_of_page(0), read_of_page(1), read_of_page(0), read_of_page(1)});
    EXPECT_EQ(unit->counts().misses, 4U);
    EXPECT_EQ(unit->counts().walks, 2U);
}

TEST_F(bus_master_test, a_walk_takes_the_time_of_its_reads_one_after_the_other)
{
    make_smmu(false, 4, 0, 0);
    run({read_of_page(0)});
    const std::uint64_t walk = unit->counts().walk_time.value;
    const std::uint64_t on_the_way = 3 * (10'000 + 10'000 + 10'000 + 10'000); // interconnect, controller
    EXPECT_GT(walk, 40'000 + on_the_way + 3 * 15 * 937);                      // and at least CL for each
    EXPECT_LT(walk, 40'000 + on_the_way + 3 * 100'000);
}

TEST_F(bus_master_test, an_address_without_a_mapping_is_a_fault_and_moves_nothing)
{
    make_smmu(false, 4, 4, 4);
    run({{mapped + (64U << 20U), 64, access_kind::write}, read_of_page(0)});
    EXPECT_EQ(device->counts().faults, 1U);
    EXPECT_EQ(device->counts().bytes_written, 0U);
    EXPECT_EQ(device->counts().bytes_read, 64U);
}

TEST_F(bus_master_test, no_more_reads_are_in_flight_than_are_allowed)
{
    run({{8U << 20U, page, access_kind::read}}, {.line = {1}, .outstanding_lines = 5});
    EXPECT_EQ(device->counts().most_in_flight, 5U);
    EXPECT_EQ(device->counts().bytes_read, page);
}

TEST_F(bus_master_test, the_rate_of_the_device_is_kept)
{
    std::vector<traffic_piece> pieces(1'000, {8U << 20U, page, access_kind::write});
    run(pieces, {.line = {1}, .rate_bytes_per_s = 640'000'000}, {10'000'000}); // a line in 100 ns
    EXPECT_EQ(device->counts().bytes_written, 100 * 64U);
}

TEST(network_traffic_test, packets_beyond_the_ring_are_lost)
{
    network_traffic packets({.ring = 0,
                             .buffers = page,
                             .buffer_count = 4,
                             .packet_bytes = 1000,
                             .line_rate_bytes_per_s = 1'000'000'000}); // a packet in 1 us
    EXPECT_EQ(packets.next({}).not_before.value, 1'000'000U);
    EXPECT_EQ(packets.next({1'000'000}).bytes, 1000U);
    EXPECT_EQ(packets.next({1'000'000}).kind, access_kind::write);
    packets.next({11'000'000}); // ten more have come, of which the last four wait
    EXPECT_EQ(packets.dropped(), 6U);
}

} // namespace
} // namespace bulkhead::machine::devices::bus_master_test
