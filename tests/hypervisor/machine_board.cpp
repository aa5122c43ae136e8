// SPDX-License-Identifier: Apache-2.0
//
// The parts that both versions of the interrupt controller share, and the timers; see the header.
#include "machine_board.h"

#include "tests/machine/machine_make.h"

extern "C" {
#include "arch/hosted/fake_clock.h"
}

namespace bulkhead_test {

std::unique_ptr<MachineBoard> board;

namespace {

using bulkhead::machine::picoseconds;
using bulkhead::machine::devices::gic_virtual_interface;
using bulkhead::machine::devices::timer_kind;

constexpr uint64_t timer_hz = 62'500'000;
constexpr uint64_t ps_per_tick = 1'000'000'000'000 / timer_hz;
constexpr uint32_t guest_priority_mask = 0xF8;
constexpr uint64_t eoi_mode = uint64_t{1} << 9; // ICH_VMCR_EL2.VEOIM
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

uint32_t bit_of(uint32_t intid)
{
    return 1u << intid % 32;
}

// In registers with a bit for each interrupt: the word with this interrupt, by the offset of the first.
bool read_bit(uint64_t first, uint32_t intid)
{
    return (board->read_word(here(), first + intid / 32 * 4) & bit_of(intid)) != 0;
}

gic_virtual_interface &guest()
{
    return board->gic->virtual_interface(here());
}

// The guest runs: list registers must be valid now.
void check_list_registers()
{
    const gic_virtual_interface &own = guest();

    for (uint32_t n = 0; n < own.list_registers(); n++) {
        const uint64_t lr = own.lr[n];

        if ((lr & lr_states) == 0) {
            continue;
        }
        if ((lr & lr_hw) != 0) {
            board->demand((lr & lr_states) != lr_states &&
                          fake_gic_is_active(static_cast<uint32_t>(lr >> 32) & 0x3FF));
        }
        for (uint32_t m = n + 1; m < own.list_registers(); m++) {
            board->demand((own.lr[m] & lr_states) == 0 ||
                          static_cast<uint32_t>(own.lr[m]) != static_cast<uint32_t>(lr));
        }
    }
}

} // namespace

MachineBoard::MachineBoard(uint32_t cores, std::unique_ptr<bulkhead::machine::devices::gic> controller,
                           bulkhead::machine::devices::gic_v3 *with_sysregs)
    : hardware(bulkhead::machine::test::make_machine(only_devices(cores))), gic(std::move(controller)),
      timer(hardware->timeline(), timer_hz, cores,
            [this](core_id core, timer_kind kind, bool high) {
                constexpr std::array<uint32_t, 3> lines = {30, 27, 26};
                gic->set_line(core, lines.at(static_cast<size_t>(kind)), high);
            }),
      registers(with_sysregs, timer)
{
    for (uint32_t core = 0; core < cores; core++) {
        core_of_affinity.at(core) = core;
    }
}

MachineBoard::core_id here()
{
    return MachineBoard::core_id{board->core_of_affinity.at(fake_current_core())};
}

} // namespace bulkhead_test

using namespace bulkhead_test;

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
    return board->read_word(here(), offset);
}

// Pending by a write, which acts as an edge whatever the interrupt's configuration is.
void fake_gic_raise(uint32_t intid)
{
    board->write_word(here(), 0x200 + intid / 32 * 4, bit_of(intid));
}

void fake_gic_set_line(uint32_t intid, bool high)
{
    board->gic->set_line(here(), intid, high);
}

bool fake_gic_is_enabled(uint32_t intid)
{
    return read_bit(0x100, intid);
}

bool fake_gic_is_pending(uint32_t intid)
{
    return read_bit(0x200, intid);
}

bool fake_gic_is_active(uint32_t intid)
{
    return read_bit(0x300, intid);
}

bool fake_gic_has_interrupt(void)
{
    return board->gic->signalled(here());
}

void fake_gic_guest_open(void)
{
    guest().vmcr = uint64_t{guest_priority_mask} << 24 | 3;
    board->gic->virtual_changed(here());
}

uint32_t fake_gic_guest_acknowledge(void)
{
    check_list_registers();
    return board->guest_acknowledge(here());
}

void fake_gic_guest_end(uint32_t intid)
{
    board->demand(guest().active_priorities != 0);
    board->guest_end(here(), intid);
}

void fake_gic_guest_drop_priority(void)
{
    board->demand(guest().active_priorities != 0);
    const uint64_t before = guest().vmcr;
    guest().vmcr |= eoi_mode;
    guest().end(0); // of any guest: the mode says not to check
    guest().vmcr = before;
    board->gic->virtual_changed(here());
}

void fake_gic_guest_deactivate(uint32_t intid)
{
    board->guest_deactivate(here(), intid);
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
