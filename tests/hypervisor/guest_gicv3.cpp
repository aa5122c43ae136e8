// SPDX-License-Identifier: Apache-2.0
//
// A guest's use of a GICv3, and the model of one beneath the hypervisor.
#include "test_system.h"

#include <array>

namespace bulkhead_test {

namespace {

constexpr uint64_t kGicr = 0x080A'0000;
constexpr uint64_t kSgiFrame = 0x10000;

} // namespace

void make_gic(struct manifest_platform &platform, uint32_t cores, uint32_t list_registers)
{
    std::array<uint32_t, FAKE_CORES> affinities{};

    // Redistributors are in reverse order of the cores: no code may rely on their order.
    for (uint32_t i = 0; i < cores; i++) {
        affinities[i] = cores - 1 - i;
    }
    fake_gic_init(kGicd, kGicr, cores, affinities.data(), list_registers);
    platform.gic_version = BH_GIC_VERSION_GICV3;
    platform.gicd_pa = kGicd;
    platform.gicr_pa = kGicr;
    platform.gicr_bytes = BH_MAX_CORES * BH_REDISTRIBUTOR_BYTES;
}

uint32_t routed_core(uint32_t intid)
{
    return fake_gic_distributor(0x6000 + uint64_t{intid} * 8);
}

uint64_t Guest::read_redist(uint64_t offset, uint32_t bytes) const
{
    struct mmio_access access {};

    access.offset = offset;
    access.bytes = bytes;
    return vgic_redist_access(&here(), &access) ? access.value : ~uint64_t{0};
}

void Guest::write_redist(uint64_t offset, uint64_t value, uint32_t bytes) const
{
    struct mmio_access access {};

    access.offset = offset;
    access.bytes = bytes;
    access.write = true;
    access.value = value;
    (void)vgic_redist_access(&here(), &access);
}

void Guest::open() const
{
    write_dist(0, 0x13);
    write_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + 0x14, 0);
    fake_gic_guest_open();
}

void Guest::route_spi(uint32_t intid, uint32_t vcpu) const
{
    write_dist(0x6000 + uint64_t{intid} * 8, vcpu, 8);
}

void Guest::enable_private(uint32_t intid) const
{
    write_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + kSgiFrame + 0x100, 1u << intid);
}

void Guest::disable_private(uint32_t intid) const
{
    write_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + kSgiFrame + 0x180, 1u << intid);
}

uint32_t Guest::private_pending() const
{
    return static_cast<uint32_t>(read_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + kSgiFrame + 0x200));
}

uint32_t Guest::private_enabled() const
{
    return static_cast<uint32_t>(read_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + kSgiFrame + 0x100));
}

void Guest::set_priority(uint32_t intid, uint8_t priority) const
{
    if (intid < 32) {
        write_redist(uint64_t{vcpu_} * BH_REDISTRIBUTOR_BYTES + kSgiFrame + 0x400 + intid, priority, 1);
    } else {
        write_dist(0x400 + intid, priority, 1);
    }
}

void Guest::send_sgi(uint32_t sgi, uint32_t targets) const
{
    vgic_sgi1r_write(&here(), uint64_t{sgi} << 24 | targets);
}

void Guest::send_sgi_to_others(uint32_t sgi) const
{
    vgic_sgi1r_write(&here(), UINT64_C(1) << 40 | uint64_t{sgi} << 24);
}

} // namespace bulkhead_test
