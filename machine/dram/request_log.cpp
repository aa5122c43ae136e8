// SPDX-License-Identifier: Apache-2.0
// Formats of the lines; see the header.
#include "machine/dram/request_log.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace bulkhead::machine::dram {

namespace {

// Builds a line from pieces; the buffer is far larger than the longest line.
class text_line {
public:
    text_line &text(std::string_view piece)
    {
        std::memcpy(end_, piece.data(), piece.size());
        end_ += piece.size();
        return *this;
    }
    text_line &number(std::uint64_t value, int base)
    {
        end_ = std::to_chars(end_, room_.data() + room_.size(), value, base).ptr;
        return *this;
    }
    [[nodiscard]] std::string_view view() const
    {
        return {room_.data(), static_cast<std::size_t>(end_ - room_.data())};
    }

private:
    std::array<char, 64> room_{};
    char *end_ = room_.data();
};

} // namespace

std::optional<trace_format> trace_format_of(std::string_view name)
{
    using enum trace_format;
    return name == "dramsim3"     ? std::optional(dramsim3)
           : name == "ramulator"  ? std::optional(ramulator)
           : name == "load-store" ? std::optional(load_store)
                                  : std::nullopt;
}

result<request_log> request_log::open(const std::string &path, trace_format format, std::uint64_t most)
{
    std::FILE *const file = std::fopen(path.c_str(), "we");
    if (file == nullptr) {
        return refusal{path + ": " + std::strerror(errno)};
    }
    return request_log{file, format, most};
}

void request_log::write(const request &one)
{
    if (written_ == most_) {
        return;
    }
    ++written_;
    text_line line;
    switch (format_) {
    case trace_format::dramsim3:
        line.text("0x").number(one.address, 16).text(one.write ? " WRITE " : " READ ").number(one.when, 10);
        break;
    case trace_format::ramulator:
        line.text("0x").number(one.address, 16).text(one.write ? " W" : " R");
        break;
    case trace_format::load_store:
        line.text(one.write ? "ST 0x" : "LD 0x").number(one.address, 16);
        break;
    }
    const std::string_view whole = line.text("\n").view();
    (void)std::fwrite(whole.data(), 1, whole.size(),
                      file_.get()); // close() returns whether all writes succeeded
}

std::string request_log::close()
{
    advance(~clocks{0});
    const bool failed = std::ferror(file_.get()) != 0;
    const bool lost = std::fclose(file_.release()) != 0;
    return failed || lost ? "the request stream could not be written: " + std::string(std::strerror(errno))
                          : "";
}

} // namespace bulkhead::machine::dram
