// SPDX-License-Identifier: Apache-2.0
// Measures how fast the simulated machine is on one host core; called by `bulkhead bench machine`. Progress
// goes to standard error, one JSON object to standard output.
//
//     machine_bench [--repeat N] [--share PERCENT] [--kernel KEY]
//     machine_bench --kernel KEY --export FORMAT --to FILE [--share PERCENT]
//
// The second form writes the requests that the kernel sends to DRAM instead of measuring
// (machine/dram/request_log.h).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "machine/bench/kernels.h"

namespace {

using namespace bulkhead::machine::bench;

struct options {
    std::uint64_t repeat = 5;
    std::uint64_t share_percent = 100; // of the accesses of a full measurement
    std::string kernel;                // empty: all
    std::optional<bulkhead::machine::dram::trace_format> format;
    std::string file; // for the requests
};

void usage()
{
    std::fputs("usage: machine_bench [--repeat N] [--share PERCENT] [--kernel KEY]\n"
               "       machine_bench --kernel KEY --export dramsim3|ramulator|load-store --to FILE "
               "[--share PERCENT]\n",
               stderr);
}

std::optional<options> parse(int count, char **arguments)
{
    options given;
    for (int i = 1; i < count; i += 2) {
        const std::string name = arguments[i];
        if (i + 1 == count) {
            return std::nullopt;
        }
        const std::string value = arguments[i + 1];
        const std::uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
        if (name == "--repeat" && number > 0) {
            given.repeat = number;
        } else if (name == "--share" && number > 0 && number <= 100) {
            given.share_percent = number;
        } else if (name == "--kernel") {
            given.kernel = value;
        } else if (name == "--to") {
            given.file = value;
        } else if (name == "--export" && bulkhead::machine::dram::trace_format_of(value)) {
            given.format = bulkhead::machine::dram::trace_format_of(value);
        } else {
            return std::nullopt;
        }
    }
    const bool exports = given.format.has_value();
    return exports != given.file.empty() && (!exports || !given.kernel.empty()) ? std::optional(given)
                                                                                : std::nullopt;
}

void print_result(const kernel &what, const std::vector<measurement> &all)
{
    std::vector<double> rates;
    for (const measurement &one : all) {
        rates.push_back(static_cast<double>(one.accesses) / one.seconds);
    }
    std::sort(rates.begin(), rates.end());
    const measurement &last = all.back();
    const auto share = [&last](std::uint64_t part) {
        return static_cast<double>(part) / static_cast<double>(last.accesses);
    };
    std::printf("\"%.*s\":{\"min\":%.0f,\"median\":%.0f,\"max\":%.0f,\"accesses\":%llu,"
                "\"l1_miss_share\":%.4f,\"dram_read_share\":%.4f,\"simulated_ns\":%llu}",
                static_cast<int>(what.key.size()), what.key.data(), rates.front(), rates[rates.size() / 2],
                rates.back(), static_cast<unsigned long long>(last.accesses), share(last.l1_misses),
                share(last.dram_reads), static_cast<unsigned long long>(last.simulated_ps / 1000));
}

const kernel *find(std::string_view key)
{
    const auto found =
        std::find_if(kernels().begin(), kernels().end(), [&](const kernel &one) { return one.key == key; });
    return found == kernels().end() ? nullptr : &*found;
}

int export_requests(const kernel &what, const options &given)
{
    using bulkhead::machine::dram::request_log;
    auto opened = request_log::open(given.file, *given.format, ~std::uint64_t{0});
    if (const auto *refused = std::get_if<bulkhead::machine::refusal>(&opened)) {
        std::fprintf(stderr, "%s\n", refused->reason.c_str());
        return 1;
    }
    request_log &requests = std::get<request_log>(opened);
    prepared machine(what, 1);
    machine.machine().memory().memory().set_request_log(&requests);
    machine.run(what.accesses * given.share_percent / 100);
    machine.machine().memory().memory().set_request_log(nullptr);
    const std::string failure = requests.close();
    if (!failure.empty()) {
        std::fprintf(stderr, "%s\n", failure.c_str());
        return 1;
    }
    std::printf("{\"requests\":%llu}\n", static_cast<unsigned long long>(requests.written()));
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    const std::optional<options> given = parse(count, arguments);
    if (!given || (!given->kernel.empty() && find(given->kernel) == nullptr)) {
        usage();
        return 2;
    }
    if (given->format) {
        return export_requests(*find(given->kernel), *given);
    }
    std::uint64_t done = 0;
    const char *separator = "{";
    for (const kernel &what : kernels()) {
        if (!given->kernel.empty() && given->kernel != what.key) {
            continue;
        }
        prepared machine(what, 1);
        std::vector<measurement> all;
        for (std::uint64_t i = 0; i < given->repeat; ++i) {
            all.push_back(machine.run(what.accesses * given->share_percent / 100));
            std::fprintf(stderr, "progress %llu %.*s\n", static_cast<unsigned long long>(++done),
                         static_cast<int>(what.key.size()), what.key.data());
        }
        std::fputs(separator, stdout);
        separator = ",\n ";
        print_result(what, all);
    }
    std::puts("}");
    return 0;
}
