// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine's GICv3 beneath the tests.
#include "machine/devices/gic_v3.h"
#include "machine_board.h"

namespace {

using bulkhead::machine::devices::gic_v3;
using bulkhead_test::board;
using bulkhead_test::here;

class Gicv3Board final : public bulkhead_test::MachineBoard {
public:
    Gicv3Board(uint32_t cores, std::unique_ptr<gic_v3> controller)
        : MachineBoard(cores, std::move(controller), controller.get()), own(static_cast<gic_v3 &>(*gic))
    {
    }

    uint32_t read_word(core_id core, uint64_t offset) override
    {
        return static_cast<uint32_t>(is_private(offset) ? own.read_redistributor(private_at(core, offset), 4)
                                                        : own.read_distributor(offset, 4));
    }
    void write_word(core_id core, uint64_t offset, uint32_t value) override
    {
        if (is_private(offset)) {
            own.write_redistributor(private_at(core, offset), 4, value);
        } else {
            own.write_distributor(offset, 4, value);
        }
    }
    uint32_t guest_acknowledge(core_id core) override
    {
        const uint32_t intid = own.virtual_interface(core).acknowledge();
        own.virtual_changed(core);
        return intid;
    }
    void guest_end(core_id core, uint32_t intid) override
    {
        deactivate_with(core, own.virtual_interface(core).end(intid));
    }
    void guest_deactivate(core_id core, uint32_t intid) override
    {
        deactivate_with(core, own.virtual_interface(core).deactivate(intid));
    }

    gic_v3 &own;

private:
    // The first of the words of a set or clear register.
    static bool is_private(uint64_t offset) { return offset >= 0x80 && offset < 0x400 && offset % 0x80 == 0; }
    static uint64_t private_at(core_id core, uint64_t offset)
    {
        return core.value * gic_v3::redistributor_bytes + 0x10000 + offset;
    }
    void deactivate_with(core_id core, uint32_t physical)
    {
        if (physical != gic_v3::spurious) {
            demand(fake_gic_is_active(physical));
            own.deactivate(core, physical);
        }
        own.virtual_changed(core);
    }
};

gic_v3 &controller()
{
    return static_cast<Gicv3Board &>(*board).own;
}

bool read_sysreg(enum sysreg_id id, uint64_t *value)
{
    const auto answer = board->registers.read(here(), id);

    *value = answer.value_or(0);
    return answer.has_value();
}

bool write_sysreg(enum sysreg_id id, uint64_t value)
{
    if (id == SYSREG_ID_ICC_DIR_EL1) {
        board->demand(fake_gic_is_active(static_cast<uint32_t>(value)));
    } else if (id == SYSREG_ID_ICC_EOIR1_EL1) {
        board->demand(board->gic->active_priorities(here()) != 0);
    }
    return board->registers.write(here(), id, value);
}

bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    *value = controller().read_distributor(offset, bytes);
    return true;
}

bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    controller().write_distributor(offset, bytes, value);
    return true;
}

bool read_redistributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    *value = controller().read_redistributor(offset, bytes);
    return true;
}

bool write_redistributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    controller().write_redistributor(offset, bytes, value);
    return true;
}

} // namespace

void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers)
{
    gic_v3::settings chosen{.affinities = {affinity_of, affinity_of + cores},
                            .interrupts = FAKE_GIC_INTIDS,
                            .maintenance = FAKE_GIC_MAINTENANCE,
                            .list_registers = list_registers};

    board = std::make_unique<Gicv3Board>(
        cores, std::make_unique<gic_v3>(std::move(chosen), [](bulkhead::machine::core_id) {}));
    for (uint32_t i = 0; i < cores; i++) {
        board->core_of_affinity.at(affinity_of[i]) = i;
    }
    fake_map(gicd_pa, 0x10000, read_distributor, write_distributor);
    fake_map(gicr_pa, cores * gic_v3::redistributor_bytes, read_redistributor, write_redistributor);
    fake_hook_sysregs(read_sysreg, write_sysreg);
}
