// SPDX-License-Identifier: Apache-2.0
// DC ZVA zeroes a block of memory in a way that the emulator does not report as a store, and Linux clears
// pages with it. This class tracks such an instruction: its address register is read when it is about to
// execute; when the next instruction is reached, it has succeeded, and its page is in the emulator's TLB. One
// per VCPU, used by that VCPU's thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/qemu_plugin_api.h"

namespace bulkhead::observe {

class zeroed_blocks {
public:
    // Finds the registers of the calling thread's VCPU.
    void attach();

    // `DC ZVA, X<index>` is about to execute.
    void begin(unsigned index);

    // The instruction after it is about to execute. Returns the virtual address of the block, once.
    std::optional<std::uint64_t> complete();

    [[nodiscard]] std::uint64_t block_bytes() const { return block_bytes_; }

private:
    std::uint64_t read(qemu_plugin_register *handle);

    std::vector<qemu_plugin_register *> general_; // X0 to X30
    GByteArray *buffer_ = nullptr;                // lives as long as the process
    std::uint64_t block_bytes_ = 64;
    std::uint64_t pending_ = 0;
    bool is_pending_ = false;
};

} // namespace bulkhead::observe
