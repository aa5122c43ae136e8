// SPDX-License-Identifier: Apache-2.0
// What programs share that read a request from standard input, do one run and write what comes of it, in
// JSON: one object a line, the answer last. machine/hosted/ and machine/armv7/runner/ know what a request
// means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/types.h"

namespace bulkhead::machine {

// Is told what there is to tell while a run goes on; false: nobody listens, and the run ends.
using listener = std::function<bool(const nlohmann::json &)>;

// Makes an answer of a request. It throws bad_request, or what the JSON library throws.
using request_run = std::function<nlohmann::json(const nlohmann::json &request, const listener &say)>;

// Simulated time between two looks outside (stop_asked()); results do not depend on it.
inline constexpr std::uint64_t piece_ps = 2'000'000'000;

// What a request cannot mean. It becomes a refusal at the one way in, answer_request().
struct bad_request {
    std::string reason;
};

// What was made; throws bad_request.
template <class Made> Made take(result<Made> made)
{
    if (const auto *bad = std::get_if<refusal>(&made)) {
        throw bad_request{bad->reason};
    }
    return std::get<Made>(std::move(made));
}

// The content of a file that a request names.
result<std::vector<std::byte>> file_content(const std::string &path);

// The run of a request as text.
result<nlohmann::json> answer_request(const std::string &text, const request_run &run, const listener &say);

// Whether the present run has to end, in order: SIGTERM came.
bool stop_asked();

// main() of such a program: the request is all of standard input. 0, or 1 after {"error": reason}, or where
// the reader has gone away.
int serve_request(const request_run &run);

} // namespace bulkhead::machine
