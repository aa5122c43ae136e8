// SPDX-License-Identifier: Apache-2.0
// GICv3: redistributors for private interrupts, affinity routing, a system register that sends.
#include "gic.h"

namespace bulkhead_fuzz {

namespace {

constexpr uint64_t gicr_ipa = 0x080A0000;
constexpr uint32_t irouter = 0x6000;

void write_sgi1r(Machine &machine, uint32_t core, uint64_t value)
{
    machine.set_register(core, 1, value);
    machine.trap(core, bulkhead_test::esr_sysreg(3, 0, 12, 11, 5, 1, false));
}

} // namespace

std::span<const GicRegister> registers_per_interrupt()
{
    static constexpr GicRegister all[] = {
        {0x080, 1}, {0x100, 1}, {0x180, 1}, {0x200, 1}, {0x280, 1},
        {0x300, 1}, {0x380, 1}, {0x400, 8}, {0xC00, 2}, {irouter, 64},
    };
    return all;
}

uint64_t private_register(uint32_t vcpu, uint32_t offset)
{
    return gicr_ipa + vcpu * uint64_t{0x20000} + 0x10000 + offset;
}

void route(Machine &machine, uint32_t core, uint32_t spi, uint32_t to)
{
    machine.write(core, gicd_ipa + irouter + 8 * uint64_t{spi}, 8, to);
}

void route_anywhere(Machine &machine, uint32_t core, uint32_t spi, uint8_t how)
{
    route(machine, core, spi, how % 4 == 3 ? 0x100 : how % 4);
}

void send_sgi(Machine &machine, uint32_t core, uint32_t sgi, uint32_t targets, bool others)
{
    write_sgi1r(machine, core, targets | uint64_t{sgi} << 24 | uint64_t{others} << 40);
}

void send_any_sgi(Machine &machine, uint32_t core, Input &input)
{
    write_sgi1r(machine, core, input.u64());
}

uint64_t wild_address(uint8_t how, uint16_t offset)
{
    return (how & 4) != 0 ? gicr_ipa + (offset | uint64_t{how & 0x30u} << 12) : gicd_ipa + offset;
}

} // namespace bulkhead_fuzz
