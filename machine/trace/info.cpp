// SPDX-License-Identifier: Apache-2.0
// trace_info TRACE: reads a whole trace and prints its properties in JSON; exit 1, with the reason, if it is
// damaged. The tool calls it after a recording; people call it to inspect a trace.
#include <bit>
#include <cstdio>
#include <unordered_map>

#include "machine/trace/pages.h"
#include "machine/trace/reader.h"

namespace {

using namespace bulkhead::machine;

int fail(const std::string &reason)
{
    (void)std::fprintf(stderr, "%s\n", reason.c_str());
    return 1;
}

// One bit for each line of a page: 64 lines of 64 bytes.
using lines_of_pages = std::unordered_map<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t line_bytes = 64;
constexpr std::size_t most_pages =
    std::size_t{1} << 22U; // 16 GiB: limits the memory that a small but damaged file can request

int show(trace::reader &from)
{
    lines_of_pages pages;
    for (;;) {
        auto block = from.next_block();
        if (const auto *reason = std::get_if<refusal>(&block)) {
            return fail(reason->reason);
        }
        const auto records = std::get<std::span<const trace::record>>(block);
        if (records.empty()) {
            break;
        }
        for (const trace::record &each : records) {
            pages[each.address / trace::page_bytes] |= std::uint64_t{1}
                                                       << each.address % trace::page_bytes / line_bytes;
        }
        if (pages.size() > most_pages) {
            return fail("it touches more than 16 GiB of memory, which no recorded program does");
        }
    }
    std::size_t lines = 0;
    for (const auto &[page, touched] : pages) {
        lines += static_cast<std::size_t>(std::popcount(touched));
    }
    const trace::totals &all = from.all();
    std::printf(
        "{\"description\": %s, \"records\": %llu, \"instructions\": %llu, \"reads\": %llu, \"writes\": %llu, "
        "\"pages\": %zu, \"lines\": %zu}\n",
        from.description().empty() ? "null" : from.description().c_str(),
        static_cast<unsigned long long>(all.records), static_cast<unsigned long long>(all.instructions),
        static_cast<unsigned long long>(all.reads), static_cast<unsigned long long>(all.writes), pages.size(),
        lines);
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 2) {
        (void)std::fputs("usage: trace_info TRACE\n", stderr);
        return 2;
    }
    auto opened = trace::reader::open(arguments[1]);
    if (const auto *reason = std::get_if<refusal>(&opened)) {
        return fail(reason->reason);
    }
    return show(std::get<trace::reader>(opened));
}
