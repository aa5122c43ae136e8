// SPDX-License-Identifier: Apache-2.0
//
// Shared by the tests of the virtual interrupt controller's delivery, on either version.
#pragma once

#include "test_system.h"

#include <gtest/gtest.h>
#include <utility>

namespace bulkhead_test {

constexpr uint32_t kSpi = 48;

inline DomainSpec one_vcpu(std::vector<uint32_t> spis = {})
{
    return {.name = "one", .cores = {0}, .spis = std::move(spis)};
}

inline DomainSpec two_vcpus(std::vector<uint32_t> spis = {})
{
    return {.name = "two", .cores = {1, 2}, .spis = std::move(spis)};
}

class Deliver : public testing::Test {
protected:
    void TearDown() override
    {
        EXPECT_EQ(fake_gic_violations(), 0u) << "list registers were used against the architecture";
        EXPECT_EQ(fake_faults(), 0u);
    }
};

} // namespace bulkhead_test
