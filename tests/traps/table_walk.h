// SPDX-License-Identifier: Apache-2.0
// A walk of translation tables as hardware does it (DDI 0487, D8.3), written without the code under test.
#pragma once

#include <cstdint>
#include <map>

extern "C" {
#include "memory/pool.h"
#include "memory/table_memory.h"
}

struct Translation {
    int level = 0; // 0: not mapped
    uint64_t pa = 0;
    uint64_t descriptor = 0;
};

inline Translation walk(const struct pool &pool, paddr_t root, uint64_t input)
{
    uint64_t table = root.value;
    for (int level = 1; level <= 3; level++) {
        const int shift = 12 + 9 * (3 - level);
        const auto *entries = static_cast<const uint64_t *>(
            pool_pointer(table_memory_holding(&pool, paddr(table)), paddr(table)));
        const uint64_t descriptor = entries[input >> shift & 511];
        const uint64_t address = descriptor & 0xFFFFFFFFF000;
        if ((descriptor & 1) == 0) {
            return {};
        }
        if (level == 3 || (descriptor & 2) == 0) {
            const uint64_t inside = (uint64_t{1} << shift) - 1;
            return {level, (address & ~inside) | (input & inside), descriptor};
        }
        table = address;
    }
    return {};
}
