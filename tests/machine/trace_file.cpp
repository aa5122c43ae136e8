// SPDX-License-Identifier: Apache-2.0
// Files are in the directory for temporary files and belong to one process.
#include "trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "machine/trace/reader.h"
#include "machine/trace/writer.h"

namespace bulkhead::machine::test {

std::vector<trace::record> some_records(std::size_t count, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<trace::record> records(count);
    std::uint64_t address = random();
    for (trace::record &each : records) {
        const std::uint64_t choice = random();
        address = choice % 16 == 0 ? random() : address + choice % 512 - 256;
        each.address = address;
        each.instructions = choice % 64 == 1 ? random() >> (20 + (choice >> 32) % 40) : (choice >> 8) % 20;
        each.kind = (choice >> 16) % 2 == 0 ? access_kind::read : access_kind::write;
        each.size_log2 = static_cast<std::uint8_t>((choice >> 20) % (trace::most_size_log2 + 1U));
    }
    return records;
}

std::string trace_path()
{
    return testing::TempDir() + "trace-" + std::to_string(getpid());
}

void write_trace(const std::string &path, const std::vector<trace::record> &records, std::uint64_t more)
{
    auto made = trace::writer::create(path, R"({"program": "test"})");
    ASSERT_TRUE(std::holds_alternative<trace::writer>(made));
    auto &to = std::get<trace::writer>(made);
    for (const trace::record &each : records) {
        to.add(each);
    }
    ASSERT_FALSE(to.finish(more));
}

std::vector<std::uint8_t> file_bytes(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

namespace {

result<std::vector<trace::record>> read_all(result<trace::reader> opened)
{
    if (auto *reason = std::get_if<refusal>(&opened)) {
        return *reason;
    }
    std::vector<trace::record> all;
    for (;;) {
        auto block = std::get<trace::reader>(opened).next_block();
        if (auto *reason = std::get_if<refusal>(&block)) {
            return *reason;
        }
        const auto records = std::get<std::span<const trace::record>>(block);
        if (records.empty()) {
            return all;
        }
        all.insert(all.end(), records.begin(), records.end());
    }
}

} // namespace

result<std::vector<trace::record>> read_trace(const std::string &path)
{
    return read_all(trace::reader::open(path));
}

result<std::vector<trace::record>> read_trace(std::vector<std::uint8_t> file)
{
    return read_all(trace::reader::over(fmemopen(file.data(), file.size(), "rb"), "memory"));
}

} // namespace bulkhead::machine::test
