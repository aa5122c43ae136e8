// SPDX-License-Identifier: Apache-2.0
// Writes a trace block by block, as records are added. Used by the recorder and tests. Until finish() the
// file has no end, and every reader refuses it.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>

#include "machine/trace/format.h"

namespace bulkhead::machine::trace {

class writer {
public:
    // `description`: in JSON, what was recorded and how.
    static result<writer> create(const std::string &path, const std::string &description);

    // Errors in writing are reported by finish().
    void add(const record &added)
    {
        pending_.push_back(added);
        if (pending_.size() == block_records) {
            flush();
        }
    }

    // Adds the instructions after the last access and writes the end of the file. Nothing may be added
    // afterwards.
    [[nodiscard]] std::optional<refusal> finish(std::uint64_t more_instructions);

    [[nodiscard]] const totals &so_far() const { return totals_; }

private:
    struct closing {
        void operator()(std::FILE *file) const { (void)std::fclose(file); }
    };

    explicit writer(std::FILE *file) : file_(file) { pending_.reserve(block_records); }
    void flush();
    void write(const bytes &data);

    std::unique_ptr<std::FILE, closing> file_;
    std::vector<record> pending_;
    totals totals_;
    std::uint32_t blocks_ = 0;
    bool failed_ = false;
};

} // namespace bulkhead::machine::trace
