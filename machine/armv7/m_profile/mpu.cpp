// SPDX-License-Identifier: Apache-2.0
// Registers of the MPU, and the search among its regions; see the header.
#include "machine/armv7/m_profile/mpu.h"

#include <algorithm>

namespace bulkhead::machine::armv7::m_profile {
namespace {

enum mpu_register : std::uint32_t {
    mpu_type = 0x00,
    mpu_ctrl = 0x04,
    mpu_rnr = 0x08,
    mpu_rbar = 0x0C, // and three aliases of this and the next register, 8 bytes apart
    mpu_rasr = 0x10,
};

constexpr std::uint32_t rbar_valid = 1U << 4U;
constexpr std::uint32_t rbar_region = 0xF;
constexpr std::uint32_t rbar_address = 0xFFFFFFE0;
constexpr std::uint32_t rasr_implemented = 0x173FFF3F; // XN, AP, TEX, S, C, B, SRD, SIZE, ENABLE
constexpr std::uint32_t smallest_region_bits = 5;
constexpr std::uint32_t smallest_divided_bits = 8; // region with sub-regions

} // namespace

std::uint32_t mpu::read(std::uint32_t offset) const
{
    if (offset == mpu_type) {
        return static_cast<std::uint32_t>(regions_.size()) << 8U;
    }
    if (offset == mpu_ctrl) {
        return control_;
    }
    if (offset == mpu_rnr) {
        return number_;
    }
    if (offset >= registers_end || number_ >= regions_.size()) {
        return 0;
    }
    const region &one = regions_[number_];
    return (offset - mpu_rbar) % 8 == 0 ? one.rbar | number_ : one.rasr;
}

void mpu::write(std::uint32_t offset, std::uint32_t value)
{
    if (regions_.empty() || offset >= registers_end || offset == mpu_type) {
        return;
    }
    if (offset == mpu_ctrl) {
        control_ = value & (ctrl_enable | ctrl_hfnmiena | ctrl_privdefena);
        ++changes_;
    } else if (offset == mpu_rnr) {
        number_ = value & 0xFF;
    } else if ((offset - mpu_rbar) % 8 == 0) {
        write_base(value);
    } else {
        write_attributes(value);
    }
}

// With VALID, REGION becomes MPU_RNR. A number of no region is UNPREDICTABLE, and ignored here.
void mpu::write_base(std::uint32_t value)
{
    if ((value & rbar_valid) != 0) {
        number_ = value & rbar_region;
    }
    if (number_ < regions_.size()) {
        regions_[number_].rbar = value & rbar_address;
        derive(regions_[number_]);
        ++changes_;
    }
}

void mpu::write_attributes(std::uint32_t value)
{
    if (number_ < regions_.size()) {
        regions_[number_].rasr = value & rasr_implemented;
        derive(regions_[number_]);
        ++changes_;
    }
}

// A size below 32 bytes is UNPREDICTABLE: here such a region is disabled. Address bits below the size are
// ignored.
void mpu::derive(region &one)
{
    const std::uint32_t bits = (one.rasr >> 1U & 0x1FU) + 1;
    one.on = (one.rasr & 1U) != 0 && bits >= smallest_region_bits;
    const std::uint32_t mask = bits >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1;
    one.first = one.rbar & ~mask;
    one.last = one.first | mask;
    one.subregion_bits = bits >= smallest_divided_bits ? bits - 3 : 0;
    one.disabled = one.subregion_bits != 0 ? one.rasr >> 8U & 0xFFU : 0;
    one.attributes =
        attributes_of(one.rasr >> 19U & 7U, (one.rasr >> 17U & 1U) != 0, (one.rasr >> 16U & 1U) != 0);
    one.rights = permissions_of(one.rasr >> 24U & 7U, (one.rasr >> 28U & 1U) != 0);
}

mpu::part mpu::part_of(const region &one, std::uint32_t address)
{
    if (!one.on) {
        return {false, 0, ~std::uint32_t{0}};
    }
    if (address < one.first) {
        return {false, 0, one.first - 1};
    }
    if (address > one.last) {
        return {false, one.last + 1, ~std::uint32_t{0}};
    }
    if (one.disabled == 0) {
        return {true, one.first, one.last};
    }
    const std::uint32_t number = (address - one.first) >> one.subregion_bits;
    const std::uint32_t first = one.first + (number << one.subregion_bits);
    return {(one.disabled >> number & 1U) == 0, first,
            first + ((std::uint32_t{1} << one.subregion_bits) - 1)};
}

answered_span mpu::answer(std::uint32_t address, bool privileged) const
{
    std::uint32_t first = 0;
    std::uint32_t last = ~std::uint32_t{0};
    for (auto one = regions_.rbegin(); one != regions_.rend(); ++one) {
        const part found = part_of(*one, address);
        first = std::max(first, found.first);
        last = std::min(last, found.last);
        if (found.has) {
            answered_span span{first, last, true, one->attributes, one->rights};
            if (is_system_space(address)) {
                span.first = std::max(span.first, std::uint32_t{0xE0000000});
                span.rights.execute = false;
            } else {
                span.last = std::min(span.last, std::uint32_t{0xDFFFFFFF});
            }
            return span;
        }
    }
    answered_span span = default_map(address);
    span.first = std::max(span.first, first);
    span.last = std::min(span.last, last);
    span.mapped = privileged && (control_ & ctrl_privdefena) != 0;
    return span;
}

} // namespace bulkhead::machine::armv7::m_profile
