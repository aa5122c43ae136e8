// SPDX-License-Identifier: Apache-2.0
// Strong types of the simulated machine: identifiers, byte counts and physical addresses that do not mix by
// accident. Every header of machine/ includes this one; it must stay free of any behaviour.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

namespace bulkhead::machine {

// Owner of memory: nobody, the hypervisor, or a domain. The caller defines the meaning of the numbers.
struct owner_id {
    std::uint8_t value = 0;
    constexpr auto operator<=>(const owner_id &) const = default;
};

struct core_id {
    std::uint32_t value = 0;
    constexpr auto operator<=>(const core_id &) const = default;
};

struct byte_count {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const byte_count &) const = default;
};

struct phys_addr {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const phys_addr &) const = default;
};

// Why something cannot be built as requested, in words for the user.
struct refusal {
    std::string reason;
};

template <class T> using result = std::variant<T, refusal>;

enum class access_kind : std::uint8_t { read, write };

} // namespace bulkhead::machine
