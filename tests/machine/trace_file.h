// SPDX-License-Identifier: Apache-2.0
// Traces for the tests of their format: records from a seed, written to a file of the test's own.
#pragma once

#include <string>
#include <vector>

#include "machine/trace/format.h"

namespace bulkhead::machine::test {

// All kinds, sizes and gaps, addresses near and far.
std::vector<trace::record> some_records(std::size_t count, std::uint64_t seed);

// A file name of the running test's.
std::string trace_path();

void write_trace(const std::string &path, const std::vector<trace::record> &records, std::uint64_t more = 3);

std::vector<std::uint8_t> file_bytes(const std::string &path);

// All records of the file, or the reason why it is refused.
result<std::vector<trace::record>> read_trace(const std::string &path);
result<std::vector<trace::record>> read_trace(std::vector<std::uint8_t> file);

} // namespace bulkhead::machine::test
