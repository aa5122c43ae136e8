// SPDX-License-Identifier: Apache-2.0
// Instrumented programs on simulated cores: their results, that every load, store and instruction counts,
// that bytes are shared where frames are, and that a program with a wild access ends with a report. Issue 4,
// S1.
#include <algorithm>
#include <array>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine/program/run.h"

namespace bulkhead::machine::test::run_test {
namespace {

using testing::HasSubstr;

// The number of instructions from the target of a function's only backward jump to that jump, without the six
// instructions of the instrumentation.
std::uint64_t loop_length(const std::string &file, const std::string &function)
{
    const std::string command = "objdump -d --no-show-raw-insn " + file;
    const std::unique_ptr<FILE, int (*)(FILE *)> disassembly(popen(command.c_str(), "r"), pclose);
    std::vector<std::uint64_t> addresses;
    std::array<char, 512> line{};
    bool inside = false;
    while (std::fgets(line.data(), line.size(), disassembly.get()) != nullptr) {
        const std::string text = line.data();
        if (text.find("<" + function + ">:") != std::string::npos) {
            inside = true;
        } else if (text == "\n") {
            inside = false;
        } else if (inside) {
            const std::uint64_t address = std::stoull(text, nullptr, 16);
            addresses.push_back(address);
            const std::size_t jump = text.find("\tj");
            const std::size_t target = text.find_first_of("0123456789abcdef", text.find(' ', jump));
            const std::uint64_t to =
                jump == std::string::npos ? address : std::stoull(text.substr(target), nullptr, 16);
            const auto loop = std::ranges::find(addresses, to);
            if (to < address && loop != addresses.end()) {
                return static_cast<std::uint64_t>(addresses.end() - loop) - 6;
            }
        }
    }
    return 0;
}

class programs : public testing::Test {
protected:
    [[nodiscard]] run_result run(const std::string &kernel, std::uint64_t n) const
    {
        run_result what = run_alone(kernels, kernel, n);
        EXPECT_EQ(what.trouble.value_or(""), "");
        return what;
    }
    // The cost of n more repetitions.
    [[nodiscard]] std::uint64_t accesses(const std::string &kernel, std::uint64_t n) const
    {
        // Numbers of the same length, so that main takes the same time for them.
        return run(kernel, 2 * n).counts.of(core_event::memory_access) -
               run(kernel, n).counts.of(core_event::memory_access);
    }

    image kernels = read_image(KERNELS_IMAGE);
};

TEST_F(programs, every_load_and_store_is_counted)
{
    EXPECT_EQ(accesses("sum", 1000), 1000U);
    EXPECT_EQ(accesses("fill", 1000), 1000U);
    EXPECT_EQ(accesses("volatiles", 1000), 2000U);
    EXPECT_EQ(accesses("locals", 1000), 2000U);
    EXPECT_EQ(accesses("spin", 1000), 0U);
}

TEST_F(programs, copies_are_counted_by_pairs_of_registers)
{
    // 320 bytes: 20 loads and 20 stores.
    EXPECT_EQ(accesses("structures", 100), 100U * 40);
    EXPECT_EQ(accesses("copy_only", 1024), 2U * 1024 / 16);
}

TEST_F(programs, compute_what_they_compute_elsewhere)
{
    EXPECT_EQ(run("copies", 777).result, 0U);
    EXPECT_EQ(run("atomics", 100).result, 0U);
    EXPECT_EQ(run("locals", 100).result, 99U * 100 / 2);
    EXPECT_EQ(run("globals", 3).result, 42U + 3 + 7);
    EXPECT_EQ(run("recurse", 20).result, 20U);
    const run_result hello = run("hello", 2);
    EXPECT_EQ(hello.output, "hello\nhello\n");
    EXPECT_EQ(hello.status, 7);
}

TEST_F(programs, each_turn_of_a_loop_costs_the_instructions_that_the_disassembly_shows)
{
    // `kernel_spin` has one loop, which is one basic block.
    const std::uint64_t turns = 1000;
    const std::uint64_t spent =
        run("spin", 2 * turns).counts.instructions - run("spin", turns).counts.instructions;
    EXPECT_EQ(spent, turns * loop_length(KERNELS_IMAGE, "kernel_spin"));
}

TEST_F(programs, a_walk_along_pointers_waits_for_each_and_a_walk_by_numbers_does_not)
{
    settings hardware = small_machine(1);
    hardware.cores[0].loads = 4;
    hardware.levels[0].cache.size_bytes = 64 * 1024; // too small for the lines of a walk
    const auto time = [&](const char *kernel, std::uint64_t expected) {
        const run_result what = run_alone(kernels, kernel, 2000, memory_at(0x200000, 0x1000000), hardware);
        EXPECT_EQ(what.trouble.value_or(""), "");
        EXPECT_EQ(what.result, expected);
        return (what.marks.at(1).when - what.marks.at(0).when).value;
    };
    EXPECT_GT(time("chase", 2000), 2 * time("steps", 1999 * 2000 / 2));
}

TEST_F(programs, marks_carry_the_simulated_time)
{
    const run_result marked = run("marks", 3);
    ASSERT_EQ(marked.marks.size(), 3U);
    EXPECT_EQ(marked.marks[2].id, 2U);
    const auto first = marked.marks[1].when - marked.marks[0].when;
    EXPECT_GT(first.value, 1000U * 5 * 833) << "a thousand times five instructions at 1.2 GHz";
    const auto second = marked.marks[2].when - marked.marks[1].when;
    EXPECT_NEAR(static_cast<double>(second.value), static_cast<double>(first.value), 1) << "rounded";
    EXPECT_GT(marked.result, marked.marks[2].when.value);
}

TEST_F(programs, the_same_run_gives_the_same_digest)
{
    const run_result one = run("touch_own", 500000);
    const run_result other = run("touch_own", 500000);
    EXPECT_EQ(one.digest, other.digest);
    EXPECT_GT(one.counts.of(core_event::l1d_refill), 500000U / 64);
    EXPECT_NE(one.digest, run("touch_own", 400000).digest);
}

TEST_F(programs, physical_addresses_decide_where_lines_go)
{
    // The same program in frames that are 128 KiB apart by pages: all in one eighth of the L1's... sets.
    std::vector<mapping_run> scattered;
    for (std::uint64_t i = 0; i < program_bytes / page_bytes; ++i) {
        scattered.push_back({0x100000 + i * page_bytes, {i * 8 * page_bytes}, {page_bytes}});
    }
    const run_result dense = run_alone(kernels, "touch_own", 65536);
    const run_result sparse = run_alone(kernels, "touch_own", 65536, scattered);
    EXPECT_EQ(dense.result, sparse.result);
    EXPECT_EQ(dense.counts.of(core_event::memory_access), sparse.counts.of(core_event::memory_access));
    EXPECT_NE(dense.digest, sparse.digest);
}

TEST_F(programs, two_instances_of_one_file_have_globals_of_their_own)
{
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(2));
    const auto start = [&](std::uint32_t which, std::uint64_t n) {
        auto made =
            expect_made(bare_program::make(kernels, bytes, whole->core_at({which}),
                                           {memory_at(0x200000 + which * 0x200000), call("globals", n)}));
        made->start();
        return made;
    };
    const auto one = start(0, 8);
    const auto other = start(1, 16);
    whole->timeline().run(for_ever);
    EXPECT_EQ(one->outcome().result, 42U + 8 + 2);
    EXPECT_EQ(other->outcome().result, 42U + 16 + 2);
}

TEST_F(programs, what_one_writes_the_other_reads_where_frames_are_shared)
{
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(2));
    whole->share({0x800000}, {page_bytes}, true);
    // Both have the frame at 8 MiB as a page of their own memory, and increment every 64th byte of it.
    std::uint64_t results = 0;
    for (std::uint32_t which = 0; which < 2; ++which) {
        std::vector<mapping_run> memory = memory_at(0x200000 + which * 0x200000);
        memory.push_back({0x100000 + 0x80000, {0x800000}, {page_bytes}});
        const auto program = expect_made(
            bare_program::make(kernels, bytes, whole->core_at({which}), {memory, call("touch_own", 640000)}));
        program->start();
        whole->timeline().run(for_ever);
        EXPECT_EQ(program->outcome().trouble.value_or(""), "");
        results += program->outcome().result;
    }
    EXPECT_EQ(static_cast<int>(bytes.bytes({0x800000}, {1})[0]), 2);
    EXPECT_EQ(results, 2 * (640000 / 64) + page_bytes / 64) << "the second found what the first had written";
}

TEST_F(programs, accesses_that_a_program_does_not_own_end_it_with_a_report)
{
    const auto trouble = [&](const std::string &kernel, std::uint64_t n) {
        const run_result what = run_alone(kernels, kernel, n);
        EXPECT_FALSE(what.ended);
        return what.trouble.value_or("none");
    };
    EXPECT_THAT(trouble("wild", 16), HasSubstr("null pointer"));
    EXPECT_THAT(trouble("wild", 16), HasSubstr("wild+"));
    EXPECT_THAT(trouble("wild", 0x123456789000), HasSubstr("outside of its memory"));
    EXPECT_THAT(trouble("wild", ~std::uint64_t{0}), HasSubstr("outside of its memory"));
    EXPECT_THAT(trouble("wild_write", 100'000'000), HasSubstr("a write in wild_write+"));
    EXPECT_THAT(trouble("recurse", 1'000'000), HasSubstr("recurse+"));
}

TEST_F(programs, so_do_those_that_no_callback_announces)
{
    std::vector<mapping_run> memory = memory_at(0x200000, 0x80000);
    memory.push_back({0x100000 + 0x90000, {0x300000}, {0x70000}});
    const auto trouble = [&](std::uint64_t n) {
        return run_alone(kernels, "unannounced", n, memory).trouble.value_or("none");
    };
    EXPECT_EQ(trouble(64), "none");
    EXPECT_THAT(trouble(0x80000), HasSubstr("a read in unannounced+")) << "the hole";
    EXPECT_THAT(trouble(0x80000), HasSubstr("IPA 0x18"));
    EXPECT_THAT(trouble(std::uint64_t{1} << 62), HasSubstr("a read in unannounced+")) << "no address at all";
}

TEST_F(programs, a_hole_in_the_memory_is_nobodys)
{
    std::vector<mapping_run> memory = memory_at(0x200000, 0x80000);
    memory.push_back({0x100000 + 0x90000, {0x300000}, {0x70000}});
    const run_result what = run_alone(kernels, "touch_own", 900000, memory);
    EXPECT_THAT(what.trouble.value_or("none"), HasSubstr("IPA 0x180000"));
}

TEST_F(programs, a_trouble_leaves_the_others_alone)
{
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(2));
    const auto bad = expect_made(
        bare_program::make(kernels, bytes, whole->core_at({0}), {memory_at(0x200000), call("wild", 1)}));
    const auto good = expect_made(
        bare_program::make(kernels, bytes, whole->core_at({1}), {memory_at(0x400000), call("copies", 777)}));
    bad->start();
    good->start();
    whole->timeline().run(for_ever);
    EXPECT_TRUE(bad->outcome().trouble.has_value());
    EXPECT_TRUE(good->outcome().ended);
    EXPECT_EQ(good->outcome().result, 0U);
}

TEST_F(programs, a_loop_without_accesses_gives_way)
{
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(2));
    const auto spins = expect_made(bare_program::make(kernels, bytes, whole->core_at({0}),
                                                      {memory_at(0x200000), call("spin", 2'000'000'000)}));
    const auto works = expect_made(bare_program::make(kernels, bytes, whole->core_at({1}),
                                                      {memory_at(0x400000), call("touch_own", 500000)}));
    spins->start();
    works->start();
    EXPECT_EQ(whole->timeline().run({2'000'000'000}), engine::ending::reached);
    EXPECT_FALSE(spins->outcome().ended);
    EXPECT_TRUE(works->outcome().ended);
}

TEST_F(programs, what_cannot_be_loaded_is_refused_with_the_reason)
{
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(1));
    const auto refused = [&](const image &file, bare_program::setup setup) {
        return reason_of(bare_program::make(file, bytes, whole->core_at({0}), std::move(setup)));
    };
    EXPECT_THAT(refused(read_image(FOREIGN_IMAGE), {memory_at(0x200000), {}}), HasSubstr("'launch_rockets'"));
    EXPECT_THAT(refused(kernels, {{}, {}}), HasSubstr("without memory"));
    EXPECT_THAT(refused(kernels, {memory_at(0x200000, 0x4000), {}}), HasSubstr("the domain has 16384"));
    EXPECT_THAT(refused(kernels, {memory_at(0x200000, 0x14000), {}}), HasSubstr("with its stack"));
    EXPECT_THAT(refused(kernels, {memory_at(ram_bytes), {}}), HasSubstr("not memory of the machine"));
}

} // namespace
} // namespace bulkhead::machine::test::run_test
