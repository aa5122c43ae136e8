// SPDX-License-Identifier: Apache-2.0
// A socket device on a virtual PCI root (D3) through EL2's real entry points: configuration space and the
// registers behind the BAR by trapped accesses, beside a domain with the MMIO transport.
#include "hosted_machine.h"

#include "core/broker_door.h"
#include "core/virtio_pci.h"

#include <gtest/gtest.h>

extern "C" {
#include "flow/door.h"
#include "flow/flows.h"
#include "memory/placement.h"
#include "run/domain_life.h"
}

namespace socket_root_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0, linux_ = 1, broker = 2; // domains, and their first cores
constexpr uint64_t device = 0x0B000000, root = 0x0B100000;
constexpr uint64_t memory = 0x40000000;
constexpr uint64_t door_at = memory + 0x8000;
constexpr uint32_t notify = VIRTIO_PCI_NOTIFY, isr = VIRTIO_PCI_ISR, cid = VIRTIO_PCI_DEVICE;

struct SocketRoot : testing::Test {
    SocketRoot()
        : machine([](SampleManifest &m) {
              give_flows(m);
              m.domains[control].socket_root_ipa = root;
              m.seal();
          })
    {
    }

    uint64_t load(uint64_t at, unsigned bytes, uint32_t domain = control)
    {
        guest_regs &regs = machine.on_core(domain);
        machine.trap(esr_load(bytes, 1), at);
        return regs.x[1];
    }
    void store(uint64_t at, unsigned bytes, uint64_t value, uint32_t domain = control)
    {
        machine.on_core(domain).x[1] = value;
        machine.trap(esr_store(bytes, 1), at);
    }
    uint64_t call(uint64_t function, uint64_t x1, uint64_t x2 = 0, uint64_t x3 = 0)
    {
        guest_regs &regs = machine.on_core(broker);
        regs.x[0] = function;
        regs.x[1] = x1;
        regs.x[2] = x2;
        regs.x[3] = x3;
        regs.x[4] = 0;
        machine.trap(esr_hvc);
        return regs.x[0];
    }
    template <typename Page> Page &page(uint32_t number)
    {
        const uint64_t at = door_at + uint64_t{number} * BH_PAGE_BYTES;
        const uint64_t pa = placement_of(system_manifest(), domain_at(broker)->config, at, 1).pa.value;
        return *reinterpret_cast<Page *>(machine.page(pa).data());
    }
    door_device &at_door() { return page<broker_door>(0).devices[control]; }
    void leave()
    {
        page<broker_reply>(1).lives[control] = at_door().life;
        EXPECT_EQ(call(BH_HYPERCALL_BROKER_TELL, 0, 0, 1u << control), 0u);
    }
    bool line() { return (domain_at(control)->vgic.spis[60 / 32 - 1].line >> 60 % 32 & 1) != 0; }
    // Address of the instruction that control executes next.
    uint64_t pc()
    {
        machine.on_core(control);
        return fake_sysreg(SYSREG_ID_ELR_EL2);
    }
    bool runs() { return machine.status(control).state == BH_DOMAIN_STATE_RUNNING; }

    // The driver's start, after the reset.
    void start()
    {
        store(device + 0x14, 1, 3);
        store(device + 0x08, 4, 1);
        store(device + 0x0C, 4, 1);
        store(device + 0x14, 1, 11);
        for (uint32_t number = 0; number < VSOCK_QUEUES; number++) {
            store(device + 0x16, 2, number);
            store(device + 0x18, 2, 8);
            for (uint32_t i = 0; i < 3; i++) {
                store(device + 0x20 + 8 * i, 4, memory + 0x1000 * number + 0x400 * i);
                store(device + 0x24 + 8 * i, 4, 0);
            }
            store(device + 0x1C, 2, 1);
        }
        store(device + 0x14, 1, 15);
    }

    HostedMachine machine;
};

TEST_F(SocketRoot, D3_TheRootHasTheDeviceAsItsOnlyFunction)
{
    EXPECT_EQ(load(root, 4), VIRTIO_PCI_ID(VSOCK_DEVICE_ID));
    EXPECT_EQ(load(root + 2, 2), 0x1053u);
    EXPECT_EQ(load(root + 0x10, 4), device | 4u);
    EXPECT_EQ(load(root + 0x3D, 1), 1u);
    for (uint64_t at = BH_PAGE_BYTES; at < BH_PCI_BUS_BYTES; at += BH_PAGE_BYTES) {
        ASSERT_EQ(load(root + at, 4), 0xFFFFFFFFu) << std::hex << at;
    }
    EXPECT_EQ(load(root + 0x1000, 2), 0xFFFFu);
    store(root + 0x1004, 4, 6);
    EXPECT_EQ(machine.exits(control, BH_EXIT_REASON_SOCKET_ACCESS), 4u + 255u + 2u);
    EXPECT_TRUE(runs());
    (void)load(root + BH_PCI_BUS_BYTES, 4);
    EXPECT_FALSE(runs()) << "behind the root";
}

TEST_F(SocketRoot, D3_OtherDomainsHaveNoRoot)
{
    EXPECT_EQ(load(device, 4, linux_), 0x74726976u) << "the MMIO transport";
    (void)load(root, 4, linux_);
    EXPECT_EQ(machine.status(linux_).state, BH_DOMAIN_STATE_CRASHED);
    EXPECT_TRUE(runs());
}

TEST_F(SocketRoot, D3_AccessesOf8BytesToConfigurationSpaceEndTheDomain)
{
    (void)load(root, 8);
    EXPECT_EQ(machine.status(control).end, BH_DOMAIN_END_BAD_DEVICE_ACCESS);
}

TEST_F(SocketRoot, D3_AFieldOfAnotherSizeEndsTheDomainAsAtTheMmioTransport)
{
    (void)load(device + 0x14, 4);
    EXPECT_EQ(machine.status(control).end, BH_DOMAIN_END_BAD_DEVICE_ACCESS);
}

TEST_F(SocketRoot, D3_TheBrokerHearsWhatTheDriverDoes)
{
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    store(device + 0x14, 1, 0);
    EXPECT_EQ(at_door().status, 0u);
    leave();
    store(device + 0x14, 1, 0);
    start();
    EXPECT_EQ(load(device + 0x14, 1), 15u);
    EXPECT_EQ(at_door().status, 15u);
    EXPECT_EQ(at_door().queues[VSOCK_QUEUE_TX].descriptors, memory + 0x1000 * VSOCK_QUEUE_TX);
    EXPECT_EQ(at_door().queues[VSOCK_QUEUE_TX].entries, 8u);
    EXPECT_EQ(at_door().queues[VSOCK_QUEUE_TX].begun, 1u);
    at_door().bells = 0;
    store(device + notify, 2, VSOCK_QUEUE_TX);
    EXPECT_EQ(at_door().bells, 1u << VSOCK_QUEUE_TX);
    EXPECT_EQ(load(device + cid, 8), 3u);
    EXPECT_TRUE(runs());
}

TEST_F(SocketRoot, D3_TheLineIsActiveUntilTheStatusIsRead)
{
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    start();
    EXPECT_EQ(call(BH_HYPERCALL_BROKER_TELL, 1u << control), 0u);
    EXPECT_TRUE(line());
    store(root + 0x04, 2, 0x406);
    EXPECT_FALSE(line()) << "interrupt disable";
    store(root + 0x04, 2, 0x006);
    EXPECT_TRUE(line());
    EXPECT_EQ(load(root + 0x06, 2), 0x0018u) << "an interrupt, capabilities";
    EXPECT_EQ(load(device + isr, 1), 1u);
    EXPECT_FALSE(line());
    EXPECT_EQ(load(device + isr, 1), 0u);
    EXPECT_TRUE(runs());
}

TEST_F(SocketRoot, D3_AResetWaitsForTheBrokerWithEitherWay)
{
    ASSERT_EQ(call(BH_HYPERCALL_BROKER_OPEN, door_at, 1), 0u);
    start();
    const uint64_t before = pc();
    store(device + 0x14, 1, 0);
    EXPECT_EQ(pc(), before) << "the guest repeats its write";
    leave();
    store(device + 0x14, 1, 0);
    EXPECT_NE(pc(), before);
    EXPECT_EQ(load(device + 0x14, 1), 0u);

    start(); // and by the window
    store(root + VIRTIO_PCI_CAP_WINDOW + 8, 4, 0x14);
    store(root + VIRTIO_PCI_CAP_WINDOW + 12, 4, 1);
    EXPECT_EQ(load(root + VIRTIO_PCI_WINDOW, 1), 15u);
    EXPECT_EQ(load(root + VIRTIO_PCI_WINDOW, 4), 15u);
    const uint64_t there = pc();
    store(root + VIRTIO_PCI_WINDOW, 1, 0);
    EXPECT_EQ(pc(), there);
    leave();
    store(root + VIRTIO_PCI_WINDOW, 1, 0);
    EXPECT_EQ(load(device + 0x14, 1), 0u);
    EXPECT_TRUE(runs());
}

TEST_F(SocketRoot, D3_AWrongAccessByTheWindowDoesNothing)
{
    store(root + VIRTIO_PCI_CAP_WINDOW + 8, 4, 0x14);
    store(root + VIRTIO_PCI_CAP_WINDOW + 12, 4, 4); // the status has one byte
    EXPECT_EQ(load(root + VIRTIO_PCI_WINDOW, 4), 0u);
    store(root + VIRTIO_PCI_WINDOW, 4, 3);
    EXPECT_EQ(load(device + 0x14, 1), 0u);
    store(root + VIRTIO_PCI_CAP_WINDOW + 12, 4, 8);
    EXPECT_EQ(load(root + VIRTIO_PCI_WINDOW, 4), 0u);
    EXPECT_TRUE(runs());
}

TEST_F(SocketRoot, D3_ARestartedDomainFindsConfigurationSpaceAsAtItsStart)
{
    store(root + 0x04, 2, 0x406);
    store(root + VIRTIO_PCI_CAP_WINDOW + 12, 4, 4);
    flows_domain_reset(domain_at(control));
    EXPECT_EQ(load(root + 0x04, 2), 0u);
    EXPECT_EQ(load(root + VIRTIO_PCI_CAP_WINDOW + 12, 4), 0u);
}

} // namespace
} // namespace socket_root_test
