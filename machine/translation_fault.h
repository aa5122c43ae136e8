// SPDX-License-Identifier: Apache-2.0
// Why a translation is refused, for all formats of tables: the error of walks and permission checks.
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
        domain,       // of short descriptors, as is the next one
        external_walk // a table lies at an address without memory
    };
    cause why;
    std::uint8_t stage; // 1 or 2
    std::uint8_t level;
    bool of_table_walk = false;     // fault of stage 2 on a table access of stage 1
    std::uint64_t intermediate = 0; // stage 2: the intermediate address that was to be translated
    std::uint8_t domain = 0;        // of short descriptors
};

} // namespace bulkhead::machine
