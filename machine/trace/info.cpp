// SPDX-License-Identifier: Apache-2.0
// trace_info TRACE: reads a whole trace and prints in JSON what is in it; exit 1, with the reason, if it is
// damaged. The tool calls it after a recording; people call it to look at one.
#include <cstdio>
#include <unordered_set>

#include "machine/trace/pages.h"
#include "machine/trace/reader.h"

namespace {

using namespace bulkhead::machine;

int fail(const std::string &reason)
{
    (void)std::fprintf(stderr, "%s\n", reason.c_str());
    return 1;
}

int show(trace::reader &from)
{
    std::unordered_set<std::uint64_t> pages;
    std::unordered_set<std::uint64_t> lines;
    for (;;) {
        auto block = from.next_block();
        if (const auto *reason = std::get_if<refusal>(&block)) {
            return fail(reason->reason);
        }
        const auto &records = std::get<std::vector<trace::record>>(block);
        if (records.empty()) {
            break;
        }
        for (const trace::record &each : records) {
            pages.insert(each.address / trace::page_bytes);
            lines.insert(each.address / 64);
        }
    }
    const trace::totals &all = from.all();
    std::printf(
        "{\"description\": %s, \"records\": %llu, \"instructions\": %llu, \"reads\": %llu, \"writes\": %llu, "
        "\"pages\": %zu, \"lines\": %zu}\n",
        from.description().empty() ? "null" : from.description().c_str(),
        static_cast<unsigned long long>(all.records), static_cast<unsigned long long>(all.instructions),
        static_cast<unsigned long long>(all.reads), static_cast<unsigned long long>(all.writes), pages.size(),
        lines.size());
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
