// SPDX-License-Identifier: Apache-2.0
// How many callbacks a second the runtime handles, and what a basic block costs: not a test, since times
// differ between hosts. build/host/tests/machine/program/program_speed
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "tests/machine/program/run.h"

namespace {

using namespace bulkhead::machine;
using namespace bulkhead::machine::test;

double seconds(const image &kernels, const char *kernel, std::uint64_t n, core_counts &counts)
{
    const std::clock_t start =
        std::clock(); // processor time of this process: other processes may be running too
    counts = run_alone(kernels, kernel, n).counts;
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void measure(const image &kernels, const char *kernel, std::uint64_t n, const char *what)
{
    double best = 1e9;
    core_counts counts;
    for (int i = 0; i < 5; ++i) {
        best = std::min(best, seconds(kernels, kernel, n, counts));
    }
    std::printf("%-40s %8.1f M accesses/s %8.1f M instructions/s\n", what,
                static_cast<double>(counts.of(core_event::memory_access)) / best / 1e6,
                static_cast<double>(counts.instructions) / best / 1e6);
}

} // namespace

int main()
{
    const image kernels = read_image(KERNELS_IMAGE);
    measure(kernels, "again", 100'000'000, "loads that hit L1");
    measure(kernels, "volatiles", 50'000'000, "loads and stores of one word");
    measure(kernels, "spin", 300'000'000, "blocks of four instructions");
    return 0;
}
