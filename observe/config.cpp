// SPDX-License-Identifier: Apache-2.0
// Reading of the observer's configuration; see the header. Inside of this file a refusal is an exception, as
// the JSON library throws them; callers get it as a value.
#include "observe/config.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>

#include <nlohmann/json.hpp>

namespace bulkhead::observe {

namespace {

using nlohmann::json;
using namespace machine;

constexpr std::size_t most_owners = 256;
constexpr std::uint32_t most_cores = 64;

[[noreturn]] void refuse(const std::string &reason)
{
    throw std::runtime_error(reason);
}

template <class T> T made(result<T> from, const std::string &what)
{
    if (const auto *refused = std::get_if<refusal>(&from)) {
        refuse(what + ": " + refused->reason);
    }
    return std::get<T>(std::move(from));
}

void only_keys(const json &object, const std::string &where, std::initializer_list<const char *> allowed)
{
    for (const auto &[key, value] : object.items()) {
        if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
            refuse("unknown key '" + key + "' in " + where);
        }
    }
}

template <class T> T number(const json &object, const std::string &where, const char *key)
{
    if (!object.contains(key) || !object.at(key).is_number_unsigned()) {
        refuse(where + " needs '" + key + "', an unsigned number");
    }
    const auto value = object.at(key).get<std::uint64_t>();
    if (value > std::numeric_limits<T>::max()) {
        refuse(where + ": '" + key + "' is too large");
    }
    return static_cast<T>(value);
}

cache_shape read_cache(const json &object, const std::string &name)
{
    only_keys(object, name, {"size", "ways", "line", "replacement"});
    const auto policy_name = object.value("replacement", std::string("lru"));
    const auto policy = replacement_from_name(policy_name);
    if (!policy) {
        refuse(name + ": replacement '" + policy_name + "' is none of lru, plru, random");
    }
    const auto geometry = cache_geometry::make(byte_count{number<std::uint64_t>(object, name, "size")},
                                               number<std::uint32_t>(object, name, "ways"),
                                               byte_count{number<std::uint64_t>(object, name, "line")});
    return {made(geometry, name), *policy};
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        refuse("can not read the owners map " + path.string());
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> read_names(const json &file)
{
    auto names = file.at("names").get<std::vector<std::string>>();
    if (names.size() < 2 || names.size() > most_owners) {
        refuse("'names' has " + std::to_string(names.size()) +
               " entries: nobody, the hypervisor, then domains");
    }
    if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
        refuse("'names' has the same name twice");
    }
    return names;
}

owner_map read_owners(const json &file, const std::filesystem::path &beside, std::size_t owner_count)
{
    std::vector<ram_range> ranges;
    for (const json &range : file.at("ram")) {
        only_keys(range, "ram", {"pa", "bytes"});
        ranges.push_back({phys_addr{number<std::uint64_t>(range, "ram", "pa")},
                          byte_count{number<std::uint64_t>(range, "ram", "bytes")}});
    }
    const auto path = beside / file.at("owners").get<std::string>();
    return made(owner_map::make(std::move(ranges), read_bytes(path), owner_count), "owners");
}

std::optional<start_store> read_start(const json &file)
{
    if (!file.contains("start")) {
        return std::nullopt;
    }
    const json &start = file.at("start");
    only_keys(start, "start", {"pa", "value"});
    const auto address = number<std::uint64_t>(start, "start", "pa");
    if (address % sizeof(std::uint32_t) != 0) {
        refuse("start: 'pa' is not aligned to 4 bytes");
    }
    return start_store{phys_addr{address}, number<std::uint32_t>(start, "start", "value")};
}

address_range read_range(const json &file, const char *name)
{
    if (!file.contains(name)) {
        return {phys_addr{0}, byte_count{0}};
    }
    const json &range = file.at(name);
    only_keys(range, name, {"pa", "bytes"});
    return {phys_addr{number<std::uint64_t>(range, name, "pa")},
            byte_count{number<std::uint64_t>(range, name, "bytes")}};
}

config read_file(const std::filesystem::path &path)
{
    std::ifstream stream(path);
    if (!stream) {
        refuse("can not be read");
    }
    const json file = json::parse(stream);
    only_keys(file, "the file",
              {"ram", "owners", "names", "cores", "l1d", "l1i", "llc", "uncached", "configuration_space",
               "seed", "start", "window_accesses"});
    const auto names = read_names(file);
    const auto cores = number<std::uint32_t>(file, "the file", "cores");
    if (cores == 0 || cores > most_cores) {
        refuse("'cores' is " + std::to_string(cores) + ": 1 to 64 are possible");
    }
    config read{.owners = read_owners(file, path.parent_path(), names.size()),
                .names = names,
                .cores = cores,
                .l1d = read_cache(file.at("l1d"), "l1d"),
                .l1i = read_cache(file.contains("l1i") ? file.at("l1i") : file.at("l1d"), "l1i"),
                .llc = read_cache(file.at("llc"), "llc"),
                .uncached = read_range(file, "uncached"),
                .configuration_space = read_range(file, "configuration_space"),
                .seed = file.contains("seed") ? number<std::uint64_t>(file, "the file", "seed") : 0,
                .start = read_start(file),
                .window_accesses = file.contains("window_accesses")
                                       ? number<std::uint64_t>(file, "the file", "window_accesses")
                                       : 0};
    if (read.l1d.geometry.line() != read.llc.geometry.line() ||
        read.l1i.geometry.line() != read.llc.geometry.line()) {
        refuse("all caches need the same line size");
    }
    return read;
}

} // namespace

machine::result<config> read_config(const std::string &path)
{
    try {
        return read_file(path);
    } catch (const std::exception &error) {
        return refusal{path + ": " + error.what()};
    }
}

} // namespace bulkhead::observe
