// SPDX-License-Identifier: Apache-2.0
// Resets of devices that are no PCI functions, on a model of reset registers: at EL2's start, and when a
// domain has stopped (D1, D2).
#include "hosted_machine.h"
#include <gtest/gtest.h>
#include <map>

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_registers.h"
#include "run/device_reset.h"
}

namespace device_reset_test {
namespace {

using namespace bulkhead_test;

constexpr uint64_t system_off = 0x84000008;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t cpu_on = 0xC4000003;
constexpr uint64_t read_ns = 200;
constexpr uint32_t others = 0xFFFF0000; // bits of devices that the manifest does not have

// Reset registers of two pages. A bit of `ones` holds a device when it is 1, others when it is 0. Each access
// takes time, so that EL2's waiting ends.
struct Registers {
    std::map<uint64_t, uint32_t> words;
    std::map<std::pair<uint64_t, uint32_t>, unsigned> writes; // by place and value
    std::map<uint64_t, uint64_t> since;                       // ticks at the last change of a place
    std::map<uint64_t, uint64_t> longest;                     // ticks from one change to the next
    uint64_t kept = 0;                                        // a place at which writes have no effect
};

Registers *model;
uint64_t now;

void pass()
{
    now += read_ns / 16; // of the counter, at 62.5 MHz
    fake_clock_set(now);
}

template <uint64_t page> bool read(uint64_t offset, unsigned, uint64_t *value)
{
    pass();
    *value = model->words[page + offset];
    return true;
}

template <uint64_t page> bool write(uint64_t offset, unsigned, uint64_t value)
{
    const uint64_t at = page + offset;
    uint64_t &since = model->since[at];
    uint64_t &longest = model->longest[at];

    pass();
    longest = since != 0 && now - since > longest ? now - since : longest;
    since = now;
    if (at != model->kept) {
        model->words[at] = static_cast<uint32_t>(value);
    }
    model->writes[{at, static_cast<uint32_t>(value)}]++;
    return true;
}

class DeviceReset : public testing::Test {
protected:
    static constexpr uint64_t first = sample_resets_pa + 0x100, second = sample_resets_pa + 0x1FFC;

    DeviceReset()
    {
        model = &registers;
        registers.words[first] = others;
        registers.words[second] = others | 0x30;
    }
    void boot(const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {})
    {
        const auto with_resets = [&](SampleManifest &m) {
            give_resets(m);
            change(m);
        };
        machine = std::make_unique<HostedMachine>(with_resets, [] {
            fake_map(sample_resets_pa, 0x1000, read<sample_resets_pa>, write<sample_resets_pa>);
            fake_map(sample_resets_pa + 0x1000, 0x1000, read<sample_resets_pa + 0x1000>,
                     write<sample_resets_pa + 0x1000>);
        });
        registers.writes.clear();
    }
    unsigned writes(uint64_t at, uint32_t value) { return registers.writes[{at, value}]; }
    static uint64_t ticks(uint64_t ns) { return (ns + 15) / 16; }

    Registers registers;
    std::unique_ptr<HostedMachine> machine;
};

TEST_F(DeviceReset, D2_AllAreResetAtTheStart)
{
    boot();
    EXPECT_EQ(device_reset_all(system_manifest()), nullptr);
    EXPECT_EQ(writes(first, others | 2), 1u) << "held by ones";
    EXPECT_EQ(writes(first, others | 4), 1u);
    EXPECT_EQ(writes(first, others), 2u) << "and let go, each alone";
    EXPECT_EQ(writes(second, others), 1u) << "held by zeros";
    EXPECT_EQ(registers.words[first], others);
    EXPECT_EQ(registers.words[second], others | 0x30u);
    EXPECT_GE(registers.longest[first], ticks(1000));
    EXPECT_GE(registers.longest[second], ticks(BH_MAX_RESET_HOLD_NS));
}

TEST_F(DeviceReset, D2_ARegisterThatFirmwareKeepsIsFound)
{
    boot();
    registers.kept = second;
    EXPECT_EQ(device_reset_all(system_manifest()), &manifest_resets(system_manifest())[1]);
}

// Two VCPUs: the reset comes with the last one, and the restart after it.
TEST_F(DeviceReset, D2_TheLastVcpuThatGoesOffResets)
{
    boot([](SampleManifest &m) { m.resets[0].domain = 1; });
    machine->on_core(1);
    machine->hvc(cpu_on, 1, 0x40004000, 0);
    machine->on_core(3); // its second VCPU runs
    machine->on_core(1);
    machine->hvc(system_reset);
    EXPECT_EQ(machine->status(1).restarts, 0u);
    EXPECT_TRUE(registers.writes.empty()) << "the other VCPU may still use the device";
    machine->on_core(3);
    machine->interrupt();
    EXPECT_EQ(writes(first, others | 2), 1u);
    machine->on_core(1);
    EXPECT_EQ(writes(first, others | 2), 1u) << "once";
}

// Domain 0 has two devices, one in each register; nobody's is left alone.
TEST_F(DeviceReset, D2_ADomainsAreResetBeforeItStartsAgain)
{
    boot();
    machine->page(0x60001000).assign(BH_PAGE_BYTES, 'a');
    unsigned opened = 0;
    machine->on_window([&](uint64_t) {
        if (opened++ == 0) {
            EXPECT_EQ(writes(first, others | 2), 1u) << "before its memory is loaded again";
            EXPECT_EQ(registers.words[first], others);
            EXPECT_EQ(registers.words[second], others | 0x30u);
        }
    });
    machine->on_core(0);
    machine->hvc(system_reset);
    EXPECT_EQ(machine->status(0).restarts, 1u);
    EXPECT_GT(opened, 0u);
    EXPECT_EQ(writes(first, others | 2), 1u);
    EXPECT_EQ(writes(first, others | 4), 0u) << "nobody's";
    EXPECT_EQ(writes(second, others), 1u);
    EXPECT_GE(registers.longest[second], ticks(BH_MAX_RESET_HOLD_NS));
    EXPECT_LE(registers.longest[first], ticks(BH_MAX_RESET_HOLD_NS) + 8 * ticks(read_ns))
        << "held together, not one after the other";
}

TEST_F(DeviceReset, D2_ADomainThatStaysOffIsQuietToo)
{
    boot();
    machine->on_core(0);
    machine->hvc(system_off);
    EXPECT_EQ(machine->status(0).state, uint32_t{BH_DOMAIN_STATE_STOPPED});
    EXPECT_EQ(writes(first, others | 2), 1u);
    EXPECT_EQ(registers.words[first], others);
}

TEST_F(DeviceReset, ADomainWithoutDevicesWritesNothing)
{
    boot();
    machine->on_core(1);
    machine->hvc(system_off);
    machine->on_core(3);
    EXPECT_TRUE(registers.writes.empty());
}

} // namespace
} // namespace device_reset_test
