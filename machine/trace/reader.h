// SPDX-License-Identifier: Apache-2.0
// Reads a trace from its file, block by block. Everything in the file is checked before it is used: a file of
// another format, a truncated one, or one with a changed byte is refused with the reason.
#pragma once

#include <cstdio>
#include <memory>

#include "machine/trace/format.h"

namespace bulkhead::machine::trace {

class reader {
public:
    // Checks header and end, so that a trace without an end is refused before the replay begins.
    static result<reader> open(const std::string &path);

    // The same for an open file, which the reader takes over; `name` is used in error messages.
    static result<reader> over(std::FILE *file, const std::string &name);

    [[nodiscard]] const std::string &description() const { return description_; }
    [[nodiscard]] const totals &all() const { return all_; }

    // The records of the next block; empty at the end. They are valid until the next call. Number of
    // instructions after the last access: all() minus those that were read.
    [[nodiscard]] result<std::span<const record>> next_block();

    // Starts again with the first block.
    void rewind();

private:
    struct closing {
        void operator()(std::FILE *file) const { (void)std::fclose(file); }
    };

    reader(std::string path, std::FILE *file) : path_(std::move(path)), file_(file) {}
    [[nodiscard]] refusal refused(const std::string &reason) const { return {path_ + ": " + reason}; }
    [[nodiscard]] bool read(bytes &to, std::size_t count);
    [[nodiscard]] bool read_header(std::string &reason);
    [[nodiscard]] bool read_end(std::string &reason);
    [[nodiscard]] result<std::span<const record>> finish();
    [[nodiscard]] bool counts_in(std::span<const record> block);

    std::string path_;
    std::unique_ptr<std::FILE, closing> file_;
    std::string description_;
    totals all_;
    std::uint32_t blocks_ = 0;
    long first_block_ = 0;
    std::vector<record> block_;
    totals seen_;
    std::uint32_t blocks_seen_ = 0;
};

} // namespace bulkhead::machine::trace
