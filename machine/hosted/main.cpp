// SPDX-License-Identifier: Apache-2.0
// hosted_run < request.json: one run, one process (machine/hosted/run.h). Writes one JSON object a line, the
// answer last; ends 1 with {"error": ...} if the request cannot be run. SIGTERM ends the run in order, as
// does a reader that goes away.
#include <csignal>
#include <iostream>
#include <iterator>

#include "machine/hosted/run.h"

namespace {

bool say(const nlohmann::json &what)
{
    std::cout << what.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n' << std::flush;
    return static_cast<bool>(std::cout);
}

} // namespace

int main()
{
    using namespace bulkhead::machine;
    (void)std::signal(SIGTERM, [](int) { hosted::stop_request(); });
    (void)std::signal(SIGPIPE, SIG_IGN);
    const std::string request{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    const auto answer = hosted::run_request(request, say);
    if (const auto *bad = std::get_if<refusal>(&answer)) {
        say({{"error", bad->reason}});
        return 1;
    }
    return say(std::get<nlohmann::json>(answer)) ? 0 : 1;
}
