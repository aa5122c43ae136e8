// SPDX-License-Identifier: Apache-2.0
// Compression is zstd's, at a level that is fast enough for the emulator.
#include "machine/trace/writer.h"

#include <zstd.h>

#include <cerrno>
#include <cstring>

#include "core/crc32.h"

namespace bulkhead::machine::trace {

namespace {

constexpr int compression_level = 6;

} // namespace

result<writer> writer::create(const std::string &path, const std::string &description)
{
    if (description.size() > most_description_bytes) {
        return refusal{"the description of a trace is at most 64 KiB long"};
    }
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return refusal{path + ": " + std::strerror(errno)};
    }
    writer made(file);
    bytes header(magic.begin(), magic.end());
    append_u32(header, version);
    append_u32(header, static_cast<std::uint32_t>(description.size()));
    header.insert(header.end(), description.begin(), description.end());
    append_u32(header, crc32_update(0, header.data(), header.size()));
    made.write(header);
    return made;
}

void writer::write(const bytes &data)
{
    failed_ = failed_ || std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size();
}

void writer::flush()
{
    bytes raw;
    encode(pending_, raw);
    bytes packed(ZSTD_compressBound(raw.size()));
    const std::size_t size =
        ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), compression_level);
    failed_ = failed_ || ZSTD_isError(size) != 0;
    packed.resize(failed_ ? 0 : size);

    bytes block;
    append_u32(block, block_tag);
    append_u32(block, static_cast<std::uint32_t>(packed.size()));
    append_u32(block, static_cast<std::uint32_t>(raw.size()));
    append_u32(block, static_cast<std::uint32_t>(pending_.size()));
    const std::uint32_t crc = crc32_update(0, block.data(), block.size());
    append_u32(block, crc32_update(crc, packed.data(), packed.size()));
    block.insert(block.end(), packed.begin(), packed.end());
    write(block);

    for (const record &each : pending_) {
        totals_.instructions += each.instructions;
        ++(each.kind == access_kind::write ? totals_.writes : totals_.reads);
    }
    totals_.records += pending_.size();
    ++blocks_;
    pending_.clear();
}

std::optional<refusal> writer::finish(std::uint64_t more_instructions)
{
    if (!pending_.empty()) {
        flush();
    }
    totals_.instructions += more_instructions;
    bytes end;
    append_u32(end, end_tag);
    append_u32(end, blocks_);
    append_u64(end, totals_.records);
    append_u64(end, totals_.instructions);
    append_u64(end, totals_.reads);
    append_u64(end, totals_.writes);
    append_u32(end, crc32_update(0, end.data(), end.size()));
    write(end);
    failed_ = std::fflush(file_.get()) != 0 || failed_;
    return failed_ ? std::optional(refusal{"the trace could not be written: is the disk full?"})
                   : std::nullopt;
}

} // namespace bulkhead::machine::trace
