// SPDX-License-Identifier: Apache-2.0
// Common part of programs that read a request from standard input, do one run and write the results in JSON:
// one object per line, the answer last. machine/hosted/ and machine/armv7/runner/ define the requests.
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

// Called with reports during a run; false: the reader is gone, and the run ends.
using listener = std::function<bool(const nlohmann::json &)>;

// Executes a request and returns the answer. It throws bad_request, or what the JSON library throws.
using request_run = std::function<nlohmann::json(const nlohmann::json &request, const listener &say)>;

// Simulated time between two checks for a stop request (stop_asked()); results do not depend on it.
inline constexpr std::uint64_t piece_ps = 2'000'000'000;

// Error in a request. answer_request() turns it into a refusal.
struct bad_request {
    std::string reason;
};

// The made object; throws bad_request for a refusal.
template <class Made> Made take(result<Made> made)
{
    if (const auto *bad = std::get_if<refusal>(&made)) {
        throw bad_request{bad->reason};
    }
    return std::get<Made>(std::move(made));
}

// The content of a file that a request names.
result<std::vector<std::byte>> file_content(const std::string &path);

// Executes a request given as text.
result<nlohmann::json> answer_request(const std::string &text, const request_run &run, const listener &say);

// Whether the present run is to end regularly, because SIGTERM was received.
bool stop_asked();

// main() of these programs: the request is all of standard input. Returns 0, or 1 after {"error": reason} or
// if the reader is gone.
int serve_request(const request_run &run);

} // namespace bulkhead::machine
