// SPDX-License-Identifier: Apache-2.0
// What runs on a core until it ends or somebody has seen enough: an instrumented program or a recorded one.
// The module starts them and asks what became of them; both answer alike.
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

    // It has ended, or nobody waits for its end.
    [[nodiscard]] bool done() const;

    // core, ended, status, output, marks (number and time: 1 an iteration begins, 2 it ends), trouble.
    [[nodiscard]] nlohmann::json report() const;

private:
    std::uint32_t core_;
    bool endless_;
    std::unique_ptr<image> file_; // of the compiled program, which it must outlive
    std::unique_ptr<bare_program> compiled_;
    std::unique_ptr<trace::recorded> recorded_;
};

} // namespace bulkhead::machine
