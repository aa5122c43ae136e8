// SPDX-License-Identifier: Apache-2.0
// Runs a static Armv7 Linux program (ELF32, in the flat memory of the file's own addresses) on the
// interpreter: it supports the calls exit and write. Tests give the same file to the emulator
// (test_against_emulator.py) and compare what both write.
//
//     armv7_linux_program FILE [--count]   writes the program's output; --count: instructions and processor
//     time to
//                                          standard error
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

#include "machine/armv7/flat_profile.h"
#include "machine/bench/board.h"
#include "machine/machine.h"

namespace {

using namespace bulkhead::machine;

constexpr std::uint32_t base = 0x10000;
constexpr std::size_t memory_bytes = 16U << 20U;

std::uint32_t word(const std::vector<std::uint8_t> &file, std::size_t at, std::size_t bytes)
{
    std::uint32_t value = 0;
    if (at + bytes > file.size()) {
        throw std::runtime_error("the file ends early");
    }
    std::memcpy(&value, &file[at], bytes);
    return value;
}

// Copies the loadable segments; returns the entry point.
std::uint32_t load(const std::vector<std::uint8_t> &file, std::vector<std::uint8_t> &memory)
{
    if (word(file, 0, 4) != 0x464C457F || word(file, 18, 2) != 40) {
        throw std::runtime_error("no ELF file for Arm");
    }
    const std::size_t headers = word(file, 28, 4);
    for (std::size_t i = 0; i < word(file, 44, 2); ++i) {
        const std::size_t header = headers + i * word(file, 42, 2);
        const std::size_t from = word(file, header + 4, 4);
        const std::size_t to = word(file, header + 8, 4) - base;
        const std::size_t bytes = word(file, header + 16, 4);
        if (word(file, header, 4) != 1 || bytes == 0) {
            continue;
        }
        if (from + bytes > file.size() || to + bytes > memory.size()) {
            throw std::runtime_error("a segment is outside of the memory");
        }
        std::memcpy(&memory[to], &file[from], bytes);
    }
    return word(file, 24, 4);
}

constexpr std::uint32_t call_exit = 1;
constexpr std::uint32_t call_write = 4;

// Runs until exit; returns its status.
int run(armv7::interpreter &cpu, armv7::flat_profile &system, armv7::registers &state)
{
    using event = armv7::flat_profile::event;
    for (;;) {
        cpu.run();
        if (system.last() != event::svc) {
            std::cerr << "stopped by event " << static_cast<int>(system.last()) << " with " << std::hex
                      << system.detail() << " at " << state.r[armv7::pc] << '\n';
            return 2;
        }
        if (state.r[7] == call_exit) {
            return static_cast<int>(state.r[0]);
        }
        if (state.r[7] == call_write && state.r[1] - base <= memory_bytes - state.r[2]) {
            std::fwrite(&system.memory()[state.r[1] - base], 1, state.r[2], stdout);
            state.r[0] = state.r[2];
        }
        system.go_on();
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::cerr << "usage: armv7_linux_program FILE [--count]\n";
        return 2;
    }
    std::ifstream input(argv[1], std::ios::binary);
    const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(input), {}};
    const auto whole = std::get<std::unique_ptr<simulated_machine>>(simulated_machine::make(bench::board()));
    int status = 2;
    std::exception_ptr failure;
    whole->core_at({0}).start([&](core &on) {
        try {
            armv7::registers state;
            armv7::flat_profile system(on, state,
                                       {.m_profile = false, .divide_thumb = true, .divide_arm = true}, base,
                                       memory_bytes);
            armv7::interpreter cpu(on, state, system);
            const std::uint32_t entry = load(file, system.memory());
            state.thumb = (entry & 1U) != 0;
            state.r[armv7::pc] = entry & ~1U;
            state.r[armv7::sp] = base + memory_bytes - 64;
            const std::clock_t start = std::clock();
            status = run(cpu, system, state);
            if (argc > 2) {
                const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
                std::cerr << cpu.executed() << " instructions in " << took << " s of the host's processor, "
                          << on.clock().value << " ps\n";
            }
        } catch (const std::exception &error) {
            std::cerr << error.what() << '\n';
        }
    });
    whole->timeline().run(picoseconds{~std::uint64_t{0}});
    return status;
}
