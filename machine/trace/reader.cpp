// SPDX-License-Identifier: Apache-2.0
// Sizes in the file are checked against limits before memory is allocated for them.
#include "machine/trace/reader.h"

#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/crc32.h"

namespace bulkhead::machine::trace {

namespace {

// Whether the last word of these bytes is the CRC of the others.
bool is_intact(const bytes &data)
{
    const std::size_t covered = data.size() - crc_bytes;
    return read_u32(data, covered) == crc32_update(0, data.data(), covered);
}

// No instruction of the architecture makes more accesses (a gather of 64 elements).
constexpr std::uint64_t most_accesses = 64;

} // namespace

result<reader> reader::open(const std::string &path)
{
    std::error_code unknown;
    if (const auto what = std::filesystem::status(path, unknown);
        std::filesystem::exists(what) && !std::filesystem::is_regular_file(what)) {
        return refusal{path + ": not a file"}; // opening a pipe would block until it has a writer
    }
    std::FILE *file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        return refusal{path + ": " + std::strerror(errno)};
    }
    return over(file, path);
}

result<reader> reader::over(std::FILE *file, const std::string &name)
{
    reader made(name, file);
    std::string reason;
    if (!made.read_header(reason) || !made.read_end(reason)) {
        return made.refused(reason);
    }
    made.rewind();
    return made;
}

bool reader::read(bytes &to, std::size_t count)
{
    const std::size_t before = to.size();
    to.resize(before + count);
    return std::fread(to.data() + before, 1, count, file_.get()) == count;
}

bool reader::read_header(std::string &reason)
{
    bytes header;
    if (!read(header, header_bytes) || !std::equal(magic.begin(), magic.end(), header.begin())) {
        reason = "not a trace of this project";
        return false;
    }
    if (const std::uint32_t found = read_u32(header, magic.size()); found != version) {
        reason = "format version " + std::to_string(found) + ", and this program reads version " +
                 std::to_string(version);
        return false;
    }
    const std::size_t length = read_u32(header, magic.size() + 4);
    if (length > most_description_bytes || !read(header, length + crc_bytes) || !is_intact(header)) {
        reason = "its header is damaged";
        return false;
    }
    const auto text = header.begin() + header_bytes;
    description_.assign(text, text + static_cast<std::ptrdiff_t>(length));
    if (!description_.empty() && !nlohmann::json::accept(description_)) {
        reason = "its description is no JSON";
        return false;
    }
    first_block_ = std::ftell(file_.get());
    return true;
}

bool reader::read_end(std::string &reason)
{
    bytes end;
    const bool there = std::fseek(file_.get(), -static_cast<long>(end_bytes), SEEK_END) == 0 &&
                       std::ftell(file_.get()) >= first_block_ && read(end, end_bytes);
    if (!there || read_u32(end, 0) != end_tag || !is_intact(end)) {
        reason = "it has no end: the recording was interrupted or the file was cut off";
        return false;
    }
    blocks_ = read_u32(end, 4);
    all_ = {.records = read_u64(end, 8),
            .instructions = read_u64(end, 16),
            .reads = read_u64(end, 24),
            .writes = read_u64(end, 32)};
    if (all_.records / most_accesses > all_.instructions) {
        reason = "it has more accesses than its instructions can make";
        return false;
    }
    return true;
}

void reader::rewind()
{
    (void)std::fseek(file_.get(), first_block_, SEEK_SET);
    seen_ = {};
    blocks_seen_ = 0;
}

// Checks at the end that the totals stored there are those that were read.
result<std::span<const record>> reader::finish()
{
    if (seen_.records != all_.records || seen_.reads != all_.reads || seen_.writes != all_.writes) {
        return refused("its end does not tell what is in it: blocks are missing or too many");
    }
    return std::span<const record>{};
}

// Adds a block to the totals read so far; false: they exceed the totals stored at the end. Checked before a
// record is used, since sums of crafted records could overflow.
bool reader::counts_in(std::span<const record> block)
{
    for (const record &each : block) {
        if (each.instructions > all_.instructions - seen_.instructions) {
            return false;
        }
        seen_.instructions += each.instructions;
        ++(each.kind == access_kind::write ? seen_.writes : seen_.reads);
    }
    seen_.records += block.size();
    return seen_.records <= all_.records;
}

result<std::span<const record>> reader::next_block()
{
    const std::string which = "block " + std::to_string(blocks_seen_);
    bytes head;
    if (blocks_seen_ == blocks_) {
        const long rest = std::fseek(file_.get(), 0, SEEK_CUR) == 0 ? std::ftell(file_.get()) : 0;
        (void)std::fseek(file_.get(), 0, SEEK_END);
        if (rest + static_cast<long>(end_bytes) != std::ftell(file_.get())) {
            return refused("something lies between its last block and its end");
        }
        return finish();
    }
    if (!read(head, block_header_bytes) || read_u32(head, 0) != block_tag) {
        return refused(which + " is missing");
    }
    const std::size_t packed_size = read_u32(head, 4);
    const std::size_t raw_size = read_u32(head, 8);
    const std::size_t count = read_u32(head, 12);
    const std::size_t most = block_records * most_record_bytes;
    if (count == 0 || count > block_records || raw_size > most || packed_size > ZSTD_compressBound(most)) {
        return refused(which + " has impossible sizes");
    }
    bytes packed;
    const std::uint32_t crc = crc32_update(0, head.data(), block_header_bytes - crc_bytes);
    if (!read(packed, packed_size) ||
        crc32_update(crc, packed.data(), packed.size()) != read_u32(head, block_header_bytes - crc_bytes)) {
        return refused(which + " is damaged");
    }
    bytes raw(raw_size);
    if (ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()) != raw_size) {
        return refused(which + " is not compressed as it should be");
    }
    auto decoded = decode(raw, count);
    if (const auto *reason = std::get_if<refusal>(&decoded)) {
        return refused(which + ": " + reason->reason);
    }
    block_ = std::get<std::vector<record>>(std::move(decoded));
    if (!counts_in(block_)) {
        return refused(which + " is more than its end tells");
    }
    ++blocks_seen_;
    return std::span<const record>(block_);
}

} // namespace bulkhead::machine::trace
