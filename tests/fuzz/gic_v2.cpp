// SPDX-License-Identifier: Apache-2.0
// GICv2: everything in one frame of the distributor, private registers banked by VCPU; software-generated
// interrupts have senders. The virtual CPU interface is the hardware's and takes no traps.
#include "gic.h"

namespace bulkhead_fuzz {

namespace {

constexpr uint32_t itargetsr = 0x800;
constexpr uint32_t sgir = 0xF00;
constexpr uint32_t senders = 0xF10; // clear, then set: 16 bytes each

} // namespace

std::span<const GicRegister> registers_per_interrupt()
{
    static constexpr GicRegister all[] = {
        {0x080, 1}, {0x100, 1}, {0x180, 1}, {0x200, 1}, {0x280, 1},
        {0x300, 1}, {0x380, 1}, {0x400, 8}, {0xC00, 2}, {itargetsr, 64},
    };
    return all;
}

uint64_t private_register(uint32_t, uint32_t offset)
{
    return gicd_ipa + offset;
}

void route(Machine &machine, uint32_t core, uint32_t spi, uint32_t to)
{
    machine.write(core, gicd_ipa + itargetsr + spi, 1, uint64_t{1} << to);
}

void route_anywhere(Machine &machine, uint32_t core, uint32_t spi, uint8_t how)
{
    machine.write(core, gicd_ipa + itargetsr + spi, 1, how);
}

void send_sgi(Machine &machine, uint32_t core, uint32_t sgi, uint32_t targets, bool others)
{
    machine.write(core, gicd_ipa + sgir, 4, targets << 16 | sgi | (others ? 1u << 24 : 0));
}

void send_any_sgi(Machine &machine, uint32_t core, Input &input)
{
    const uint8_t how = input.u8();
    const unsigned bytes = (how & 0x20) != 0 ? 4 : 1;

    if ((how & 0x80) != 0) {
        machine.write(core, gicd_ipa + sgir, 4, input.u32());
    } else if ((how & 0x40) != 0) {
        machine.write(core, gicd_ipa + senders + (how & 0x1F & ~(bytes - 1)), bytes, input.u32());
    } else {
        (void)machine.read(core, gicd_ipa + senders + (how & 0x1F & ~(bytes - 1)), bytes);
    }
}

uint64_t wild_address(uint8_t how, uint16_t offset)
{
    return gicd_ipa + ((how & 4) != 0 ? offset : offset & 0xFFF);
}

} // namespace bulkhead_fuzz
