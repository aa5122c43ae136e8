// SPDX-License-Identifier: Apache-2.0
// Short ways to make checked objects in tests; a refusal where none is expected fails the test with its
// reason.
#pragma once

#include <gtest/gtest.h>

#include "machine/cache.h"

namespace bulkhead::machine::test {

template <class T> T expect_made(result<T> made)
{
    if (const auto *refused = std::get_if<refusal>(&made)) {
        ADD_FAILURE() << "refused: " << refused->reason;
    }
    return std::get<T>(std::move(made));
}

template <class T> std::string reason_of(const result<T> &made)
{
    const auto *refused = std::get_if<refusal>(&made);
    return refused != nullptr ? refused->reason : "";
}

inline cache_geometry geometry(std::uint64_t size, std::uint32_t ways, std::uint64_t line)
{
    return expect_made(cache_geometry::make(byte_count{size}, ways, byte_count{line}));
}

inline cache make_cache(const cache_geometry &shape, replacement policy, std::size_t owners = 4,
                        std::uint64_t seed = 1)
{
    return expect_made(cache::make(shape, policy, owners, seed));
}

inline constexpr owner_id nobody{0}, hypervisor{1}, first{2}, second{3};

} // namespace bulkhead::machine::test
