// SPDX-License-Identifier: Apache-2.0
// Targets `vgic` and `vgic_v2`: everything that affects virtual interrupts. Accesses to the controller's
// frames by any VCPU, software-generated interrupts, devices and timers, guests' accesses to their virtual
// CPU interfaces, power and restart of VCPUs and domains between all of these.
#include "gic.h"
#include "machine.h"

namespace {

using namespace bulkhead_fuzz;

constexpr uint32_t intids[] = {0,  1,  2,  15, virtual_timer, physical_timer, console_spi, 40, 41,
                               48, 49, 72, 287};

// A register write for one interrupt of a list: frequent where the interesting states are.
void write_for_interrupt(Machine &machine, uint32_t core, Input &input)
{
    const auto registers = registers_per_interrupt();
    const GicRegister which = registers[input.u8() % registers.size()];
    const uint32_t intid = input.pick(intids);
    const uint8_t how = input.u8();
    const auto at = [&](uint32_t offset) {
        return intid < 32 ? private_register(how >> 7, offset) : gicd_ipa + offset;
    };

    switch (which.bits) {
    case 8:
        machine.write(core, at(which.offset + intid), 1, static_cast<uint64_t>(how) << 3);
        break;
    case 64:
        route_anywhere(machine, core, intid, how);
        break;
    default: {
        const uint64_t word = at(which.offset + intid * which.bits / 32 * 4);
        const uint64_t bit = uint64_t{which.bits} << intid * which.bits % 32;

        if ((how & 0x40) != 0) {
            (void)machine.read(core, word, 4);
        } else {
            machine.write(core, word, 4, (how & 0x20) != 0 ? 0xFFFFFFFF : (how & 0x10) != 0 ? 0 : bit);
        }
    }
    }
}

// Any offset, width and value.
void wild_access(Machine &machine, uint32_t core, Input &input)
{
    const uint8_t how = input.u8();
    const uint64_t ipa = wild_address(how, input.u16());
    const unsigned bytes = 1u << (how & 3);

    if ((how & 8) != 0) {
        machine.write(core, ipa, bytes, input.number());
    } else {
        (void)machine.read(core, ipa, bytes);
    }
}

void power(Machine &machine, uint32_t core, Input &input)
{
    constexpr uint64_t functions[] = {0xC4000003, 0xC4000003, 0x84000002, 0xC4000001, 0x84000009, 0x84000008};
    const uint8_t how = input.u8();
    const uint64_t function = functions[how % 6];

    if (how >= 0xFE) {
        machine.serror(core);
    } else {
        (void)machine.call(core, false, function, how >> 4 & 1, memory_ipa + 0x1000, how);
    }
}

void step(Machine &machine, Input &input)
{
    const uint8_t operation = input.u8();
    const uint32_t core = operation >> 6;

    switch (operation & 15) {
    case 0:
    case 1:
    case 2:
        write_for_interrupt(machine, core, input);
        break;
    case 3:
        wild_access(machine, core, input);
        break;
    case 4: // both groups on, or what the byte says
        machine.write(core, gicd_ipa, 4, (operation & 0x20) != 0 ? 3 : input.u8());
        break;
    case 5: // targets and number in one byte, or any value
        if ((operation & 0x20) != 0) {
            send_any_sgi(machine, core, input);
        } else {
            const uint32_t how = input.u8();
            send_sgi(machine, core, how >> 2 & 15, how & 3, (how >> 6 & 1) != 0);
        }
        break;
    case 6:
        machine.raise(core, input.pick(device_spis));
        break;
    case 7:
        machine.set_line(core, input.pick(device_spis), (operation & 0x20) != 0);
        break;
    case 8:
        machine.set_line(core, (operation & 0x10) != 0 ? virtual_timer : physical_timer,
                         (operation & 0x20) != 0);
        break;
    case 9:
    case 10:
        machine.interrupt(core);
        break;
    case 11:
        machine.acknowledge(core);
        break;
    case 12:
        machine.end_innermost(core);
        break;
    case 13: // out of order, or of no active interrupt
        machine.end(core, input.pick(intids));
        break;
    case 14:
        machine.deactivate(core, input.pick(intids));
        break;
    default:
        power(machine, core, input);
        break;
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const uint8_t first = input.u8();
    Machine machine(options_of(first));

    while (!input.empty() && !machine.ended()) {
        step(machine, input);
    }
    if ((first & 0x20) != 0) {
        machine.come_to_rest();
    }
    if ((first & 0xC0) == 0xC0) {
        machine.end_all();
    }
    return 0;
}
