// SPDX-License-Identifier: Apache-2.0
// A hosted machine as it was: booting one takes longer than most inputs. Machine takes one of each kind that
// inputs ask for and starts from it. Which source is linked decides whether that is possible; where it is
// not, every machine boots, and all else is the same.
#pragma once

#include <cstdint>
#include <vector>

namespace bulkhead_fuzz {

class Snapshot {
public:
    static bool possible();

    // Of everything that the C code, under test and fake, has in static storage, and of the device registers.
    Snapshot();
    void restore() const;

private:
    std::vector<uint64_t> data_;
    std::vector<uint64_t> bss_;
    std::vector<uint64_t> device_pages_;
};

} // namespace bulkhead_fuzz
