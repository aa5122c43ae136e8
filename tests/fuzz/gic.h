// SPDX-License-Identifier: Apache-2.0
// How guests of a fuzzed machine access their interrupt controller: the parts that differ between the
// versions. The linked file selects the version: gic_v3.cpp or gic_v2.cpp.
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

// The address of a register of a VCPU's private interrupts, by the offset that the distributor has for SPIs;
// on GICv2 a VCPU reaches its own registers only.
uint64_t private_register(uint32_t vcpu, uint32_t offset);

// The VCPU of `core` routes an SPI to VCPU `to` of its domain, or, if possible, by any value.
void route(Machine &machine, uint32_t core, uint32_t spi, uint32_t to);
void route_anywhere(Machine &machine, uint32_t core, uint32_t spi, uint8_t how);

// A software-generated interrupt to VCPUs (bit = index), or to all others.
void send_sgi(Machine &machine, uint32_t core, uint32_t sgi, uint32_t targets, bool others);
// Any value, and other fields of the version.
void send_any_sgi(Machine &machine, uint32_t core, Input &input);

// An address in the controller's frames, or just after: `how` and `offset` are any numbers.
uint64_t wild_address(uint8_t how, uint16_t offset);

} // namespace bulkhead_fuzz
