// SPDX-License-Identifier: Apache-2.0
// M4: the effect of MPAM's controls on memory bandwidth. It is measured by memory's answers to each core, in
// time. Numbers T301 to T303: the compliance suite's (docs/design/mpam.md).
#include <gtest/gtest.h>

#include "tests/machine/mpam/mpam_make.h"

namespace bulkhead::machine::test::bandwidth_test {
namespace {

constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t window_ps = 20'000'000;
constexpr std::uint64_t windows = 25;
// For shares that are related to each other: after the first window they do not change, and four cores that
// never wait take a sanitized build a tenth of a second for each window.
constexpr std::uint64_t some_windows = 8;

// Cores that read or write memory as fast as they can, each in rows of its own, for some windows.
class M4Bandwidth : public testing::Test {
protected:
    M4Bandwidth() { start(machine_with_mpam()); }

    void start(settings all)
    {
        for (core_settings &one : all.cores) {
            one.loads = 20; // together more than the controller's queue
            one.stores = 8;
            one.l1d.size_bytes = 4096;
        }
        machine_ = make_machine(all);
        registers_.emplace(machine_->mpam()->at(0));
        for (std::uint16_t i = 0; i < 4; ++i) {
            machine_->core_at({i}).set_label({.partition = static_cast<std::uint16_t>(i + 1)});
            // None of their lines is in the shared level, so that all accesses go to memory.
            registers_->set(cache_instance, i + 1U, MPAMCFG_CPBM(0), 0);
            registers_->set(memory_instance, i + 1U, MPAMCFG_MBW_MIN, 0);
        }
    }
    page &registers() { return *registers_; }

    // `instructions`: number of instructions between two accesses.
    void stream(std::uint32_t core, access_kind kind = access_kind::read, std::uint64_t instructions = 1)
    {
        machine_->core_at({core}).start([this, core, kind, instructions](machine::core &runs) {
            // Not in the same bank as the others at the same time.
            const std::uint64_t first = core * ((256ULL << 20U) + 5 * 8192);
            for (std::uint64_t line = 0;; ++line) {
                runs.instructions(instructions);
                runs.access(phys_addr{first + line % (1U << 20U) * line_bytes}, 8, kind);
                count_[core] = line;
                const std::uint64_t window = runs.clock().value / window_ps;
                if (window < in_window_[core].size()) {
                    ++in_window_[core][window];
                }
            }
        });
    }
    // Waits for each datum, and returns the average wait.
    void chase(std::uint32_t core)
    {
        machine_->core_at({core}).start([this, core](machine::core &runs) {
            const std::uint64_t first = core * (256ULL << 20U);
            for (std::uint64_t line = 0;; ++line) {
                runs.instructions(20);
                runs.dependent_read(phys_addr{first + line * 2654435761U % (1U << 20U) * line_bytes}, 8);
                count_[core] = line;
            }
        });
    }
    void run(std::uint64_t for_windows = windows)
    {
        ran_ = picoseconds{for_windows * window_ps};
        machine_->timeline().run(ran_);
    }
    // Share of the data bus.
    [[nodiscard]] double share(std::uint32_t core) const
    {
        return static_cast<double>(count_[core] * line_bytes) /
               (machine_->memory().memory().peak_bytes_per_s() * static_cast<double>(ran_.value) * 1e-12);
    }
    static constexpr std::uint32_t hard = MPAMCFG_MBW_MAX_HARDLIM;
    static constexpr std::uint32_t of_256(std::uint32_t value) { return (value - 1) << 8U; }

    std::unique_ptr<simulated_machine> machine_;
    std::optional<page> registers_;
    picoseconds ran_{};
    std::array<std::uint64_t, 4> count_{};
    std::array<std::array<std::uint64_t, windows>, 4> in_window_{};
};

TEST_F(M4Bandwidth, T303AHardMaximumHoldsInEveryWindow)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_MAX, of_256(64) | hard); // a quarter
    registers().watch_bandwidth(0, {.partition = 1});
    stream(0);
    run();
    EXPECT_NEAR(share(0), 0.25, 0.002) << "lines on their way at the end count";
    // Lines in flight at the border of a window are counted on one side or the other.
    const std::uint64_t lines = 20'000'000'000 / (4 * 937'500) / 4;
    for (const std::uint64_t in_one : in_window_[0]) {
        EXPECT_LE(in_one, lines + 20);
    }
}

TEST_F(M4Bandwidth, AHardMaximumHoldsForWritesToo)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_MAX, of_256(32) | hard);
    stream(0, access_kind::write); // a line is read and written back
    run();
    EXPECT_LE(share(0) * 2, 0.127);
    EXPECT_GE(share(0) * 2, 0.115);
}

TEST_F(M4Bandwidth, ASoftMaximumYieldsToOthersOnly)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_MAX, of_256(13)); // a twentieth
    stream(0);
    run(some_windows);
    const double alone = share(0);
    EXPECT_GT(alone, 0.3) << "nobody else wants the rest";
    start(machine_with_mpam());
    registers().set(memory_instance, 1, MPAMCFG_MBW_MAX, of_256(13));
    count_ = {};
    for (const std::uint32_t core : {0, 1, 2, 3}) {
        stream(core);
    }
    run(some_windows);
    EXPECT_LT(share(0), alone / 2);
    EXPECT_LT(share(0), share(1) / 2);
    EXPECT_GT(share(1) + share(2) + share(3), 0.6);
}

TEST_F(M4Bandwidth, T302AMinimumIsHadBesideThreeHogs)
{
    for (const std::uint32_t core : {0, 1, 2, 3}) {
        stream(core);
    }
    run(some_windows);
    const double equal = share(0);
    start(machine_with_mpam());
    registers().set(memory_instance, 1, MPAMCFG_MBW_MIN, 103U << 8U); // two fifths
    count_ = {};
    for (const std::uint32_t core : {0, 1, 2, 3}) {
        stream(core);
    }
    run(some_windows);
    EXPECT_LT(equal, 0.3);
    EXPECT_GT(share(0), 0.395) << "equal share: " << equal;
    EXPECT_GT(share(1) + share(2) + share(3), 0.2) << "the others have what that leaves of the bus";
}

TEST_F(M4Bandwidth, T301PortionsOfTheWindowAreItsShare)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_PBM(0), 0x000000FF); // a quarter of the time
    stream(0);
    run();
    const double quarter = share(0);
    EXPECT_LE(quarter, 0.27);
    start(machine_with_mpam());
    registers().set(memory_instance, 1, MPAMCFG_MBW_PBM(0), 0x0000FFFF);
    count_ = {};
    stream(0);
    run();
    EXPECT_GT(share(0), 1.5 * quarter);
    EXPECT_LE(share(0), 0.52);
}

TEST_F(M4Bandwidth, ABitmapOfNothingDoesNotStopMemory)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_PBM(0), 0);
    registers().write(MPAMCFG_DIS, 2);
    stream(0);
    stream(1);
    run(some_windows);
    EXPECT_GT(share(0), 0.1);
    EXPECT_GT(share(1), 0.1);
    start(machine_with_mpam());
    registers().set(memory_instance, 1, MPAMCFG_MBW_PBM(0), 0);
    count_ = {};
    for (const std::uint32_t core : {0, 1, 2, 3}) {
        stream(core);
    }
    run(some_windows);
    EXPECT_LT(share(0), share(1) / 2) << "but all others go first";
    EXPECT_GT(count_[0], 100U) << "for no longer than the age limit";
}

TEST_F(M4Bandwidth, ProportionalSharesGoByTheStride)
{
    registers().set(memory_instance, 1, MPAMCFG_MBW_PROP, MPAMCFG_MBW_PROP_EN | 0);
    registers().set(memory_instance, 2, MPAMCFG_MBW_PROP, MPAMCFG_MBW_PROP_EN | 1);
    registers().set(memory_instance, 3, MPAMCFG_MBW_PROP, MPAMCFG_MBW_PROP_EN | 3);
    registers().set(memory_instance, 4, MPAMCFG_MBW_PROP, MPAMCFG_MBW_PROP_EN | 3);
    for (const std::uint32_t core : {0, 1, 2, 3}) {
        stream(core);
    }
    run(some_windows);
    EXPECT_NEAR(share(0) / share(1), 2, 0.1);
    EXPECT_NEAR(share(1) / share(2), 2, 0.1);
    EXPECT_NEAR(share(2) / share(3), 1, 0.05);
}

TEST_F(M4Bandwidth, AHigherPriorityWaitsLess)
{
    const auto served = [this](std::uint32_t priority) {
        start(machine_with_mpam());
        registers().set(memory_instance, 1, MPAMCFG_PRI, priority);
        for (const std::uint32_t partid : {2, 3, 4}) {
            registers().set(memory_instance, partid, MPAMCFG_PRI, 3);
        }
        count_ = {};
        chase(0);
        for (const std::uint32_t core : {1, 2, 3}) {
            stream(core);
        }
        run(some_windows);
        return static_cast<double>(count_[0]);
    };
    const double equal = served(3);
    EXPECT_GT(served(7), equal * 1.25);
    EXPECT_LT(served(0), equal * 0.8);
}

TEST_F(M4Bandwidth, EqualPartitionsGetTheSameCommandsAsNoPartitions)
{
    const auto answers = [](bool labels) {
        settings all = machine_with_mpam();
        if (!labels) {
            all.mpam.reset();
        }
        const auto machine = make_machine(all);
        for (std::uint32_t i = 0; i < 4; ++i) {
            machine->core_at({i}).set_label({.partition = static_cast<std::uint16_t>(i + 1)});
            machine->core_at({i}).start([i](core &runs) {
                for (std::uint64_t line = 0; line < 5'000; ++line) {
                    runs.access(phys_addr{i * (64ULL << 20U) + line * 2654435761U % (1U << 18U) * line_bytes},
                                8, line % 3 == 0 ? access_kind::write : access_kind::read);
                }
            });
        }
        machine->timeline().run(for_ever);
        return machine->digest();
    };
    EXPECT_EQ(answers(true), answers(false));
}

} // namespace
} // namespace bulkhead::machine::test::bandwidth_test
