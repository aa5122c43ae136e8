// SPDX-License-Identifier: Apache-2.0
//
// The driver of the physical GICv3 on cores with more bits of priority than the simulated machine's have: on
// the plain fake only, which supports any number of them.
#include "test_system.h"

#include <array>
#include <gtest/gtest.h>
#include <utility>

extern "C" {
#include <arch/gic.h>
}

namespace gic_priorities_test {
namespace {

using namespace bulkhead_test;

const DomainSpec kDomain{.name = "one", .cores = {0}};

TEST(Gic, PrioritiesThatALoaderLeftActiveAreForgottenInAllRegistersThatThereAre)
{
    TestSystem system{kDomain};
    const std::pair<uint64_t, std::array<bool, 4>> cases[] = {
        {5, {true, false, false, false}}, {6, {true, true, false, false}}, {7, {true, true, true, true}}};

    system.run_core(1);
    for (const auto &[bits, there] : cases) {
        fake_set_sysreg(SYSREG_ID_ICC_CTLR_EL1, (bits - 1) << 8);
        for (uint32_t n = 0; n < 4; n++) {
            fake_set_sysreg(static_cast<sysreg_id>(SYSREG_ID_ICC_AP1R0_EL1 + n), 1);
        }
        ASSERT_TRUE(gic_cpu_init(1, this_cpu()->mpidr));
        for (uint32_t n = 0; n < 4; n++) {
            EXPECT_EQ(fake_sysreg(static_cast<sysreg_id>(SYSREG_ID_ICC_AP1R0_EL1 + n)), there[n] ? 0u : 1u)
                << bits << " bits, register " << n;
        }
    }
}

} // namespace
} // namespace gic_priorities_test
