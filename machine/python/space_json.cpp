// SPDX-License-Identifier: Apache-2.0
// Reads the description of an address space; see the header.
#include "machine/python/space_json.h"

#include <stdexcept>

namespace bulkhead::machine {

using nlohmann::json;

space_settings space_from(const json &value)
{
    space_settings made;
    for (const auto &[key, item] : value.items()) {
        if (key == "stages") {
            item.get_to(made.stages);
        } else if (key == "levels") {
            item.get_to(made.levels);
        } else if (key == "blocks") {
            item.get_to(made.blocks);
        } else if (key == "tables_cached") {
            item.get_to(made.tables_cached);
        } else if (key == "stage2_cached") {
            item.get_to(made.stage2_cached);
        } else if (key == "stage2_frames") {
            item.get_to(made.stage2_frames);
        } else if (key == "instructions") {
            item.get_to(made.instructions);
        } else if (key == "frames") {
            item.get_to(made.frames);
        } else if (key == "pieces") {
            for (const auto &[address, output, bytes] :
                 item.get<std::vector<std::array<std::uint64_t, 3>>>()) {
                made.pieces.push_back({address, output, bytes});
            }
        } else {
            throw std::runtime_error("no address space has '" + key + "'");
        }
    }
    return made;
}

result<std::optional<space_settings>> space_from_text(const std::string &text)
{
    if (text.empty()) {
        return std::optional<space_settings>{};
    }
    try {
        return std::optional{space_from(json::parse(text))};
    } catch (const std::exception &error) {
        return refusal{std::string("space: ") + error.what()};
    }
}

} // namespace bulkhead::machine
