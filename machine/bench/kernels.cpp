// SPDX-License-Identifier: Apache-2.0
// The kernels as programs for simulated cores; see the header.
#include "machine/bench/kernels.h"

#include <algorithm>
#include <ctime>

#include "machine/bench/board.h"

namespace bulkhead::machine::bench {

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t word_bytes = 8;
constexpr std::uint64_t line_bytes = 64;
constexpr std::uint64_t apart = 256 * mib; // memory of one core
constexpr std::uint64_t instructions_of_access = 2;
constexpr std::uint64_t table_frames = 16;

// A core's memory, mapped in blocks by two stages as an uncolored domain's; its tables follow it.
std::unique_ptr<translated> space_of(core &own)
{
    space_settings wanted;
    wanted.pieces = {{own.id().value * apart, own.id().value * apart, apart / 2}};
    for (std::uint64_t i = 0; i < table_frames; ++i) {
        wanted.frames.push_back((own.id().value + 1) * apart - (i + 1) * address_space::page_bytes);
    }
    auto space = std::get<address_space>(address_space::make(wanted));
    return std::get<std::unique_ptr<translated>>(translated::make(std::move(space), own));
}

// Accesses words or lines in order, as loops over arrays do; `bytes` is a power of two.
void walk(core &own, translated &space, std::uint64_t start, std::uint64_t bytes, std::uint64_t stride,
          std::uint64_t accesses)
{
    std::uint64_t at = 0;
    for (std::uint64_t done = 0; done < accesses; ++done) {
        own.instructions(instructions_of_access);
        own.access(space.of(start + at, access_kind::read), 8, access_kind::read);
        at = (at + stride) & (bytes - 1);
    }
}

void walk_at_random(core &own, translated &space, std::uint64_t start, std::uint64_t bytes,
                    std::uint64_t accesses, std::uint64_t seed)
{
    const std::uint64_t mask = bytes / line_bytes - 1; // bytes: a power of two
    for (std::uint64_t done = 0; done < accesses; ++done) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        own.instructions(instructions_of_access);
        const std::uint64_t at = start + ((seed >> 33U) & mask) * line_bytes;
        own.access(space.of(at, access_kind::read), 8, access_kind::read);
    }
}

std::uint64_t l1_misses(simulated_machine &machine)
{
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < machine.core_count(); ++i) {
        sum += machine.core_at({i}).counts().of(core_event::l1d_refill);
    }
    return sum;
}

std::uint64_t end_of_run(simulated_machine &machine)
{
    picoseconds last{};
    for (std::uint32_t i = 0; i < machine.core_count(); ++i) {
        last = std::max(last, machine.core_at({i}).clock());
    }
    return last.value;
}

} // namespace

const std::vector<kernel> &kernels()
{
    static const std::vector<kernel> all{
        {"private_hits_per_s", "words of 16 KiB in order: hits in the first level", 16 * kib, false,
         100'000'000},
        {"llc_hits_per_s", "lines of 128 KiB at random: misses of the first level, hits of the shared one",
         128 * kib, true, 10'000'000},
        {"dram_random_per_s", "lines of 128 MiB at random: row misses in DRAM", 128 * mib, true, 2'000'000},
        {"dram_sequential_per_s", "lines of 128 MiB in order: prefetched row hits", 128 * mib, false,
         2'000'000},
    };
    return all;
}

prepared::prepared(const kernel &what, std::uint64_t seed) : what_(what), seed_(seed)
{
    auto made = simulated_machine::make(board());
    machine_ = std::move(std::get<std::unique_ptr<simulated_machine>>(made));
    for (std::uint32_t i = 0; i < machine_->core_count(); ++i) {
        spaces_.push_back(space_of(machine_->core_at({i})));
    }
    run(what.bytes <= mib ? 16 * what.bytes / line_bytes * machine_->core_count() : what.accesses / 8);
}

void prepared::start(std::uint64_t accesses_of_core)
{
    for (std::uint32_t i = 0; i < machine_->core_count(); ++i) {
        const std::uint64_t base = i * apart;
        const std::uint64_t seed = seed_++;
        machine_->core_at({i}).start([this, i, base, seed, accesses_of_core](core &own) {
            if (what_.random) {
                walk_at_random(own, *spaces_[i], base, what_.bytes, accesses_of_core, seed);
            } else if (what_.bytes <= mib) {
                walk(own, *spaces_[i], base, what_.bytes, word_bytes, accesses_of_core);
            } else {
                walk(own, *spaces_[i], base, what_.bytes, line_bytes, accesses_of_core);
            }
        });
    }
}

measurement prepared::run(std::uint64_t accesses)
{
    const std::uint64_t of_core = accesses / machine_->core_count();
    const auto bursts = [this] {
        return machine_->memory().profile(picoseconds{0}).read.value /
               machine_->made_from().dram.shape.burst.value;
    };
    const std::uint64_t misses_before = l1_misses(*machine_);
    const std::uint64_t bursts_before = bursts();
    const std::uint64_t time_before = end_of_run(*machine_);
    start(of_core);
    const std::clock_t begin = std::clock();
    machine_->timeline().run(engine::never);
    return {.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC,
            .accesses = of_core * machine_->core_count(),
            .l1_misses = l1_misses(*machine_) - misses_before,
            .dram_reads = bursts() - bursts_before,
            .simulated_ps = end_of_run(*machine_) - time_before};
}

} // namespace bulkhead::machine::bench
