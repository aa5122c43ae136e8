// SPDX-License-Identifier: Apache-2.0
// Commands of a guest's ITS: what each maps, that a command that is wrong changes nothing, and that random
// commands keep to a simple model (D4).
#include <array>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>

extern "C" {
#include "core/virtual_its.h"
}

namespace virtual_its_test {
namespace {

using Command = std::array<uint64_t, VIRTUAL_ITS_COMMAND_WORDS>;

constexpr uint32_t disk = 2 << 3, net = 6 << 3, nobodys = 5 << 3;
constexpr uint64_t valid = 1ull << 63;

// Opcodes and fields are those of IHI 0069, chapter 5.3.
Command mapd(uint32_t device, uint32_t event_bits, bool is_valid = true)
{
    return {0x08 | static_cast<uint64_t>(device) << 32, event_bits - 1, is_valid ? valid : 0, 0};
}
Command mapc(uint32_t collection, uint32_t vcpu, bool is_valid = true)
{
    return {0x09, 0, (is_valid ? valid : 0) | static_cast<uint64_t>(vcpu) << 16 | collection, 0};
}
Command mapti(uint32_t device, uint32_t event, uint32_t intid, uint32_t collection)
{
    return {0x0A | static_cast<uint64_t>(device) << 32, static_cast<uint64_t>(intid) << 32 | event,
            collection, 0};
}
Command of_event(uint32_t opcode, uint32_t device, uint32_t event, uint32_t collection = 0)
{
    return {opcode | static_cast<uint64_t>(device) << 32, event, collection, 0};
}
Command movi(uint32_t device, uint32_t event, uint32_t collection)
{
    return of_event(0x01, device, event, collection);
}
Command interrupt(uint32_t device, uint32_t event)
{
    return of_event(0x03, device, event);
}
Command clear(uint32_t device, uint32_t event)
{
    return of_event(0x04, device, event);
}
Command inv(uint32_t device, uint32_t event)
{
    return of_event(0x0C, device, event);
}
Command discard(uint32_t device, uint32_t event)
{
    return of_event(0x0F, device, event);
}
Command invall(uint32_t collection)
{
    return {0x0D, 0, collection, 0};
}

bool operator==(const virtual_its_change &a, const virtual_its_change &b)
{
    return a.cleared == b.cleared && a.configured == b.configured && a.routed == b.routed &&
           a.pended == b.pended;
}

class VirtualIts : public testing::Test {
protected:
    VirtualIts()
    {
        its.vcpu_count = 2;
        its.device_count = 2;
        its.devices[0].id = disk;
        its.devices[1].id = net;
        virtual_its_reset(&its);
    }
    virtual_its_change run(const Command &command) { return virtual_its_execute(&its, command.data()); }
    // Event 1 of the disk is LPI 3, and collection 4 is VCPU 1.
    void map()
    {
        run(mapd(disk, 3));
        run(mapc(4, 1));
        run(mapti(disk, 1, BH_FIRST_LPI + 3, 4));
    }

    virtual_its its{};
};

TEST_F(VirtualIts, D4_AnEventIsAnLpiOfItsCollectionsVcpu)
{
    EXPECT_TRUE(run(mapd(disk, 3)) == virtual_its_change{});
    EXPECT_TRUE(run(mapc(4, 1)) == virtual_its_change{});
    const virtual_its_change change = run(mapti(disk, 1, BH_FIRST_LPI + 3, 4));
    EXPECT_EQ(change.routed, 8u);
    EXPECT_EQ(change.configured, 8u) << "its properties are read when it is mapped";
    EXPECT_EQ(virtual_its_translate(&its, disk, 1), 3u);
    EXPECT_EQ(virtual_its_vcpu(&its, 3), 1u);
    EXPECT_EQ(virtual_its_translate(&its, disk, 0), VIRTUAL_ITS_NONE);
    EXPECT_EQ(virtual_its_translate(&its, net, 1), VIRTUAL_ITS_NONE);
    EXPECT_EQ(run(interrupt(disk, 1)).pended, 8u);
    EXPECT_EQ(run(clear(disk, 1)).cleared, 8u);
    EXPECT_EQ(run(inv(disk, 1)).configured, 8u);
    EXPECT_EQ(run(invall(4)).configured, 8u);
    EXPECT_EQ(run(invall(5)).configured, 0u);
}

TEST_F(VirtualIts, D4_AnLpiFollowsItsCollection)
{
    map();
    EXPECT_EQ(run(mapc(4, 0)).routed, 8u);
    EXPECT_EQ(virtual_its_vcpu(&its, 3), 0u);
    run(mapc(7, 1));
    EXPECT_EQ(run(movi(disk, 1, 7)).routed, 8u);
    EXPECT_EQ(virtual_its_vcpu(&its, 3), 1u);
    EXPECT_EQ(run(mapc(7, 0, false)).routed, 8u) << "the collection ends";
    EXPECT_EQ(virtual_its_vcpu(&its, 3), VIRTUAL_ITS_NONE);
    EXPECT_EQ(virtual_its_translate(&its, disk, 1), VIRTUAL_ITS_NONE);
    EXPECT_EQ(run(interrupt(disk, 1)).pended, 0u);
}

TEST_F(VirtualIts, D4_AMappingEnds)
{
    map();
    virtual_its_change change = run(discard(disk, 1));
    EXPECT_EQ(change.cleared, 8u);
    EXPECT_EQ(change.routed, 8u);
    EXPECT_EQ(virtual_its_translate(&its, disk, 1), VIRTUAL_ITS_NONE);
    EXPECT_TRUE(run(interrupt(disk, 1)) == virtual_its_change{});

    map();
    change = run(mapd(disk, 3));
    EXPECT_EQ(change.cleared, 8u) << "a new table is empty";
    EXPECT_EQ(virtual_its_translate(&its, disk, 1), VIRTUAL_ITS_NONE);

    map();
    EXPECT_EQ(run(mapd(disk, 1, false)).cleared, 8u);
    EXPECT_TRUE(run(mapti(disk, 1, BH_FIRST_LPI + 3, 4)) == virtual_its_change{}) << "not mapped any more";
}

TEST_F(VirtualIts, D4_AnEventCanBeTheLpiOfItsNumber)
{
    run(mapd(disk, 14));
    run(mapc(4, 1));
    EXPECT_EQ(run(of_event(0x0B, disk, BH_FIRST_LPI + 3, 4)).routed, 8u);
    EXPECT_EQ(virtual_its_translate(&its, disk, BH_FIRST_LPI + 3), 3u);
}

TEST_F(VirtualIts, D4_AGuestRaisesEventsOfDeviceIdsWithoutAFunction)
{
    map();
    for (uint32_t device = 1; device <= VIRTUAL_ITS_SPARE_DEVICES; device++) {
        run(mapd(device, 1));
        EXPECT_EQ(run(mapti(device, 0, BH_FIRST_LPI + 10 + device, 4)).routed, 1ull << (10 + device));
        EXPECT_EQ(run(interrupt(device, 0)).pended, 1ull << (10 + device));
        EXPECT_EQ(virtual_its_translate(&its, device, 0), VIRTUAL_ITS_NONE) << "not by a message";
    }
    run(mapd(5, 1));
    EXPECT_EQ(run(mapti(5, 0, BH_FIRST_LPI + 20, 4)).routed, 0u) << "there are no more";
    EXPECT_EQ(run(interrupt(disk, 1)).pended, 8u);
    run(mapd(2, 1, false));
    run(mapd(5, 1));
    EXPECT_EQ(run(mapti(5, 0, BH_FIRST_LPI + 20, 4)).routed, 1ull << 20) << "one has been given back";
    EXPECT_EQ(run(interrupt(2, 0)).pended, 0u);
}

TEST_F(VirtualIts, D4_ACommandThatIsWrongChangesNothing)
{
    map();
    const virtual_its before = its;
    for (const Command &command : {mapd(0x100, 3),
                                   mapd(disk, 17),
                                   mapd(disk, 32),
                                   mapc(16, 0),
                                   mapc(4, 2),
                                   mapc(4, 0xFFFF),
                                   mapti(nobodys, 0, BH_FIRST_LPI, 4),
                                   mapti(net, 0, BH_FIRST_LPI, 4),
                                   mapti(disk, 8, BH_FIRST_LPI, 4),
                                   mapti(disk, 0xFFFFFFFF, BH_FIRST_LPI, 4),
                                   mapti(disk, 0, BH_FIRST_LPI - 1, 4),
                                   mapti(disk, 0, BH_FIRST_LPI + 64, 4),
                                   mapti(disk, 0, 40, 4),
                                   mapti(disk, 0, BH_FIRST_LPI, 16),
                                   mapti(disk, 0, BH_FIRST_LPI, 0xFFFF),
                                   movi(disk, 0, 4),
                                   movi(disk, 1, 16),
                                   movi(nobodys, 1, 4),
                                   interrupt(disk, 0),
                                   interrupt(nobodys, 1),
                                   clear(disk, 2),
                                   inv(net, 1),
                                   discard(disk, 0),
                                   discard(nobodys, 1),
                                   invall(16),
                                   invall(VIRTUAL_ITS_NONE),
                                   invall(0xFFFF),
                                   Command{0x0B | static_cast<uint64_t>(disk) << 32, 2, 4, 0},
                                   Command{0x0E, 0, 0, 1 << 16},
                                   Command{0x05, 0, 0, 0},
                                   Command{0, 0, 0, 0},
                                   Command{0xFF, 0, 0, 0}}) {
        EXPECT_TRUE(run(command) == virtual_its_change{}) << std::hex << command[0];
        EXPECT_EQ(memcmp(&its, &before, sizeof its), 0) << std::hex << command[0];
    }
}

// The model keeps maps, and asks them anew for each question.
TEST_F(VirtualIts, D4_RandomCommandsKeepToAModel)
{
    std::mt19937_64 random{1};
    std::map<uint32_t, std::map<uint32_t, uint32_t>> events; // by mapped device: event to LPI
    std::map<uint32_t, uint32_t> sizes, collections, vcpus;  // of devices; of LPIs; of collections
    const auto one_of = [&](std::initializer_list<uint32_t> values) {
        return values.begin()[random() % values.size()];
    };
    const auto unmap = [&](uint32_t device, uint32_t event) {
        if (events[device].contains(event)) {
            collections.erase(events[device][event]);
            events[device].erase(event);
        }
    };
    const auto lpi_of = [&](uint32_t device, uint32_t event) -> std::optional<uint32_t> {
        if (!events[device].contains(event) || !collections.contains(events[device][event])) {
            return std::nullopt;
        }
        return events[device][event];
    };

    for (unsigned i = 0; i < 50'000; i++) {
        const uint32_t device = one_of({disk, net, nobodys}),
                       event = one_of({0, 1, 7, 8, 31, 0xFFFF, 0x10000});
        const uint32_t lpi = one_of({0, 1, 62, 63, 64}), collection = one_of({0, 1, 15, 16}),
                       bits = one_of({1, 3, 16, 17});
        const uint32_t vcpu = one_of({0, 1, 2});
        const bool is_valid = random() % 4 != 0;
        uint64_t pended = 0;
        switch (random() % 8) {
        case 0:
            if (random() % 16 == 0) {
                run(mapd(device, bits, is_valid));
                if (!is_valid || bits <= 16) {
                    for (const uint32_t one : {0u, 1u, 7u, 8u, 31u, 0xFFFFu}) {
                        unmap(device, one);
                    }
                    sizes[device] = is_valid ? 1u << bits : 0;
                }
            }
            break;
        case 1:
            run(mapc(collection, vcpu, is_valid));
            if (collection < 16 && is_valid && vcpu < 2) {
                vcpus[collection] = vcpu;
            } else if (collection < 16 && !is_valid) {
                vcpus.erase(collection);
            }
            break;
        case 2:
            run(mapti(device, event, BH_FIRST_LPI + lpi, collection));
            if (event < sizes[device] && lpi < 64 && collection < 16) {
                unmap(device, event);
                for (auto &[other, mapped] : events) {
                    std::erase_if(mapped, [&](const auto &pair) { return pair.second == lpi; });
                }
                events[device][event] = lpi;
                collections[lpi] = collection;
            }
            break;
        case 3:
            run(movi(device, event, collection));
            if (lpi_of(device, event) && collection < 16) {
                collections[*lpi_of(device, event)] = collection;
            }
            break;
        case 4:
            run(discard(device, event));
            unmap(device, event);
            break;
        default:
            if (const auto found = lpi_of(device, event); found && vcpus.contains(collections[*found])) {
                pended = 1ull << *found;
            }
            EXPECT_EQ(run(interrupt(device, event)).pended, pended);
            break;
        }
        ASSERT_EQ(virtual_its_translate(&its, nobodys, event), VIRTUAL_ITS_NONE) << "no function writes it";
        for (const uint32_t known_device : {disk, net}) {
            for (const uint32_t one : {0u, 1u, 7u, 8u, 31u, 0xFFFFu, 0x10000u}) {
                const auto found = lpi_of(known_device, one);
                const bool arrives = found && vcpus.contains(collections[*found]);
                ASSERT_EQ(virtual_its_translate(&its, known_device, one), arrives ? *found : VIRTUAL_ITS_NONE)
                    << i;
                if (arrives) {
                    ASSERT_EQ(virtual_its_vcpu(&its, *found), vcpus[collections[*found]]) << i;
                }
            }
        }
    }
}

} // namespace
} // namespace virtual_its_test
