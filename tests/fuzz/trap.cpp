// SPDX-License-Identifier: Apache-2.0
// Target `trap`: every exception that a core can report from a guest. Any syndrome with any fault address,
// any trapped register, any general registers, at any of the guest's exception levels; aborts and interrupts
// in between; any partition that a guest with virtual PARTIDs chooses, and any word of a component's
// registers.
#include "machine.h"

#include <algorithm>

namespace {

using namespace bulkhead_fuzz;

constexpr uint64_t gicr_ipa = 0x080A0000;

// Exception classes that lower levels can cause (DDI 0487, D24.2.40); those that EL2 handles occur more
// often.
constexpr uint32_t classes[] = {0x24, 0x18, 0x24, 0x18, 0x16, 0x17, 0x20, 0x01, 0x07, 0x19, 0x00, 0x03,
                                0x05, 0x06, 0x08, 0x09, 0x0C, 0x0E, 0x11, 0x12, 0x13, 0x15, 0x1A, 0x1C,
                                0x22, 0x26, 0x28, 0x2C, 0x2F, 0x30, 0x32, 0x34, 0x38, 0x3C};
constexpr uint64_t places[] = {
    gicd_ipa, gicr_ipa,          gicr_ipa + 0x10000, gicr_ipa + 0x30000,
    uart_ipa, flash_ipa,         memory_ipa,         memory_ipa + memory_bytes - 0x1000,
    0,        memory_ipa - 0x10, mpam_ipa,           0x7FFFFFF000,
    ~0xFFFull};
constexpr uint64_t modes[] = {0x0, 0x4, 0x5, 0x10};

uint64_t address(Input &input)
{
    const uint8_t how = input.u8();

    return (how & 0x80) != 0 ? input.u64() : places[how % std::size(places)] + input.u16();
}

uint64_t syndrome(Input &input)
{
    const uint8_t how = input.u8();

    if (how == 0xFF) {
        return input.u64();
    }
    const uint64_t esr = uint64_t{classes[how % std::size(classes)]} << 26;
    return (how & 0x80) != 0 ? esr | 1u << 25 | (input.u32() & 0x1FFFFFF)
                             // A valid syndrome of a translation fault, for emulated devices, or of a
                             // permission fault, for flash.
                             : esr | 1u << 25 | 1u << 24 | ((how & 0x20) != 0 ? 0xF : 7) |
                                   (input.u16() & 0x7FF8u) << 9 | (how & 0x40u);
}

void step(Machine &machine, Input &input)
{
    const uint8_t operation = input.u8();
    const uint32_t core = operation >> 6;

    switch (operation & 7) {
    case 0: {
        const uint32_t index = input.u8() % 31;
        machine.set_register(core, index, input.number());
    } break;
    case 1:
        fake_set_core_sysreg(core, SYSREG_ID_SPSR_EL2, input.pick(modes) | uint64_t{input.u8()} << 24);
        fake_set_core_sysreg(core, SYSREG_ID_ELR_EL2, address(input));
        break;
    case 2:
        fake_set_core_sysreg(core, SYSREG_ID_VBAR_EL1, address(input) & ~0x7FFull);
        fake_set_core_sysreg(core, SYSREG_ID_SCTLR_EL1, input.number());
        break;
    case 3:
        if (operation == 0x4B || operation == 0x8B) { // the end of a domain: rarely
            machine.serror(core);
        } else {
            machine.interrupt(core);
        }
        break;
    case 4: // every register of op0 2 and 3, read or written
        machine.trap(core, uint64_t{0x18} << 26 | 1u << 25 | (input.u32() & 0x3FFFFF));
        break;
    case 5:
        if ((operation & 0x38) == 0x38) {
            const uint64_t mpam1 = input.u64();
            machine.choose_partitions(core, mpam1, input.u64());
            break;
        }
        [[fallthrough]];
    default: {
        const uint64_t esr = syndrome(input);
        machine.trap(core, esr, address(input));
        break;
    }
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
    if ((first & 0xC0) == 0xC0) {
        machine.end_all();
    }
    return 0;
}
