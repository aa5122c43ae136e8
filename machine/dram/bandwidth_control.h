// SPDX-License-Identifier: Apache-2.0
// Where MPAM's bandwidth control takes hold of the memory controller: it is asked for each request when that
// may enter, by the partition that the request carries. The model of a control implements it; without one,
// requests enter as they come.
#pragma once

#include "machine/time.h"
#include "machine/types.h"

namespace bulkhead::machine::dram {

class bandwidth_control {
public:
    bandwidth_control() = default;
    bandwidth_control(const bandwidth_control &) = delete;
    bandwidth_control &operator=(const bandwidth_control &) = delete;
    virtual ~bandwidth_control() = default;

    // When a request that comes at `when` may enter, not before `when`.
    virtual picoseconds admit(std::uint16_t partition, access_kind kind, byte_count bytes,
                              picoseconds when) = 0;
};

} // namespace bulkhead::machine::dram
