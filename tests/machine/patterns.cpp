// SPDX-License-Identifier: Apache-2.0
// The loops behind the patterns; see the header.
#include "tests/machine/patterns.h"

#include <numeric>

#include "machine/random.h"

namespace bulkhead::machine::test {

namespace {

// Calls `next(i)` for the offset of each access.
template <class Next> void run(core &own, const pattern_settings &wanted, Next &&next)
{
    random_source mix(wanted.seed ^ 0x6D6978U);
    for (std::uint64_t i = 0; i < wanted.accesses; ++i) {
        own.instructions(1 + wanted.instructions_between);
        const bool write = wanted.writes_percent == 100 ||
                           (wanted.writes_percent != 0 && mix.below(100) < wanted.writes_percent);
        own.access(phys_addr{wanted.start.value + next()}, wanted.access_bytes,
                   write ? access_kind::write : access_kind::read);
    }
}

void run_stride(core &own, const pattern_settings &wanted, std::uint64_t stride)
{
    std::uint64_t at = 0;
    run(own, wanted, [&] {
        const std::uint64_t offset = at;
        at = at + stride + wanted.access_bytes <= wanted.working_set.value ? at + stride : 0;
        return offset;
    });
}

void run_random(core &own, const pattern_settings &wanted)
{
    const std::uint64_t line = own.settings().l1d.line_bytes;
    const auto lines =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(1, wanted.working_set.value / line));
    random_source chance(wanted.seed);
    run(own, wanted, [&] { return chance.below(lines) * line; });
}

// One cycle through all lines (Sattolo's shuffle), so that no prefetcher can follow.
void run_chase(core &own, const pattern_settings &wanted)
{
    const std::uint64_t line = own.settings().l1d.line_bytes;
    std::vector<std::uint32_t> next(std::max<std::uint64_t>(1, wanted.working_set.value / line));
    std::iota(next.begin(), next.end(), 0U);
    random_source chance(wanted.seed);
    for (std::size_t i = next.size() - 1; i > 0; --i) {
        std::swap(next[i], next[chance.below(static_cast<std::uint32_t>(i))]);
    }
    std::uint32_t at = 0;
    for (std::uint64_t i = 0; i < wanted.accesses; ++i) {
        own.instructions(1 + wanted.instructions_between);
        own.dependent_read(phys_addr{wanted.start.value + at * line}, wanted.access_bytes);
        at = next[at];
    }
}

} // namespace

std::function<void(core &)> make_pattern(const pattern_settings &wanted)
{
    return [wanted](core &own) {
        switch (wanted.pattern) {
        case access_pattern::sequential:
            run_stride(own, wanted, wanted.access_bytes);
            break;
        case access_pattern::strided:
            run_stride(own, wanted, wanted.stride_bytes);
            break;
        case access_pattern::random:
            run_random(own, wanted);
            break;
        case access_pattern::chase:
            run_chase(own, wanted);
            break;
        }
    };
}

} // namespace bulkhead::machine::test
