// SPDX-License-Identifier: Apache-2.0
// A saved state of a hosted machine: booting one takes longer than most inputs. Machine saves one of each
// kind that inputs use and starts from it. The linked source decides whether that is possible; without it
// every machine boots, and everything else is the same.
#pragma once

#include <cstdint>
#include <vector>

namespace bulkhead_fuzz {

class Snapshot {
public:
    static bool possible();

    // A copy of all static storage of the C code, under test and fake, and of the device registers.
    Snapshot();
    void restore() const;

private:
    std::vector<uint64_t> data_;
    std::vector<uint64_t> bss_;
    std::vector<uint64_t> device_pages_;
};

} // namespace bulkhead_fuzz
