// SPDX-License-Identifier: Apache-2.0
// How every fuzz target reports that a property does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace bulkhead_fuzz {

// Prints what is wrong and ends the process.
[[noreturn]] inline void broken(const char *what)
{
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

inline void require(bool holds, const char *what)
{
    if (!holds) {
        broken(what);
    }
}

} // namespace bulkhead_fuzz
