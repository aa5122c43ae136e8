// SPDX-License-Identifier: Apache-2.0
// hosted_run < request.json > answer.json: one run, one process (machine/hosted/run.h). Ends 1 with {"error":
// ...} if the request cannot be run.
#include <iostream>
#include <iterator>

#include "machine/hosted/run.h"

int main()
{
    using namespace bulkhead::machine;
    const std::string request{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    const auto answer = hosted::run_request(request);
    if (const auto *bad = std::get_if<refusal>(&answer)) {
        std::cout << nlohmann::json{{"error", bad->reason}} << '\n';
        return 1;
    }
    // The console may have any bytes.
    std::cout << std::get<nlohmann::json>(answer).dump(-1, ' ', false,
                                                       nlohmann::json::error_handler_t::replace)
              << '\n';
    return 0;
}
