// SPDX-License-Identifier: Apache-2.0
// A program on a core, compiled (instrumented) or recorded, that runs until it ends or the run is over. The
// module starts programs and reads their reports, which have the same form for both kinds.
#pragma once

#include <cstdint>
#include <memory>

#include <nlohmann/json.hpp>

#include "machine/program/bare.h"
#include "machine/trace/recorded.h"

namespace bulkhead::machine {

class program_on_core {
public:
    program_on_core(std::uint32_t core, bool endless, std::unique_ptr<image> file,
                    std::unique_ptr<bare_program> what)
        : core_(core), endless_(endless), file_(std::move(file)), compiled_(std::move(what))
    {
    }
    program_on_core(std::uint32_t core, bool endless, std::unique_ptr<trace::recorded> what)
        : core_(core), endless_(endless), recorded_(std::move(what))
    {
    }

    [[nodiscard]] std::uint32_t core() const { return core_; }

    // True if the program has ended, or is endless.
    [[nodiscard]] bool done() const;

    // core, ended, status, output, marks (number and time: 1: begin of an iteration, 2: its end), trouble.
    [[nodiscard]] nlohmann::json report() const;

private:
    std::uint32_t core_;
    bool endless_;
    std::unique_ptr<image> file_; // file of the compiled program, which must outlive the program
    std::unique_ptr<bare_program> compiled_;
    std::unique_ptr<trace::recorded> recorded_;
};

} // namespace bulkhead::machine
