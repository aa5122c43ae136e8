// SPDX-License-Identifier: Apache-2.0
// A GICv2 as software sees it (IHI 0048; the GIC-400 is one): distributor, CPU interfaces, and the frames by
// which a hypervisor gives virtual ones to guests. All of them are banked by the accessing core. There are no
// security extensions, so interrupts are in Group 0 unless software moves them; there are no aliased
// registers, so interrupts of Group 1 are acknowledged only with AckCtl.
#pragma once

#include "machine/devices/gic.h"

namespace bulkhead::machine::devices {

class gic_v2 final : public gic {
public:
    static constexpr std::uint64_t distributor_bytes = 0x1000;
    static constexpr std::uint64_t interface_bytes = 0x2000; // GICC, GICV
    static constexpr std::uint64_t hypervisor_bytes = 0x1000;

    struct settings {
        std::size_t cores;
        std::uint32_t interrupts = 192; // INTIDs, a multiple of 32
        std::uint32_t maintenance = 25;
        std::uint32_t list_registers = 4; // of each core, up to 16
    };
    // `changed` is called with a core whose signalled interrupts may have changed.
    gic_v2(const settings &chosen, std::function<void(core_id)> changed);

    // Registers by offset, as the core `from` sees them.
    std::uint64_t read_distributor(core_id from, std::uint64_t offset, unsigned bytes);
    void write_distributor(core_id from, std::uint64_t offset, unsigned bytes, std::uint64_t value);
    std::uint64_t read_interface(core_id from, std::uint64_t offset); // GICC
    void write_interface(core_id from, std::uint64_t offset, std::uint64_t value);
    std::uint64_t read_hypervisor(core_id from, std::uint64_t offset); // GICH
    void write_hypervisor(core_id from, std::uint64_t offset, std::uint64_t value);
    std::uint64_t read_virtual(core_id from, std::uint64_t offset); // GICV
    void write_virtual(core_id from, std::uint64_t offset, std::uint64_t value);

private:
    // State of a core in addition to that common to both versions.
    struct own {
        std::array<std::uint8_t, sgis> senders{}; // sending cores of pending software-generated interrupts
        bool acknowledges_group1 = false;         // AckCtl
        std::uint32_t binary_points = 0;          // GICC_BPR and, from bit 8 on, ABPR
    };

    std::uint8_t read_target(core_id from, std::uint64_t intid) const;
    std::uint8_t *senders_at(core_id from, std::uint64_t offset);
    void change_senders(core_id from, std::uint64_t offset, std::uint32_t senders, bool set);
    void send_sgi(core_id from, std::uint32_t value);
    std::uint32_t acknowledge_with_sender(core_id from);
    std::uint32_t acknowledge_virtual(core_id from);

    std::vector<own> own_;
};

} // namespace bulkhead::machine::devices
