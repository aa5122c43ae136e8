// SPDX-License-Identifier: Apache-2.0
// The workloads on a simulated core compute the same as the Linux program, bit by bit, and take simulated
// time.
#include <cstdio>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

#include "tests/machine/program/run.h"

namespace bulkhead::machine::test::workload_test {
namespace {

constexpr std::uint64_t workload_bytes = 32 * 1024 * 1024;
const std::vector<std::string> arguments{"all", "small=1", "iterations=1", "seed=7"};

using reports = std::map<std::string, nlohmann::json>;

reports reports_in(const std::string &output)
{
    const std::string start = "report ";
    reports found;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(start)) {
            const auto report = nlohmann::json::parse(line.substr(start.size()));
            found[report["workload"]] = report;
        }
    }
    return found;
}

std::string run_on_linux()
{
    std::string command = LINUX_PROGRAM;
    for (const std::string &argument : arguments) {
        command += " " + argument;
    }
    std::string output;
    std::FILE *pipe = popen(command.c_str(), "r");
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        output += static_cast<char>(c);
    }
    EXPECT_EQ(pclose(pipe), 0);
    return output;
}

bare_program::report run_on_machine(std::vector<std::string> given)
{
    const image file = read_image(WORKLOAD_IMAGE);
    const ram bytes = make_ram();
    const auto whole = make_machine(small_machine(1));
    given.insert(given.begin(), "workload");
    const auto program = expect_made(bare_program::make(
        file, bytes, whole->core_at({0}), {memory_at(0x200000, workload_bytes), std::move(given)}));
    program->start();
    whole->timeline().run(for_ever);
    return program->outcome();
}

TEST(workloads, compute_on_the_machine_what_they_compute_on_linux)
{
    const auto run = run_on_machine(arguments);
    EXPECT_EQ(run.trouble.value_or(""), "");
    EXPECT_EQ(run.status, 0);
    const reports here = reports_in(run.output);
    const reports there = reports_in(run_on_linux());
    ASSERT_GE(there.size(), 14U);
    ASSERT_EQ(here.size(), there.size());
    for (const auto &[name, report] : there) {
        EXPECT_EQ(here.at(name)["checksum"], report["checksum"]) << name;
        EXPECT_EQ(here.at(name)["correct_permille"], report["correct_permille"]) << name;
        EXPECT_GT(here.at(name)["iteration_ns"]["min"], 0) << name;
    }
}

TEST(workloads, mark_the_start_and_the_end_of_each_iteration)
{
    const auto run = run_on_machine({"bandwidth", "small=1", "iterations=2"});
    ASSERT_EQ(run.marks.size(), 4U);
    for (std::size_t i = 0; i < run.marks.size(); ++i) {
        EXPECT_EQ(run.marks[i].id, 1 + i % 2);
    }
    EXPECT_GT(run.marks[1].when, run.marks[0].when);
}

TEST(workloads, too_little_memory_is_told)
{
    const auto run = run_on_machine({"membomb", "iterations=1", "size_kib=1000000"});
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.output, "membomb: too little memory for these parameters\n");
}

} // namespace
} // namespace bulkhead::machine::test::workload_test
