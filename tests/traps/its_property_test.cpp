// SPDX-License-Identifier: Apache-2.0
// Random steps of two guests with message interrupts, of their functions and of their cores, against a model
// that knows only what was mapped, enabled and written: each message that the guest has mapped and enabled
// arrives, no other does, and the virtual interrupt controller's state stays consistent (D4).
#include "its_guest.h"
#include "tests/fuzz/vgic_invariants.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace its_property_test {
namespace {

using namespace bulkhead_test;

constexpr uint32_t events = 12, lpis = 10, collections = 3;
constexpr uint32_t sgi = 5, timer = 27, device_spi = 48;

// What an LPI of linux is, as its guest has asked for it.
struct Expected {
    std::map<uint32_t, uint32_t> event_lpi;      // of mapped events
    std::map<uint32_t, uint32_t> lpi_collection; // of mapped LPIs
    std::map<uint32_t, uint32_t> collection_vcpu;
    std::map<uint32_t, uint8_t> table;    // the guest's memory
    std::map<uint32_t, uint8_t> property; // as it was when a command said that it has changed
    std::array<bool, 2> enabled{};        // GICR_CTLR
    std::set<uint32_t> pending;

    bool is_mapped(uint32_t event) const
    {
        return event_lpi.contains(event) && lpi_collection.contains(event_lpi.at(event));
    }
    // The VCPU that takes the LPI, or none.
    std::optional<uint32_t> vcpu(uint32_t lpi) const
    {
        const auto collection = lpi_collection.find(lpi);
        if (collection == lpi_collection.end() || !collection_vcpu.contains(collection->second)) {
            return std::nullopt;
        }
        return collection_vcpu.at(collection->second);
    }
    bool is_due(uint32_t lpi, uint32_t at) const
    {
        return pending.contains(lpi) && vcpu(lpi) == at && enabled[at] && (property.at(lpi) & 1) != 0;
    }
    void end(uint32_t event)
    {
        if (event_lpi.contains(event)) {
            pending.erase(event_lpi.at(event));
            lpi_collection.erase(event_lpi.at(event));
            event_lpi.erase(event);
        }
    }
};

class ItsProperty : public testing::TestWithParam<bool>, public ItsMachine {
protected:
    ItsProperty() { its.keeps_active = GetParam(); }

    uint32_t number(uint32_t below) { return static_cast<uint32_t>(random() % below); }
    static uint32_t core_of(uint32_t vcpu) { return vcpu == 0 ? linux_core : second_core; }

    void check(int step)
    {
        std::array<struct domain *, 2> domains{domain_at(0), domain_at(1)};
        ASSERT_EQ(broken_vgic_invariant(domains, 4), "") << step;
        ASSERT_TRUE(its.violations.empty()) << its.violations[0];
    }
    // The guest acknowledges what is signalled, and ends it, or ends it later.
    void acknowledge(uint32_t vcpu, int step)
    {
        machine->on_core(core_of(vcpu));
        const uint32_t intid = fake_gic_guest_acknowledge();
        if (intid == FAKE_GIC_SPURIOUS) {
            return;
        }
        if (intid >= first_lpi) {
            ASSERT_TRUE(expected.is_due(intid - first_lpi, vcpu))
                << "LPI " << intid - first_lpi << " at VCPU " << vcpu << ", step " << step;
            expected.pending.erase(intid - first_lpi);
        }
        taken[vcpu].push_back(intid);
    }
    void end(uint32_t vcpu)
    {
        machine->on_core(core_of(vcpu));
        if (!taken[vcpu].empty()) {
            fake_gic_guest_end(taken[vcpu].back());
            taken[vcpu].pop_back();
        }
    }
    void message(uint32_t event)
    {
        const auto signal = its.message(linux_device, event);
        ASSERT_TRUE(signal);
        // EL2 takes it at once: which mapping a message meets is then known.
        take(signal->core);
        if (expected.is_mapped(event) && expected.vcpu(expected.event_lpi.at(event))) {
            expected.pending.insert(expected.event_lpi.at(event));
        }
    }
    void map_event(uint32_t core, uint32_t event)
    {
        // a number that no other event has: two events with one LPI are the guest's mistake
        const uint32_t lpi = number(lpis), collection = number(collections);
        const bool used =
            std::any_of(expected.event_lpi.begin(), expected.event_lpi.end(),
                        [&](const auto &one) { return one.second == lpi && one.first != event; });
        if (used) {
            return;
        }
        execute(core, {command::mapti(linux_device, event, first_lpi + lpi, collection)});
        expected.end(event);
        expected.event_lpi[event] = lpi;
        expected.lpi_collection[lpi] = collection;
        expected.property[lpi] = expected.table[lpi];
    }
    void map_collection(uint32_t core, uint32_t collection)
    {
        const uint32_t vcpu = number(2);
        const bool is_valid = number(4) != 0;
        execute(core, {command::mapc(collection, vcpu, is_valid)});
        expected.collection_vcpu.erase(collection);
        if (is_valid) {
            expected.collection_vcpu[collection] = vcpu;
        }
        read_collection(collection);
    }
    void read_collection(uint32_t collection)
    {
        for (const auto &[lpi, of] : expected.lpi_collection) {
            if (of == collection) {
                expected.property[lpi] = expected.table[lpi];
            }
        }
    }
    void change_property(uint32_t core, uint32_t event)
    {
        const uint32_t lpi = number(lpis);
        const uint8_t property = static_cast<uint8_t>(number(32) << 3 & 0xF0) | (number(3) != 0);
        set_property(core, first_lpi + lpi, property);
        expected.table[lpi] = property;
        execute(core, {command::inv(linux_device, event)});
        if (expected.is_mapped(event)) {
            expected.property[expected.event_lpi[event]] = expected.table[expected.event_lpi[event]];
        }
    }
    void command_of_event(uint32_t core, uint32_t event)
    {
        const bool mapped = expected.is_mapped(event);
        const uint32_t lpi = mapped ? expected.event_lpi.at(event) : 0, collection = number(collections);
        switch (number(4)) {
        case 0:
            execute(core, {command::movi(linux_device, event, collection)});
            if (mapped) {
                expected.lpi_collection[lpi] = collection;
                expected.property[lpi] = expected.table[lpi];
            }
            break;
        case 1:
            execute(core, {command::discard(linux_device, event)});
            expected.end(event);
            break;
        case 2:
            execute(core, {command::clear(linux_device, event)});
            if (mapped) {
                expected.pending.erase(lpi);
            }
            break;
        default:
            execute(core, {command::interrupt(linux_device, event)});
            if (mapped && expected.vcpu(lpi)) {
                expected.pending.insert(lpi);
            }
            break;
        }
    }
    void step(int n)
    {
        const uint32_t vcpu = number(2), core = core_of(vcpu), event = number(events);
        switch (number(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
            message(event);
            break;
        case 4:
        case 5:
        case 6:
            take(core);
            acknowledge(vcpu, n);
            break;
        case 7:
        case 8:
            end(vcpu);
            break;
        case 9:
            map_event(core, event);
            break;
        case 10:
            map_collection(core, number(collections));
            break;
        case 11:
            change_property(core, event);
            break;
        case 12:
            command_of_event(core, event);
            break;
        case 13:
            if (number(4) == 0) {
                expected.enabled[vcpu] = !expected.enabled[vcpu];
                enable_lpis(core, vcpu, expected.enabled[vcpu]);
                for (uint32_t lpi = 0; lpi < lpis; lpi++) {
                    expected.property[lpi] = expected.table[lpi];
                }
            }
            break;
        case 14: { // interrupts of other kinds among them
            const uint64_t sender = uint64_t{sgi} << 24 | 1u << number(2);
            machine->on_core(core);
            machine->regs(core).x[1] = sender;
            machine->trap(esr_sysreg(3, 0, 12, 11, 5, 1, false));
            break;
        }
        default:
            fake_switch_core(core);
            fake_gic_raise(number(2) == 0 ? timer : device_spi);
            break;
        }
    }
    // Everything is enabled and taken; then every message that is due has arrived.
    void come_to_rest()
    {
        for (int round = 0; round < 400; round++) {
            take_all();
            for (const uint32_t vcpu : {0u, 1u}) {
                end(vcpu);
                acknowledge(vcpu, -1);
            }
        }
        for (const uint32_t lpi : expected.pending) {
            for (const uint32_t vcpu : {0u, 1u}) {
                EXPECT_FALSE(expected.is_due(lpi, vcpu)) << "LPI " << lpi << " never arrives";
            }
        }
    }

    std::mt19937 random{GetParam() ? 7u : 8u};
    Expected expected;
    std::array<std::vector<uint32_t>, 2> taken;
};

TEST_P(ItsProperty, D4_EachMessageArrivesOnceWhereItsGuestHasMappedIt)
{
    for (int run = 0; run < 12; run++) {
        const uint32_t list_registers = run % 3 == 0 ? 2 : 4;
        its = {};
        its.keeps_active = GetParam();
        smmu = {};
        expected = {};
        taken = {};
        boot([](SampleManifest &) {}, list_registers);
        ASSERT_TRUE(machine->booted()) << said();
        ASSERT_TRUE(start_second_vcpu());
        open(linux_core);
        enable_lpis(second_core, 1);
        execute(linux_core, {command::mapd(linux_device, 5)});
        for (const uint32_t vcpu : {0u, 1u}) { // software-generated interrupts, the timer
            store(core_of(vcpu), gicr_ipa + vcpu * 0x20000 + 0x10100, 1u << sgi | 1u << timer, 4);
        }
        store(linux_core, gicd_ipa + 0x104, 1u << (device_spi - 32), 4);
        expected.enabled = {true, true};
        for (uint32_t lpi = 0; lpi < lpis; lpi++) {
            expected.table[lpi] = expected.property[lpi] = 0xA1;
        }
        for (int n = 0; n < 1500 && !HasFatalFailure(); n++) {
            step(n);
            check(n);
        }
        ASSERT_FALSE(HasFatalFailure()) << "run " << run;
        come_to_rest();
        check(-1);
    }
}

INSTANTIATE_TEST_SUITE_P(D4, ItsProperty, testing::Bool(), [](const testing::TestParamInfo<bool> &variant) {
    return std::string(variant.param ? "LpisActiveUntilTheirEnd" : "LpisWithoutActiveState");
});

} // namespace
} // namespace its_property_test
