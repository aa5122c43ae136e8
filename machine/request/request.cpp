// SPDX-License-Identifier: Apache-2.0
// Reads the request from standard input and writes the answer to standard output; see the header.
#include "machine/request/request.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

namespace bulkhead::machine {
namespace {

using nlohmann::json;

volatile std::sig_atomic_t stopping = 0;

bool say(const json &what)
{
    std::cout << what.dump(-1, ' ', true, json::error_handler_t::replace) << '\n' << std::flush;
    return static_cast<bool>(std::cout);
}

} // namespace

result<std::vector<std::byte>> file_content(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return refusal{path + ": cannot be read"};
    }
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

result<json> answer_request(const std::string &text, const request_run &run, const listener &say)
{
    try {
        return run(json::parse(text), say);
    } catch (const bad_request &bad) {
        return refusal{bad.reason};
    } catch (const json::exception &error) {
        return refusal{std::string("the request is not understood: ") + error.what()};
    }
}

bool stop_asked()
{
    return stopping != 0;
}

int serve_request(const request_run &run)
{
    (void)std::signal(SIGTERM, [](int) { stopping = 1; });
    (void)std::signal(SIGPIPE, SIG_IGN);
    const std::string request{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    const auto answer = answer_request(request, run, say);
    if (const auto *bad = std::get_if<refusal>(&answer)) {
        say({{"error", bad->reason}});
        return 1;
    }
    return say(std::get<json>(answer)) ? 0 : 1;
}

} // namespace bulkhead::machine
