// SPDX-License-Identifier: Apache-2.0
// The TLB lockdown registers of a Cortex-A9 (DDI 0388I, 4.3.15 and 4.3.27): c10, which selects the entries
// that walks fill, and those of c15, by which software reads and writes the lockable entries. They work on
// the main TLB of an MMU; an entry is written when its PA register is written, which is the last of its
// registers.
#pragma once

#include <cstdint>

#include "machine/mmu.h"

namespace bulkhead::machine::armv7::a_profile {

class tlb_lockdown {
public:
    explicit tlb_lockdown(mmu &translation) : mmu_(translation) {}

    [[nodiscard]] std::uint32_t lockdown() const { return lockdown_; }
    void set_lockdown(std::uint32_t value);

    // The entry that the registers below access: one for reads, one for writes.
    void select_for_read(std::uint32_t index) { read_ = index; }
    void select_for_write(std::uint32_t index) { write_ = index; }

    [[nodiscard]] std::uint32_t va() const;
    [[nodiscard]] std::uint32_t pa() const;
    [[nodiscard]] std::uint32_t attributes() const;
    void set_va(std::uint32_t value) { va_ = value; }
    void set_attributes(std::uint32_t value) { attributes_ = value; }
    void set_pa(std::uint32_t value, const short_descriptors::registers &tables);

private:
    [[nodiscard]] std::uint32_t entry(std::uint32_t index) const { return index % mmu_.lockable_entries(); }

    mmu &mmu_;
    std::uint32_t lockdown_ = 0;
    std::uint32_t read_ = 0;
    std::uint32_t write_ = 0;
    std::uint32_t va_ = 0; // value to be written
    std::uint32_t attributes_ = 0;
};

} // namespace bulkhead::machine::armv7::a_profile
