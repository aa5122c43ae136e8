// SPDX-License-Identifier: Apache-2.0
// See ram.h. The file is sparse: a machine may have more memory than the host.
#include "machine/program/ram.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace bulkhead::machine {

namespace {

std::string bad_ranges(std::span<const memory_range> sorted)
{
    if (sorted.empty()) {
        return "a machine without memory";
    }
    std::uint64_t end = 0;
    for (const memory_range &range : sorted) {
        const std::uint64_t first = range.first.value;
        if (range.bytes.value == 0 || (first | range.bytes.value) % page_bytes != 0) {
            return "memory must be whole pages of 4096 bytes";
        }
        if (first + range.bytes.value < first) {
            return "memory beyond the end of the address space";
        }
        if (first < end) {
            return "ranges of memory overlap";
        }
        end = first + range.bytes.value;
    }
    return "";
}

} // namespace

result<ram> ram::make(std::span<const memory_range> ranges)
{
    std::vector<memory_range> sorted(ranges.begin(), ranges.end());
    std::ranges::sort(sorted, {}, [](const memory_range &range) { return range.first; });
    if (std::string reason = bad_ranges(sorted); !reason.empty()) {
        return refusal{std::move(reason)};
    }
    std::uint64_t size = 0;
    std::vector<piece> pieces;
    for (const memory_range &range : sorted) {
        pieces.push_back({range, size});
        size += range.bytes.value;
    }
    const int file = memfd_create("simulated memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
        const std::string why = std::strerror(errno);
        close(file);
        return refusal{"no file for simulated memory: " + why};
    }
    void *mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (mapping == MAP_FAILED) {
        const std::string why = std::strerror(errno);
        close(file);
        return refusal{"no mapping of simulated memory: " + why};
    }
    return ram(file, static_cast<std::byte *>(mapping), size, std::move(pieces));
}

ram::ram(int file, std::byte *mapping, std::uint64_t size, std::vector<piece> pieces)
    : file_(file), mapping_(mapping), size_(size), pieces_(std::move(pieces))
{
}

ram::ram(ram &&other) noexcept
    : file_(std::exchange(other.file_, -1)), mapping_(std::exchange(other.mapping_, nullptr)),
      size_(other.size_), pieces_(std::move(other.pieces_))
{
}

ram &ram::operator=(ram &&other) noexcept
{
    std::swap(file_, other.file_);
    std::swap(mapping_, other.mapping_);
    std::swap(size_, other.size_);
    std::swap(pieces_, other.pieces_);
    return *this;
}

ram::~ram()
{
    if (mapping_ != nullptr) {
        munmap(mapping_, size_);
        close(file_);
    }
}

std::uint64_t ram::offset_of(phys_addr first, byte_count count) const
{
    for (const piece &each : pieces_) {
        const std::uint64_t offset = first.value - each.range.first.value;
        if (first >= each.range.first && offset < each.range.bytes.value &&
            count.value <= each.range.bytes.value - offset) {
            return each.offset + offset;
        }
    }
    return absent;
}

std::span<std::byte> ram::bytes(phys_addr first, byte_count count) const
{
    const std::uint64_t offset = offset_of(first, count);
    if (offset == absent) {
        return {};
    }
    return {mapping_ + offset, count.value};
}

} // namespace bulkhead::machine
