// SPDX-License-Identifier: Apache-2.0
// A GICv3 as software sees it (IHI 0069): distributor and redistributors. The CPU interfaces are system
// registers, implemented by the code that executes a core. No LPIs. The behaviour never depends on the
// accessing core.
#pragma once

#include "machine/devices/gic.h"

namespace bulkhead::machine::devices {

class gic_v3 final : public gic {
public:
    static constexpr std::uint64_t distributor_bytes = 0x10000;
    static constexpr std::uint64_t redistributor_bytes = 0x20000;

    struct settings {
        std::vector<std::uint32_t> affinities; // of each core: Aff3.Aff2.Aff1.Aff0
        std::uint32_t interrupts = 288;        // INTIDs, a multiple of 32
        std::uint32_t maintenance = 25;
        std::uint32_t list_registers = 4; // of each core, up to 16
    };
    // `changed` is called with a core whose signalled interrupts may have changed.
    gic_v3(const settings &chosen, std::function<void(core_id)> changed);

    // Registers by offset; for the redistributors, from the start of the first one.
    std::uint64_t read_distributor(std::uint64_t offset, unsigned bytes);
    void write_distributor(std::uint64_t offset, unsigned bytes, std::uint64_t value);
    std::uint64_t read_redistributor(std::uint64_t offset, unsigned bytes);
    void write_redistributor(std::uint64_t offset, unsigned bytes, std::uint64_t value);

    // ICC_SGI1R, CTLR, IGRPEN1.
    void send_sgi(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t control(core_id core) const;
    void set_control(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t group_enable(core_id core) const { return at(core).groups != 0 ? 1 : 0; }
    void set_group_enable(core_id core, std::uint64_t value);

private:
    void route(std::uint32_t intid, std::uint64_t affinity);

    std::vector<std::uint32_t> affinities_;
    std::vector<std::uint64_t> routes_;
};

} // namespace bulkhead::machine::devices
