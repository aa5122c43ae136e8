// SPDX-License-Identifier: Apache-2.0
// Runs one instrumented program on a small machine and returns its results; used by most tests of this
// directory.
#pragma once

#include "machine/machine.h"
#include "machine/program/bare.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::test {

inline constexpr std::uint64_t ram_first = 0; // as the small machine's DRAM
inline constexpr std::uint64_t ram_bytes = 64 * 1024 * 1024;
inline constexpr std::uint64_t program_bytes = 1024 * 1024;

struct run_result : bare_program::report {
    core_counts counts;
    std::uint64_t digest = 0;
};

inline ram make_ram()
{
    return expect_made(ram::make(std::vector<memory_range>{{{ram_first}, {ram_bytes}}}));
}

inline image read_image(const char *path)
{
    return expect_made(image::read(path));
}

// A program's memory: 1 MiB at IPA 1 MiB, at any frames.
inline std::vector<mapping_run> memory_at(std::uint64_t pa, std::uint64_t bytes = program_bytes)
{
    return {{0x100000, {pa}, {bytes}}};
}

inline std::vector<std::string> call(const std::string &kernel, std::uint64_t n)
{
    return {"kernels", kernel, std::to_string(n)};
}

// One program alone.
inline run_result run_alone(const image &file, const std::string &kernel, std::uint64_t n,
                            std::vector<mapping_run> memory = memory_at(0x200000),
                            const settings &hardware = small_machine(1))
{
    const ram bytes = make_ram();
    const auto whole = make_machine(hardware);
    const auto program = expect_made(
        bare_program::make(file, bytes, whole->core_at({0}), {std::move(memory), call(kernel, n)}));
    program->start();
    whole->timeline().run(for_ever);
    return {program->outcome(), whole->core_at({0}).counts(), whole->digest()};
}

} // namespace bulkhead::machine::test
