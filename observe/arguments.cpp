// SPDX-License-Identifier: Apache-2.0
// Parsing of plugin arguments; see the header.
#include "observe/arguments.h"

#include <algorithm>
#include <charconv>

namespace bulkhead::observe {

machine::result<arguments> parse_arguments(std::span<char *> given, std::span<const std::string_view> allowed)
{
    arguments parsed;
    for (const std::string_view argument : given) {
        const std::size_t equals = argument.find('=');
        const std::string_view key = argument.substr(0, equals);
        if (equals == std::string_view::npos ||
            std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
            std::string known;
            for (const std::string_view name : allowed) {
                known += " " + std::string(name) + "=";
            }
            return machine::refusal{"argument '" + std::string(argument) + "': known are" + known};
        }
        if (!parsed.emplace(key, argument.substr(equals + 1)).second) {
            return machine::refusal{"argument '" + std::string(key) + "' is given twice"};
        }
    }
    return parsed;
}

std::optional<std::uint64_t> parse_number(std::string_view text)
{
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) {
        text.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_pair(std::string_view text)
{
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto address = parse_number(text.substr(0, colon));
    const auto value = parse_number(text.substr(colon + 1));
    return address && value ? std::optional(std::pair{*address, *value}) : std::nullopt;
}

} // namespace bulkhead::observe
