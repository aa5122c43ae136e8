// SPDX-License-Identifier: Apache-2.0
//
// The fakes' interfaces by the simulated machine's devices: its interrupt controllers and generic timers
// behind the same accessors, so that the hypervisor's unit tests run on them too. Other registers stay in
// fake_registers.c, with the log and the barriers. machine_board.cpp has what both versions of the controller
// share; machine_gicv2.cpp or machine_gicv3.cpp, which adds the version's own, is linked in.
#pragma once

#include <array>
#include <memory>

#include "machine/devices/generic_timer.h"
#include "machine/devices/gic.h"
#include "machine/hosted/sysregs.h"
#include "machine/machine.h"

extern "C" {
#include "arch/hosted/fake_gic.h"
}

namespace bulkhead_test {

class MachineBoard {
public:
    // A core's number in the machine: a test's core may have any affinity.
    using core_id = bulkhead::machine::core_id;

    MachineBoard(uint32_t cores, std::unique_ptr<bulkhead::machine::devices::gic> controller,
                 bulkhead::machine::devices::gic_v3 *with_sysregs);
    virtual ~MachineBoard() = default;
    MachineBoard(const MachineBoard &) = delete;
    MachineBoard &operator=(const MachineBoard &) = delete;

    // The register at the offset in a distributor with bits of 32 interrupts, as the core sees it.
    virtual uint32_t read_word(core_id core, uint64_t offset) = 0;
    virtual void write_word(core_id core, uint64_t offset, uint32_t value) = 0;
    // Accesses of the core's guest to its CPU interface: IAR, EOIR, DIR.
    virtual uint32_t guest_acknowledge(core_id core) = 0;
    virtual void guest_end(core_id core, uint32_t intid) = 0;
    virtual void guest_deactivate(core_id core, uint32_t intid) = 0;

    // Violations of the architecture by the users of the registers.
    void demand(bool holds) { violations += holds ? 0 : 1; }

    std::unique_ptr<bulkhead::machine::simulated_machine> hardware;
    std::unique_ptr<bulkhead::machine::devices::gic> gic;
    bulkhead::machine::devices::generic_timer timer;
    bulkhead::machine::hosted::sysregs registers;
    std::array<uint32_t, FAKE_CORES> core_of_affinity{};
    uint32_t violations = 0;
};

// The board under test; its creator maps the frames.
extern std::unique_ptr<MachineBoard> board;

// The executing core.
MachineBoard::core_id here();

} // namespace bulkhead_test
