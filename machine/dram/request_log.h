// SPDX-License-Identifier: Apache-2.0
// Writes the requests that reach the memory controller to a file, in order of arrival, in the plain text
// formats that other DRAM simulators read. The model of the controller calls it; it must never change the
// model's behaviour.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "machine/dram/timing.h"
#include "machine/ring.h"

namespace bulkhead::machine::dram {

// One request per line: address, direction, and clock of arrival if the format has it.
enum class trace_format : std::uint8_t {
    dramsim3,  // 0x1f40 READ 1200       DRAMsim3; WRITE
    ramulator, // 0x1f40 R               Ramulator 1; W
    load_store // LD 0x1f40              Ramulator 2, LoadStoreTrace; ST
};
std::optional<trace_format> trace_format_of(std::string_view name);

class request_log {
public:
    // `most`: maximum number of requests that are written; later ones are left out.
    static result<request_log> open(const std::string &path, trace_format format, std::uint64_t most);

    // Adds a request that will arrive at `when`; calls may come in any order.
    void add(std::uint64_t address, bool write, clocks when)
    {
        coming_.insert({address, when, write},
                       [](const request &one, const request &added) { return one.when > added.when; });
    }
    // No request will arrive before `until` any more: writes those that arrived earlier.
    void advance(clocks until)
    {
        while (!coming_.empty() && coming_.front().when < until) {
            write(coming_.front());
            coming_.pop_front();
        }
    }

    [[nodiscard]] std::uint64_t written() const { return written_; }
    // Writes the remaining requests and closes the file. Returns why the file is incomplete, or an empty
    // string.
    std::string close();

private:
    struct request {
        std::uint64_t address;
        clocks when;
        bool write;
    };
    struct closer {
        void operator()(std::FILE *file) const { (void)std::fclose(file); }
    };

    request_log(std::FILE *file, trace_format format, std::uint64_t most)
        : file_(file), format_(format), most_(most)
    {
    }
    void write(const request &one);

    std::unique_ptr<std::FILE, closer> file_;
    trace_format format_;
    std::uint64_t most_;
    std::uint64_t written_ = 0;
    ring<request> coming_;
};

} // namespace bulkhead::machine::dram
