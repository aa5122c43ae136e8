// SPDX-License-Identifier: Apache-2.0
//
// A guest's use of a GICv2, and the model of one beneath the hypervisor.
#include "test_system.h"

extern "C" {
#include "arch/hosted/fake_gic_v2.h"
}

namespace bulkhead_test {

namespace {

constexpr uint64_t kGicc = 0x0801'0000;
constexpr uint64_t kGich = 0x0803'0000;

} // namespace

void make_gic(struct manifest_platform &platform, uint32_t cores, uint32_t list_registers)
{
    fake_gic_v2_init(kGicd, kGicc, kGich, cores, list_registers);
    platform.gic_version = BH_GIC_VERSION_GICV2;
    platform.gicd_pa = kGicd;
    platform.gicc_pa = kGicc;
    platform.gich_pa = kGich;
}

uint32_t routed_core(uint32_t intid)
{
    uint32_t targets = fake_gic_distributor(0x800 + (intid & ~3u)) >> intid % 4 * 8 & 0xFF;

    return static_cast<uint32_t>(__builtin_ctz(targets));
}

void Guest::open() const
{
    write_dist(0, 0x3);
    fake_gic_guest_open();
}

void Guest::route_spi(uint32_t intid, uint32_t vcpu) const
{
    write_dist(0x800 + intid, uint64_t{1} << vcpu, 1);
}

void Guest::enable_private(uint32_t intid) const
{
    write_dist(0x100, 1u << intid);
}

void Guest::disable_private(uint32_t intid) const
{
    write_dist(0x180, 1u << intid);
}

uint32_t Guest::private_pending() const
{
    return static_cast<uint32_t>(read_dist(0x200));
}

uint32_t Guest::private_enabled() const
{
    return static_cast<uint32_t>(read_dist(0x100));
}

void Guest::set_priority(uint32_t intid, uint8_t priority) const
{
    write_dist(0x400 + intid, priority, 1);
}

void Guest::send_sgi(uint32_t sgi, uint32_t targets) const
{
    write_dist(0xF00, targets << 16 | sgi);
}

void Guest::send_sgi_to_others(uint32_t sgi) const
{
    write_dist(0xF00, 1u << 24 | sgi);
}

} // namespace bulkhead_test
