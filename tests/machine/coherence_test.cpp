// SPDX-License-Identifier: Apache-2.0
// Coherence between clusters, and with masters that have no cache, as AMBA ACE defines it (IHI 0022,
// ACE-Lite): a ReadOnce is served by a cluster that has the line, and that cluster keeps it; a WriteUnique
// removes it from all clusters, after newer contents have been written to memory, a WriteLineUnique without
// that; a line that another cluster has comes from there.
#include <gtest/gtest.h>

#include <functional>

#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test::coherence_test {
namespace {

constexpr phys_addr line{0x4000};
constexpr owner_id owner{2};
constexpr picoseconds later{10'000'000}; // all earlier requests of memory have been answered

settings two_clusters()
{
    settings all = small_machine(4);
    all.levels.push_back(all.levels[0]);
    all.masters = {{.name = "a", .request_ps = 40'000, .answer_ps = 40'000},
                   {.name = "b", .request_ps = 40'000, .answer_ps = 40'000},
                   {.name = "dma", .request_ps = 40'000, .answer_ps = 40'000}};
    for (std::size_t n = 0; n < 2; ++n) {
        level_settings &level = all.levels[n];
        level.name = n == 0 ? "l2-a" : "l2-b";
        level.snooped_hit_ps = 10'833; // 13, 16 and 6 cycles
        level.snooped_above_ps = 13'333;
        level.snooped_miss_ps = 5'000;
    }
    for (std::size_t n = 0; n < 4; ++n) {
        all.cores[n].path = {n < 2 ? "l2-a" : "l2-b"};
        all.cores[n].master = n < 2 ? "a" : "b";
    }
    all.coherence = {.snoop_ps = 20'000, .speculative = false};
    return all;
}

class coherence : public testing::Test {
protected:
    std::unique_ptr<simulated_machine> machine = make_machine(two_clusters());
    asker dma;
    const route way{{}, 2};
    static line_request of_dma(access_kind kind) { return {line, kind, owner, 2}; }

    core &at(std::uint32_t n) { return machine->core_at({n}); }
    void run() { machine->timeline().run(for_ever); }
    void use(std::uint32_t n, access_kind kind, phys_addr where = line)
    {
        at(n).start([=](core &own) { own.access(where, 8, kind); });
        run();
    }
    // As many other lines as L1 has ways evict it.
    void push_out_of_l1(std::uint32_t n)
    {
        at(n).start([](core &own) {
            for (std::uint64_t i = 1; i <= 8; ++i) {
                own.access(phys_addr{line.value + i * 8192}, 8, access_kind::read);
            }
        });
        run();
        ASSERT_FALSE(at(n).l1d().contains(line));
    }
    // At a time of its own, as an event of the engine.
    void device(const std::function<void()> &does)
    {
        machine->timeline().at(machine->timeline().now() + later, does);
        run();
    }
    memory_system::reply read_once()
    {
        memory_system::reply told{};
        device([&] {
            asked_ = machine->timeline().now();
            told = machine->memory().fetch_past(way, of_dma(access_kind::read), dma, asked_, true);
        });
        return told;
    }
    void write(bool whole)
    {
        device([&] {
            machine->memory().write_coherent(of_dma(access_kind::write), whole, machine->timeline().now());
        });
    }
    [[nodiscard]] bool is_anywhere()
    {
        bool found = false;
        for (std::uint32_t n = 0; n < 4; ++n) {
            found = found || at(n).holds(line);
        }
        return found || machine->memory().level(0).storage().contains(line) ||
               machine->memory().level(1).storage().contains(line);
    }
    [[nodiscard]] const memory_counts &counts() const { return machine->memory().counts(); }

    picoseconds asked_{};
};

TEST_F(coherence, a_read_of_a_device_is_served_from_a_cluster_that_has_the_line_and_keeps_it)
{
    use(0, access_kind::write);
    machine->memory().level(0).storage().invalidate(line); // only L1 has it
    const std::uint64_t reads = counts().line_reads;
    const memory_system::reply from_l1 = read_once();
    ASSERT_EQ(from_l1.how, memory_system::reply::state::known);
    const std::uint64_t took_l1 = from_l1.value - asked_.value;
    EXPECT_TRUE(at(0).l1d().contains(line));
    EXPECT_EQ(counts().line_reads, reads);
    push_out_of_l1(0);
    const std::uint64_t more = counts().line_reads;
    const memory_system::reply from_l2 = read_once();
    ASSERT_EQ(from_l2.how, memory_system::reply::state::known);
    EXPECT_TRUE(machine->memory().level(0).storage().contains(line));
    EXPECT_EQ(counts().line_reads, more);
    // Cortex-A53 TRM, table 7-9: 16 cycles where L1 has it, 13 where L2 has, at 1.2 GHz.
    EXPECT_NEAR(static_cast<double>(took_l1 - (from_l2.value - asked_.value)), 3 * 833.3, 1);
}

TEST_F(coherence, a_read_of_a_device_that_nobody_has_is_memorys)
{
    const memory_system::reply told = read_once();
    EXPECT_EQ(told.how, memory_system::reply::state::coming);
    EXPECT_TRUE(dma.came);
    EXPECT_EQ(counts().line_reads, 1U);
}

// CCI-400 TRM (DDI 0470), 2.3: memory was read in parallel, unnecessarily; on a miss no time is lost.
TEST_F(coherence, what_is_fetched_in_parallel_costs_memory_a_read_and_saves_the_wait_for_the_answer)
{
    const memory_system::reply waits = read_once();
    const std::uint64_t with_snoop = dma.came->value - asked_.value;
    EXPECT_EQ(waits.how, memory_system::reply::state::coming);

    settings wanted = two_clusters();
    wanted.coherence.speculative = true;
    machine = make_machine(wanted);
    dma.came.reset();
    read_once();
    ASSERT_TRUE(dma.came);
    EXPECT_LT(dma.came->value - asked_.value, with_snoop);
    use(0, access_kind::write);
    const std::uint64_t reads = counts().line_reads;
    EXPECT_EQ(read_once().how, memory_system::reply::state::known);
    EXPECT_EQ(counts().line_reads, reads + 1);
}

TEST_F(coherence, a_whole_line_that_a_device_writes_leaves_all_caches_and_nobody_writes_it_back)
{
    use(0, access_kind::write);
    push_out_of_l1(0); // into L2
    use(1, access_kind::read);
    ASSERT_TRUE(is_anywhere());
    const std::uint64_t writes = counts().line_writes;
    write(true);
    EXPECT_FALSE(is_anywhere());
    EXPECT_EQ(counts().line_writes, writes + 1);
    const std::uint64_t reads = counts().line_reads;
    use(0, access_kind::read);
    EXPECT_EQ(counts().line_reads, reads + 1) << "the core sees what was written: it is in memory";
}

TEST_F(coherence, a_part_of_a_line_that_a_device_writes_follows_what_a_cache_had_not_written_back)
{
    use(2, access_kind::write); // in L1 of the other cluster
    const std::uint64_t writes = counts().line_writes;
    write(false);
    EXPECT_FALSE(is_anywhere());
    EXPECT_EQ(counts().line_writes, writes + 2);
}

TEST_F(coherence, what_is_not_coherent_asks_nobody)
{
    use(0, access_kind::write);
    device([&] {
        const picoseconds now = machine->timeline().now();
        EXPECT_EQ(machine->memory().fetch_past(way, of_dma(access_kind::read), dma, now, false).how,
                  memory_system::reply::state::coming);
        machine->memory().write_past(way, of_dma(access_kind::write), now, true);
    });
    EXPECT_TRUE(at(0).l1d().contains(line));
    EXPECT_EQ(counts().snoop_hits, 0U);
}

// --- Between clusters ---

class shared_line : public coherence {
protected:
    void SetUp() override { machine->share(phys_addr{0}, {1 << 20}, true); }

    // How long a core's access takes, in ps.
    std::uint64_t time_of(std::uint32_t n, access_kind kind)
    {
        std::uint64_t took = 0;
        at(n).start([&](core &own) {
            own.spend(later);
            const std::uint64_t before = own.order().value;
            own.access(line, 8, kind);
            took = own.clock().value - before;
        });
        run();
        return took;
    }
};

TEST_F(shared_line, comes_from_the_cluster_that_has_it_dirty_and_not_from_memory)
{
    const std::uint64_t from_memory = time_of(0, access_kind::write);
    const std::uint64_t reads = counts().line_reads;
    const std::uint64_t across = time_of(2, access_kind::read);
    EXPECT_EQ(counts().line_reads, reads);
    EXPECT_EQ(counts().line_writes, 0U);
    // Both ways over the interconnect, and the shortest time of the cluster.
    EXPECT_GE(across, 40'000U + 40'000U + 20'000U + 10'833U);
    EXPECT_LT(time_of(3, access_kind::read), across) << "its own cluster has it now";
    EXPECT_GT(from_memory, 0U);
}

TEST_F(shared_line, is_in_one_cluster_only_once_it_is_written)
{
    time_of(0, access_kind::write);
    time_of(2, access_kind::read);
    EXPECT_TRUE(at(0).holds(line));
    time_of(2, access_kind::write);
    EXPECT_FALSE(at(0).holds(line));
    EXPECT_FALSE(machine->memory().level(0).storage().contains(line));
    const std::uint64_t reads = counts().line_reads;
    time_of(1, access_kind::read);
    EXPECT_EQ(counts().line_reads, reads);
    EXPECT_TRUE(at(1).holds(line));
}

TEST_F(shared_line, costs_more_to_pass_on_between_clusters_than_within_one)
{
    time_of(0, access_kind::write);
    const std::uint64_t within = time_of(1, access_kind::write);
    const std::uint64_t across = time_of(2, access_kind::write);
    EXPECT_GT(across, within);
    EXPECT_EQ(counts().line_writes, 0U);
}

TEST_F(shared_line, is_passed_on_the_same_in_each_run_however_far_cores_run_ahead)
{
    const auto digest = [](std::uint64_t lookahead_ps) {
        settings wanted = two_clusters();
        wanted.signals = signals_after(lookahead_ps);
        const auto own = make_machine(wanted);
        own->share(phys_addr{0}, {1 << 20}, true);
        for (std::uint32_t n = 0; n < 4; ++n) {
            own->core_at({n}).start([n](core &one) {
                for (std::uint64_t i = 0; i < 500; ++i) {
                    one.instructions(3 + n);
                    one.access(phys_addr{line.value + (i * (n + 1) % 32) * 64}, 8,
                               (i + n) % 3 == 0 ? access_kind::write : access_kind::read);
                }
            });
        }
        own->timeline().run(for_ever);
        return own->digest();
    };
    EXPECT_EQ(digest(0), digest(150'000));
    EXPECT_EQ(digest(0), digest(1'000'000));
}

} // namespace
} // namespace bulkhead::machine::test::coherence_test
