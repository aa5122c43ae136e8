// SPDX-License-Identifier: Apache-2.0
// Why a translation is refused, whatever the format of the tables: what walks and checks answer with.
#pragma once

#include <cstdint>

namespace bulkhead::machine {

struct translation_fault {
    enum class cause : std::uint8_t {
        translation,
        access_flag,
        permission,
        address_size,
        external,
        domain,       // of short descriptors, as the next one
        external_walk // a table is where there is no memory
    };
    cause why;
    std::uint8_t stage; // 1 or 2
    std::uint8_t level;
    bool of_table_walk = false;     // of stage 1, by stage 2
    std::uint64_t intermediate = 0; // stage 2: the address that it was asked for
    std::uint8_t domain = 0;        // of short descriptors
};

} // namespace bulkhead::machine
