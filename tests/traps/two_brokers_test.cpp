// SPDX-License-Identifier: Apache-2.0
// Two brokers at EL2's real entry points (F8): what each is told and reaches, that its calls concern its own
// domains alone, and that its end changes nothing for the other one.
#include "hosted_machine.h"
#include "run/domain_life.h"

#include "core/broker_door.h"
#include "table_walk.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

extern "C" {
#include "flow/door.h"
#include "flow/flows.h"
#include "flow/sockets.h"
#include "memory/placement.h"
#include "run/vcpu_run.h"
}

namespace two_brokers_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t control = 0, linux_ = 1, broker = 2; // domains of the first broker, and itself
constexpr uint32_t lone = sample_second_domain, second = sample_second_broker;
constexpr uint64_t memory = 0x40000000;
constexpr uint64_t door_at = memory + 0x8000;
constexpr uint64_t invalid =
    static_cast<uint64_t>(-static_cast<int64_t>(BH_HYPERCALL_ERROR_INVALID_PARAMETERS));

struct TwoBrokers : testing::Test {
    HostedMachine machine{[](SampleManifest &m) {
        give_two_brokers(m);
        m.domains[control].flags |= BH_DOMAIN_FLAG_MANAGER;
        m.header.broker.bytes_per_s = m.header.second_broker.bytes_per_s = 100'000'000;
        m.seal();
    }};

    TwoBrokers()
    {
        EXPECT_EQ(call(broker, BH_HYPERCALL_BROKER_OPEN, {door_at, 1}), 0u);
        EXPECT_EQ(call(second, BH_HYPERCALL_BROKER_OPEN, {door_at, 1}), 0u);
    }

    static uint32_t core_of(uint32_t domain) { return domain_at(domain)->vcpus[0].cpu->index; }

    uint64_t call(uint32_t caller, uint64_t function, const std::vector<uint64_t> &x)
    {
        guest_regs &regs = machine.on_core(core_of(caller));
        std::copy(x.begin(), x.end(), &regs.x[1]);
        regs.x[0] = function;
        machine.trap(esr_hvc);
        return regs.x[0];
    }

    uint64_t tell(uint32_t caller, uint64_t lines, uint64_t failed, uint64_t left, uint64_t counted)
    {
        return call(caller, BH_HYPERCALL_BROKER_TELL, {lines, failed, left, counted});
    }

    static uint64_t physical(uint32_t domain, uint64_t at)
    {
        return placement_of(system_manifest(), domain_at(domain)->config, at, 1).pa.value;
    }

    template <typename Page> Page &page(uint32_t whose, uint32_t number)
    {
        const uint64_t pa = physical(whose, door_at + uint64_t{number} * BH_PAGE_BYTES);
        return *reinterpret_cast<Page *>(machine.page(pa).data());
    }
    broker_door &door(uint32_t whose) { return page<broker_door>(whose, 0); }
    broker_reply &reply(uint32_t whose) { return page<broker_reply>(whose, 1); }
    broker_map &map(uint32_t whose) { return page<broker_map>(whose, 2); }

    // Whether a broker's tables map, behind its window, a byte of a domain.
    static bool reaches(uint32_t whose, uint32_t domain, uint64_t at)
    {
        const stage2 &own = domain_at(whose)->stage2;
        const uint64_t pa = physical(domain, at);
        return walk(*own.pool, own.root, BH_BROKER_WINDOW + pa).pa == pa;
    }

    // A driver says that its device runs.
    static void run_device(uint32_t domain)
    {
        socket_of(domain_at(domain))->mmio.device.status = VIRTIO_STATUS_DRIVER_OK;
    }

    static bool line_of(uint32_t domain)
    {
        return (domain_at(domain)->vgic.spis[60 / 32 - 1].line >> 60 % 32 & 1) != 0;
    }
};

TEST_F(TwoBrokers, F8_EachIsToldOfItsOwnDomainsAndFlows)
{
    EXPECT_NE(map(broker).domains[control].cid, 0u);
    EXPECT_NE(map(broker).domains[linux_].cid, 0u);
    EXPECT_EQ(map(broker).domains[lone].cid, 0u);
    EXPECT_EQ(map(second).domains[control].cid, 0u);
    EXPECT_EQ(map(second).domains[lone].cid, 9u);
    const auto known = [&](uint32_t whose, uint32_t segment) {
        return map(whose).segments[segment].bytes != 0;
    };
    EXPECT_TRUE(known(broker, 0));
    EXPECT_FALSE(known(broker, 4)) << "where memory of another one's domain is";
    EXPECT_TRUE(known(second, 4));
    EXPECT_FALSE(known(second, 0));
    EXPECT_EQ(door(broker).flows[0].changes, 1u);
    EXPECT_EQ(door(second).flows[0].changes, 0u);
    EXPECT_NE(door(broker).devices[control].version, 0u);
    EXPECT_EQ(door(broker).devices[lone].version, 0u);
    EXPECT_EQ(door(second).devices[control].version, 0u);
    EXPECT_NE(door(second).devices[lone].version, 0u);
}

TEST_F(TwoBrokers, F8_ABrokerReachesNoMemoryOfTheOthersDomains)
{
    for (uint64_t at = memory; at < memory + 0x100000; at += BH_PAGE_BYTES) {
        EXPECT_TRUE(reaches(broker, control, at)) << std::hex << at;
        EXPECT_TRUE(reaches(second, lone, at)) << std::hex << at;
        EXPECT_FALSE(reaches(broker, lone, at)) << std::hex << at;
        EXPECT_FALSE(reaches(second, control, at)) << std::hex << at;
        EXPECT_FALSE(reaches(second, linux_, at)) << std::hex << at;
        EXPECT_FALSE(reaches(broker, second, at)) << std::hex << at;
        EXPECT_FALSE(reaches(second, broker, at)) << std::hex << at;
    }
}

TEST_F(TwoBrokers, F8_ItsCallsConcernItsOwnDomainsAlone)
{
    run_device(control);
    run_device(lone);
    reply(second).statistics[0].packets = 1000;
    ASSERT_EQ(tell(second, ~0ull, 0, 0, ~0ull), 0u);
    EXPECT_FALSE(line_of(control));
    EXPECT_TRUE(line_of(lone));
    EXPECT_EQ(system_status()->flows[0].packets, 0u) << "figures of another one's flow";
    ASSERT_EQ(tell(second, 0, ~0ull, 0, 0), 0u);
    EXPECT_EQ(machine.status(control).socket_failures, 0u);
    EXPECT_EQ(machine.status(lone).socket_failures, 1u);
    reply(broker).statistics[0].packets = 7;
    ASSERT_EQ(tell(broker, 1u << control, 0, 0, ~0ull), 0u);
    EXPECT_TRUE(line_of(control));
    EXPECT_EQ(system_status()->flows[0].packets, 7u);
}

TEST_F(TwoBrokers, F8_TheEndOfOneChangesNothingForTheOther)
{
    run_device(control);
    run_device(lone);
    reply(broker).lives[control] = door(broker).devices[control].life; // it has left earlier lives
    reply(second).lives[lone] = door(second).devices[lone].life;
    machine.on_core(core_of(control));
    EXPECT_FALSE(flows_touch(domain_at(lone)));
    EXPECT_EQ(domain_stop(domain_at(second)), BH_DOMAIN_STATE_RUNNING);
    EXPECT_TRUE(flows_touch(domain_at(lone))) << "its core has not learnt of the stop";
    EXPECT_FALSE(flows_touch(domain_at(control)));
    machine.on_core(core_of(broker));
    EXPECT_NE(door_here(0), nullptr);
    EXPECT_EQ(door_here(1), nullptr);
    machine.on_core(core_of(second));
    vcpu_went_off(&domain_at(second)->vcpus[0]);
    EXPECT_FALSE(flows_touch(domain_at(lone)));
    EXPECT_EQ(machine.status(control).socket_failures, 0u);
    EXPECT_EQ(machine.status(broker).state, BH_DOMAIN_STATE_RUNNING);
    ASSERT_EQ(tell(broker, 1u << control, 0, 0, 0), 0u);
    EXPECT_TRUE(line_of(control));
}

TEST_F(TwoBrokers, F6_AManagerAddsNoFlowBetweenTwo)
{
    const auto add = [&](uint64_t from, uint64_t to) {
        return call(control, BH_HYPERCALL_FLOW_ADD, {from, to, 6000, 64, 1'000'000, 1'000'000, 0});
    };
    EXPECT_EQ(add(control, lone), invalid);
    EXPECT_EQ(add(lone, linux_), invalid);
    EXPECT_EQ(add(control, linux_), 0u);
    EXPECT_EQ(door(broker).request.number, 1u);
    EXPECT_EQ(door(second).request.number, 0u) << "only the flow's broker is asked";
}

} // namespace
} // namespace two_brokers_test
