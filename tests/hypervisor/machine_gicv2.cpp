// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine's GICv2 beneath the tests. A guest uses the frame that it has, and ends a
// software-generated interrupt with the sender that it has read.
#include "machine/devices/gic_v2.h"
#include "machine_board.h"

extern "C" {
#include "arch/hosted/fake_gic_v2.h"
}

namespace {

using bulkhead::machine::devices::gic_v2;
using bulkhead_test::board;
using bulkhead_test::here;

constexpr uint64_t iar = 0xC; // of both CPU interfaces, as the following
constexpr uint64_t eoir = 0x10;
constexpr uint64_t dir = 0x1000;
constexpr uint32_t intid_mask = 0x3FF;
constexpr uint32_t sgis = 16;

// The value last read from IAR, by software-generated interrupt: it holds the sender.
using Acknowledged = std::array<uint32_t, sgis>;

uint32_t as_acknowledged(const Acknowledged &by, uint32_t intid)
{
    return intid < sgis ? by.at(intid) : intid;
}

void note(Acknowledged &in, uint32_t value)
{
    if ((value & intid_mask) < sgis) {
        in.at(value & intid_mask) = value;
    }
}

class Gicv2Board final : public bulkhead_test::MachineBoard {
public:
    Gicv2Board(uint32_t cores, std::unique_ptr<gic_v2> controller)
        : MachineBoard(cores, std::move(controller), nullptr), own(static_cast<gic_v2 &>(*gic))
    {
    }

    uint32_t read_word(core_id core, uint64_t offset) override
    {
        return static_cast<uint32_t>(own.read_distributor(core, offset, 4));
    }
    void write_word(core_id core, uint64_t offset, uint32_t value) override
    {
        own.write_distributor(core, offset, 4, value);
    }
    uint32_t guest_acknowledge(core_id core) override
    {
        const auto value = static_cast<uint32_t>(own.read_virtual(core, iar));
        note(by_guest.at(core.value), value);
        last_of_guest = value;
        return value & intid_mask;
    }
    void guest_end(core_id core, uint32_t intid) override
    {
        own.write_virtual(core, eoir, as_acknowledged(by_guest.at(core.value), intid));
    }
    void guest_deactivate(core_id core, uint32_t intid) override
    {
        own.write_virtual(core, dir, as_acknowledged(by_guest.at(core.value), intid));
    }

    gic_v2 &own;
    std::array<Acknowledged, FAKE_CORES> by_guest{};
    std::array<Acknowledged, FAKE_CORES> by_driver{};
    uint32_t last_of_guest = 0;
};

Gicv2Board &gicv2()
{
    return static_cast<Gicv2Board &>(*board);
}

bool read_sysreg(enum sysreg_id id, uint64_t *value)
{
    const auto answer = board->registers.read(here(), id);

    *value = answer.value_or(0);
    return answer.has_value();
}

bool write_sysreg(enum sysreg_id id, uint64_t value)
{
    return board->registers.write(here(), id, value);
}

bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    *value = gicv2().own.read_distributor(here(), offset, bytes);
    return true;
}

bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    gicv2().own.write_distributor(here(), offset, bytes, value);
    return true;
}

bool read_interface(uint64_t offset, unsigned bytes, uint64_t *value)
{
    board->demand(bytes == 4);
    *value = gicv2().own.read_interface(here(), offset);
    if (offset == iar) {
        note(gicv2().by_driver.at(here().value), static_cast<uint32_t>(*value));
    }
    return true;
}

bool write_interface(uint64_t offset, unsigned bytes, uint64_t value)
{
    const auto written = static_cast<uint32_t>(value);

    board->demand(bytes == 4);
    if (offset == eoir || offset == dir) {
        board->demand(written == as_acknowledged(gicv2().by_driver.at(here().value), written & intid_mask));
        board->demand(offset == dir ? fake_gic_is_active(written & intid_mask)
                                    : board->gic->active_priorities(here()) != 0);
    }
    gicv2().own.write_interface(here(), offset, value);
    return true;
}

bool read_hypervisor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    board->demand(bytes == 4);
    *value = gicv2().own.read_hypervisor(here(), offset);
    return true;
}

bool write_hypervisor(uint64_t offset, unsigned bytes, uint64_t value)
{
    board->demand(bytes == 4);
    gicv2().own.write_hypervisor(here(), offset, value);
    return true;
}

} // namespace

void fake_gic_v2_init(uint64_t gicd_pa, uint64_t gicc_pa, uint64_t gich_pa, uint32_t cores,
                      uint32_t list_registers)
{
    const gic_v2::settings chosen{.cores = cores,
                                  .interrupts = FAKE_GIC_INTIDS,
                                  .maintenance = FAKE_GIC_MAINTENANCE,
                                  .list_registers = list_registers};

    board = std::make_unique<Gicv2Board>(cores,
                                         std::make_unique<gic_v2>(chosen, [](bulkhead::machine::core_id) {}));
    fake_map(gicd_pa, gic_v2::distributor_bytes, read_distributor, write_distributor);
    fake_map(gicc_pa, gic_v2::interface_bytes, read_interface, write_interface);
    fake_map(gich_pa, gic_v2::hypervisor_bytes, read_hypervisor, write_hypervisor);
    fake_hook_sysregs(read_sysreg, write_sysreg);
}

uint32_t fake_gic_guest_sender(void)
{
    return gicv2().last_of_guest >> 10 & 7;
}
