// SPDX-License-Identifier: Apache-2.0
// Regulators in front of devices at EL2's start: one that does not hold its rates is found, with its place in
// the manifest (D5).
#include "hosted_machine.h"
#include <gtest/gtest.h>
#include <map>

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "time/device_regulators.h"
}

namespace device_regulators_test {
namespace {

using namespace bulkhead_test;

// Registers of two regulators. The second one may be kept by firmware: writes vanish then.
std::map<uint64_t, uint64_t> words[2];
bool is_kept;

template <int n> bool read(uint64_t offset, unsigned, uint64_t *value)
{
    *value = words[n][offset];
    return true;
}

template <int n> bool write(uint64_t offset, unsigned, uint64_t value)
{
    words[n][offset] = n == 1 && is_kept ? 0 : value;
    return true;
}

TEST(DeviceRegulators, D5_OneThatDoesNotHoldItsRatesIsFound)
{
    HostedMachine machine(give_device_regulators);

    fake_map(sample_regulators_pa, 0x1000, read<0>, write<0>);
    fake_map(sample_regulators_pa + 0x1000, 0x1000, read<1>, write<1>);
    EXPECT_EQ(device_regulators_init(), 0u);
    EXPECT_EQ(words[0][0x120], 4095u << 20) << "writes";
    EXPECT_EQ(words[1][0x12C], 20u << 20) << "reads";
    is_kept = true;
    EXPECT_EQ(device_regulators_init(),
              offsetof(manifest_header, device_regulators) + offsetof(manifest_device_regulators, page_1));
}

} // namespace
} // namespace device_regulators_test
