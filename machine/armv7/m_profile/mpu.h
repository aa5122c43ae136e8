// SPDX-License-Identifier: Apache-2.0
// The MPU of Armv7-M (PMSAv7, Arm DDI 0403E.e B3.5): regions with sub-regions, their registers and aliases,
// and the answer for an address. It checks nothing itself: the accessing code asks for the span that contains
// the address, and may keep it until changes() changes.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/armv7/m_profile/memory_map.h"

namespace bulkhead::machine::armv7::m_profile {

class mpu {
public:
    // `regions`: 0 (no MPU) to 16.
    explicit mpu(std::uint32_t regions) : regions_(regions) {}

    // Registers by offset from MPU_TYPE (0xE000ED90); writes are whole words.
    static constexpr std::uint32_t registers_end = 0x2C;
    [[nodiscard]] std::uint32_t read(std::uint32_t offset) const;
    void write(std::uint32_t offset, std::uint32_t value);

    // Increases with each write that can change an answer.
    [[nodiscard]] std::uint64_t changes() const { return changes_; }

    [[nodiscard]] bool enabled() const { return (control_ & ctrl_enable) != 0; }
    // Whether the MPU applies to code at a negative priority: HardFault, NMI, FAULTMASK.
    [[nodiscard]] bool checks_fault_handlers() const { return (control_ & ctrl_hfnmiena) != 0; }

    // The largest span of addresses around `address` with the same answer while the MPU is on: that of the
    // region with the highest number that contains it, or of the default map (`privileged` and
    // MPU_CTRL.PRIVDEFENA), or none.
    [[nodiscard]] answered_span answer(std::uint32_t address, bool privileged) const;

private:
    static constexpr std::uint32_t ctrl_enable = 1;
    static constexpr std::uint32_t ctrl_hfnmiena = 2;
    static constexpr std::uint32_t ctrl_privdefena = 4;

    struct region {
        std::uint32_t rbar = 0; // only the ADDR field
        std::uint32_t rasr = 0;
        // Derived from both registers; regions below 256 bytes have no sub-regions.
        bool on = false;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
        std::uint32_t subregion_bits = 0; // log2 of a sub-region's size; 0: none
        std::uint32_t disabled = 0;       // SRD, for regions with sub-regions
        memory_attributes attributes{};
        permissions rights{};
    };
    // Whether a region contains an address, and the span for which this holds.
    struct part {
        bool has;
        std::uint32_t first;
        std::uint32_t last;
    };

    void write_base(std::uint32_t value);
    void write_attributes(std::uint32_t value);
    static void derive(region &one);
    static part part_of(const region &one, std::uint32_t address);

    std::vector<region> regions_;
    std::uint32_t control_ = 0;
    std::uint32_t number_ = 0; // MPU_RNR
    std::uint64_t changes_ = 0;
};

} // namespace bulkhead::machine::armv7::m_profile
