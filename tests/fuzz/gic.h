// SPDX-License-Identifier: Apache-2.0
// How guests of a fuzzed machine reach their interrupt controller: what the versions do not share. Which file
// is linked decides: gic_v3.cpp or gic_v2.cpp.
#pragma once

#include "input.h"
#include "machine.h"

#include <cstdint>
#include <span>

namespace bulkhead_fuzz {

// Offsets of the registers that exist per interrupt, and bits of an interrupt in each.
struct GicRegister {
    uint32_t offset;
    uint32_t bits;
};
std::span<const GicRegister> registers_per_interrupt();

// Where a VCPU of the domain has a register of its private interrupts, by the offset that the distributor has
// for SPIs; on GICv2 a VCPU reaches its own only.
uint64_t private_register(uint32_t vcpu, uint32_t offset);

// The VCPU of `core` routes an SPI to VCPU `to` of its domain, or, where that is possible, by any value.
void route(Machine &machine, uint32_t core, uint32_t spi, uint32_t to);
void route_anywhere(Machine &machine, uint32_t core, uint32_t spi, uint8_t how);

// A software-generated interrupt to VCPUs (bit = index), or to all others.
void send_sgi(Machine &machine, uint32_t core, uint32_t sgi, uint32_t targets, bool others);
// Any value at all, and what else the version has.
void send_any_sgi(Machine &machine, uint32_t core, Input &input);

// An address in the controller's frames, or just behind: `how` and `offset` are anything.
uint64_t wild_address(uint8_t how, uint16_t offset);

} // namespace bulkhead_fuzz
