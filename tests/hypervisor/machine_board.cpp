// SPDX-License-Identifier: Apache-2.0
//
// The fakes' interfaces by the simulated machine's devices: its GICv3 and its generic timers behind the same
// accessors, so that the hypervisor's unit tests run on them too. Registers that are no device's stay in
// fake_registers.c, with the log and the barriers.
#include <array>
#include <memory>

#include "machine/devices/generic_timer.h"
#include "machine/devices/gic_v3.h"
#include "machine/hosted/sysregs.h"
#include "machine/machine.h"
#include "tests/machine/machine_make.h"

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_gic.h"
}

namespace {

using bulkhead::machine::core_id;
using bulkhead::machine::picoseconds;
using bulkhead::machine::devices::generic_timer;
using bulkhead::machine::devices::gic_v3;
using bulkhead::machine::devices::gic_virtual_interface;
using bulkhead::machine::devices::timer_kind;

constexpr uint64_t timer_hz = 62'500'000;
constexpr uint64_t ps_per_tick = 1'000'000'000'000 / timer_hz;
constexpr uint32_t guest_priority_mask = 0xF8;
constexpr uint64_t lr_pending = UINT64_C(1) << 62;
constexpr uint64_t lr_active = UINT64_C(1) << 63;
constexpr uint64_t lr_hw = UINT64_C(1) << 61;
constexpr uint64_t lr_states = lr_pending | lr_active;

bulkhead::machine::settings only_devices(uint32_t cores)
{
    auto wanted = bulkhead::machine::test::small_machine(cores);

    wanted.dram.shape.rows = 16; // nothing is in memory
    wanted.dram.map =
        bulkhead::machine::dram::mapping::row_bank_column(std::get<bulkhead::machine::dram::organization>(
            bulkhead::machine::dram::organization::make(wanted.dram.shape)));
    return wanted;
}

struct Board {
    Board(gic_v3::settings chosen, uint32_t cores)
        : hardware(bulkhead::machine::test::make_machine(only_devices(cores))),
          gic(std::move(chosen), [](core_id) {}),
          timer(hardware->timeline(), timer_hz, cores,
                [this](core_id core, timer_kind kind, bool high) {
                    constexpr std::array<uint32_t, 3> lines = {30, 27, 26};
                    gic.set_line(core, lines.at(static_cast<size_t>(kind)), high);
                }),
          registers(&gic, timer)
    {
    }

    std::unique_ptr<bulkhead::machine::simulated_machine> hardware;
    gic_v3 gic;
    generic_timer timer;
    bulkhead::machine::hosted::sysregs registers;
    // The machine's n-th core has the n-th redistributor; a test's may have any.
    std::array<uint32_t, FAKE_CORES> redistributor_of{};
    uint32_t violations = 0;
};

std::unique_ptr<Board> board;

core_id here()
{
    return core_id{board->redistributor_of.at(fake_current_core())};
}

gic_virtual_interface &guest()
{
    return board->gic.virtual_interface(here());
}

uint32_t bit_of(uint32_t intid)
{
    return 1u << intid % 32;
}

// Of the registers that hold a bit per interrupt: where this interrupt's is, by the offset of the first.
uint32_t read_bits(uint64_t first, uint32_t intid)
{
    if (intid < 32) {
        return static_cast<uint32_t>(
            board->gic.read_redistributor(here().value * gic_v3::redistributor_bytes + 0x10000 + first, 4));
    }
    return static_cast<uint32_t>(board->gic.read_distributor(first + intid / 32 * 4, 4));
}

// The guest runs: list registers must make sense now.
void check_list_registers()
{
    const gic_virtual_interface &own = guest();

    for (uint32_t n = 0; n < own.list_registers(); n++) {
        const uint64_t lr = own.lr[n];

        if ((lr & lr_states) == 0) {
            continue;
        }
        if ((lr & lr_hw) != 0 &&
            ((lr & lr_states) == lr_states || !fake_gic_is_active(static_cast<uint32_t>(lr >> 32) & 0x3FF))) {
            board->violations++;
        }
        for (uint32_t m = n + 1; m < own.list_registers(); m++) {
            board->violations +=
                (own.lr[m] & lr_states) != 0 && static_cast<uint32_t>(own.lr[m]) == static_cast<uint32_t>(lr);
        }
    }
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
        board->violations += !fake_gic_is_active(static_cast<uint32_t>(value));
    } else if (id == SYSREG_ID_ICC_EOIR1_EL1) {
        board->violations += board->gic.active_priorities(here()) == 0;
    }
    return board->registers.write(here(), id, value);
}

bool read_distributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    *value = board->gic.read_distributor(offset, bytes);
    return true;
}

bool write_distributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    board->gic.write_distributor(offset, bytes, value);
    return true;
}

bool read_redistributor(uint64_t offset, unsigned bytes, uint64_t *value)
{
    *value = board->gic.read_redistributor(offset, bytes);
    return true;
}

bool write_redistributor(uint64_t offset, unsigned bytes, uint64_t value)
{
    board->gic.write_redistributor(offset, bytes, value);
    return true;
}

void deactivate_with(uint32_t physical)
{
    if (physical != gic_v3::spurious) {
        board->violations += !fake_gic_is_active(physical);
        board->gic.deactivate(here(), physical);
    }
    board->gic.virtual_changed(here());
}

} // namespace

void fake_gic_init(uint64_t gicd_pa, uint64_t gicr_pa, uint32_t cores, const uint32_t *affinity_of,
                   uint32_t list_registers)
{
    gic_v3::settings chosen{.affinities = {affinity_of, affinity_of + cores},
                            .interrupts = FAKE_GIC_INTIDS,
                            .maintenance = FAKE_GIC_MAINTENANCE,
                            .list_registers = list_registers};

    board = std::make_unique<Board>(std::move(chosen), cores);
    for (uint32_t i = 0; i < cores; i++) {
        board->redistributor_of.at(affinity_of[i]) = i;
    }
    fake_map(gicd_pa, 0x10000, read_distributor, write_distributor);
    fake_map(gicr_pa, cores * gic_v3::redistributor_bytes, read_redistributor, write_redistributor);
    fake_hook_sysregs(read_sysreg, write_sysreg);
}

uint64_t fake_gic_sysreg(enum sysreg_id id)
{
    return board->registers.read(here(), id).value_or(fake_sysreg(id));
}

void fake_gic_set_sysreg(enum sysreg_id id, uint64_t value)
{
    if (!board->registers.write(here(), id, value)) {
        fake_set_sysreg(id, value);
    }
}

uint32_t fake_gic_distributor(uint64_t offset)
{
    return static_cast<uint32_t>(board->gic.read_distributor(offset, 4));
}

// Pending by a write, which is an edge whatever the interrupt is configured to.
void fake_gic_raise(uint32_t intid)
{
    constexpr uint64_t ispendr = 0x200;

    if (intid < 32) {
        board->gic.write_redistributor(here().value * gic_v3::redistributor_bytes + 0x10000 + ispendr, 4,
                                       bit_of(intid));
    } else {
        board->gic.write_distributor(ispendr + intid / 32 * 4, 4, bit_of(intid));
    }
}

void fake_gic_set_line(uint32_t intid, bool high)
{
    board->gic.set_line(here(), intid, high);
}

bool fake_gic_is_enabled(uint32_t intid)
{
    return (read_bits(0x100, intid) & bit_of(intid)) != 0;
}

bool fake_gic_is_pending(uint32_t intid)
{
    return (read_bits(0x200, intid) & bit_of(intid)) != 0;
}

bool fake_gic_is_active(uint32_t intid)
{
    return (read_bits(0x300, intid) & bit_of(intid)) != 0;
}

bool fake_gic_has_interrupt(void)
{
    return board->gic.signalled(here());
}

void fake_gic_guest_open(void)
{
    guest().vmcr = uint64_t{guest_priority_mask} << 24 | 3;
    board->gic.virtual_changed(here());
}

uint32_t fake_gic_guest_acknowledge(void)
{
    check_list_registers();
    const uint32_t intid = guest().acknowledge();
    board->gic.virtual_changed(here());
    return intid;
}

void fake_gic_guest_end(uint32_t intid)
{
    board->violations += guest().active_priorities == 0;
    deactivate_with(guest().end(intid));
}

void fake_gic_guest_drop_priority(void)
{
    constexpr uint64_t eoi_mode = uint64_t{1} << 9; // ICH_VMCR_EL2.VEOIM
    board->violations += guest().active_priorities == 0;
    const uint64_t before = guest().vmcr;
    guest().vmcr |= eoi_mode;
    guest().end(0); // of whichever it is: the mode says not to look
    guest().vmcr = before;
    board->gic.virtual_changed(here());
}

void fake_gic_guest_deactivate(uint32_t intid)
{
    deactivate_with(guest().deactivate(intid));
}

uint32_t fake_gic_guest_depth(void)
{
    return static_cast<uint32_t>(__builtin_popcount(guest().active_priorities));
}

bool fake_gic_guest_has_interrupt(void)
{
    check_list_registers();
    return guest().signalled() || guest().fast_signalled();
}

uint32_t fake_gic_violations(void)
{
    return board->violations;
}

void fake_clock_set(uint64_t ticks)
{
    const picoseconds when{ticks * ps_per_tick};

    board->hardware->timeline().at(when, [] {});
    (void)board->hardware->timeline().run(picoseconds{when.value + 1});
}
