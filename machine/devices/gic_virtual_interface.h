// SPDX-License-Identifier: Apache-2.0
// The virtual CPU interface of one core, for both versions of the architecture: list registers, the state
// that EL2 controls, and the effects of the guest's acknowledgements and ends on them (IHI 0069, 4.8 and
// chapter 5; IHI 0048, chapter 5). It uses GICv3's layout; the frames of a GICv2 convert. It does not know
// the registers' addresses.
#pragma once

#include <array>
#include <cstdint>

namespace bulkhead::machine::devices {

inline constexpr std::uint32_t gic_spurious = 1023;

class gic_virtual_interface {
public:
    static constexpr std::uint32_t most_list_registers = 16;
    static constexpr std::uint32_t priority_bits = 5; // all of them are used for preemption

    // `one_for_both`: one acknowledge register serves both groups, and Group 0 is signalled as FIQ only if
    // the guest enables that (GICv2). Otherwise acknowledge() takes Group 1, and Group 0 is signalled as FIQ.
    gic_virtual_interface(std::uint32_t list_registers, bool one_for_both)
        : count_(list_registers), one_for_both_(one_for_both)
    {
    }
    [[nodiscard]] std::uint32_t list_registers() const { return count_; }

    // ICH_LR; for a software-generated interrupt of GICv2, bits 12:10 of the INTID are its sender. List
    // registers beyond the count are never valid.
    std::array<std::uint64_t, most_list_registers> lr{};
    std::uint64_t hcr = 0;
    std::uint64_t vmcr = 0;
    std::uint32_t active_priorities = 0; // ICH_AP1R0, GICH_APR: bit n: priority n << 3 is active

    [[nodiscard]] std::uint64_t empty() const;       // ICH_ELRSR
    [[nodiscard]] std::uint64_t ended() const;       // ICH_EISR
    [[nodiscard]] std::uint64_t maintenance() const; // ICH_MISR
    [[nodiscard]] bool signalled() const { return best(irq_groups()) < count_; }
    [[nodiscard]] bool fast_signalled() const { return best(~irq_groups()) < count_; } // signalled as FIQ

    // The interrupt that acknowledge() would take; spurious if there is none.
    struct signal {
        std::uint32_t intid = gic_spurious;
        bool group1 = false;
    };
    [[nodiscard]] signal highest() const;

    // Actions of the guest. end() and deactivate() return the linked physical interrupt, or spurious.
    std::uint32_t acknowledge();
    std::uint32_t end(std::uint32_t intid);
    std::uint32_t deactivate(std::uint32_t intid);
    [[nodiscard]] std::uint32_t running_priority() const;

private:
    static constexpr std::uint64_t group0 = 1; // bits of VMCR, and of sets of groups
    static constexpr std::uint64_t group1 = 2;

    [[nodiscard]] std::uint64_t irq_groups() const;
    [[nodiscard]] std::uint64_t acknowledged_groups() const
    {
        return one_for_both_ ? group0 | group1 : group1;
    }
    // Number of the list register with the best pending interrupt, or the count of list registers if there is
    // none.
    [[nodiscard]] std::uint32_t best(std::uint64_t of_groups) const;

    std::uint32_t count_;
    bool one_for_both_;
};

} // namespace bulkhead::machine::devices
