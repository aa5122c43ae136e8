// SPDX-License-Identifier: Apache-2.0
// Physical addresses of instructions. The emulator tells where an instruction lies in its own (host) memory;
// RAM is one block of host memory, its ranges one after the other, so one known pair of addresses gives all.
// The pair comes from the first block executed in RAM: the MMU is still off, so its virtual address is
// physical. Sampled stores, whose value and physical address are known, verify it: the value must be found at
// the host address. Everything here may be called by all VCPU threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "machine/owner_map.h"

namespace bulkhead::observe {

class host_memory {
public:
    explicit host_memory(const machine::owner_map &ram) : ram_(ram) {}

    // The physical address of a byte of host memory. Also takes the anchor if there is none yet, which needs
    // the virtual address.
    std::optional<machine::phys_addr> locate(const void *host, std::uint64_t virtual_address);

    // A store of the low `bytes` (1 to 8) bytes of `value` has just been done to this address.
    void verify(machine::phys_addr address, std::uint64_t value, unsigned bytes);

    [[nodiscard]] std::uint64_t stores_checked() const { return checked_.load(); }
    // Another core can overwrite a value between the store and its check, so a few mismatches are accepted.
    [[nodiscard]] std::uint64_t stores_agreed() const { return agreed_.load(); }
    [[nodiscard]] bool verified() const;

private:
    const machine::owner_map &ram_;
    std::atomic<std::uint64_t> base_{0}; // host address of the first byte of RAM; 0: not known yet
    std::atomic<std::uint64_t> checked_{0};
    std::atomic<std::uint64_t> agreed_{0};
};

} // namespace bulkhead::observe
