// SPDX-License-Identifier: Apache-2.0
// Reads the description of a walk; see the header. The JSON library throws exceptions, which are caught here.
#include "machine/python/walk_json.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "machine/python/space_json.h"

namespace bulkhead::machine {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char *, walk_kind>, 7> kinds{{{"read", walk_kind::read},
                                                                   {"write", walk_kind::write},
                                                                   {"update", walk_kind::update},
                                                                   {"chase", walk_kind::chase},
                                                                   {"copy", walk_kind::copy},
                                                                   {"random", walk_kind::random},
                                                                   {"random-pair", walk_kind::random_pair}}};

walk_kind kind_from(const json &value)
{
    const auto name = value.get<std::string>();
    for (const auto &[known, kind] : kinds) {
        if (name == known) {
            return kind;
        }
    }
    throw std::runtime_error("'" + name +
                             "' is none of read, write, update, chase, copy, random, random-pair");
}

void read_key(walk_settings &into, const std::string &key, const json &value)
{
    if (key == "kind") {
        into.kind = kind_from(value);
    } else if (key == "addresses") {
        value.get_to(into.addresses);
    } else if (key == "page_bytes") {
        value.get_to(into.page_bytes);
    } else if (key == "bytes") {
        value.get_to(into.bytes);
    } else if (key == "stride_bytes") {
        value.get_to(into.stride_bytes);
    } else if (key == "access_bytes") {
        value.get_to(into.access_bytes);
    } else if (key == "shuffled") {
        value.get_to(into.shuffled);
    } else if (key == "seed") {
        value.get_to(into.seed);
    } else if (key == "instructions") {
        value.get_to(into.instructions);
    } else if (key == "draws") {
        value.get_to(into.draws);
    } else if (key == "walks") {
        value.get_to(into.walks);
    } else if (key == "start_ps") {
        value.get_to(into.start_ps);
    } else if (key == "period_ps") {
        value.get_to(into.period_ps);
    } else if (key == "space") {
        into.space = space_from(value);
    } else if (key == "flush_tlb") {
        value.get_to(into.flush_tlb);
    } else {
        throw std::runtime_error("no walk has this");
    }
}

} // namespace

result<walk_settings> walk_from_json(const std::string &text)
{
    walk_settings made;
    std::string at = "walk";
    try {
        const json object = json::parse(text);
        for (const auto &[key, value] : object.items()) {
            at = "walk." + key;
            read_key(made, key, value);
        }
    } catch (const std::exception &error) {
        return refusal{at + ": " + error.what()};
    }
    return made;
}

} // namespace bulkhead::machine
