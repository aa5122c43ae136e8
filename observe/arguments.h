// SPDX-License-Identifier: Apache-2.0
// The `key=value` arguments that the emulator hands to a plugin, and numbers in them. Used by both plugins
// when they are loaded; errors are values, and the plugin decides to refuse the run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "machine/types.h"

namespace bulkhead::observe {

using arguments = std::map<std::string, std::string>;

// Refuses what is no `key=value`, comes twice, or is not in `allowed`.
machine::result<arguments> parse_arguments(std::span<char *> given,
                                           std::span<const std::string_view> allowed);

// Decimal, or hexadecimal after 0x; the whole text.
std::optional<std::uint64_t> parse_number(std::string_view text);

// `ADDRESS:VALUE`.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_pair(std::string_view text);

} // namespace bulkhead::observe
