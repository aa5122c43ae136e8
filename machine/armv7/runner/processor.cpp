// SPDX-License-Identifier: Apache-2.0
// Chooses the profile; see the header.
#include "machine/armv7/runner/processor.h"

namespace bulkhead::machine::armv7 {

nlohmann::json costs_json(const cost_counts &from)
{
    nlohmann::json pairs = nlohmann::json::array();
    for (const auto &[cycles, times] : from.times()) {
        pairs.push_back({cycles, times});
    }
    return pairs;
}

result<std::unique_ptr<processor>> make_processor(const std::string &profile, const nlohmann::json &wanted,
                                                  processor_place where)
{
    if (profile == "armv7-m") {
        return make_m_processor(wanted, std::move(where));
    }
    if (profile == "armv7-a") {
        return make_a_processor(wanted, std::move(where));
    }
    return refusal{"the machine has no profile '" + profile + "'; there are armv7-a and armv7-m"};
}

} // namespace bulkhead::machine::armv7
