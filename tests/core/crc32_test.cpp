// SPDX-License-Identifier: Apache-2.0
// CRC-32 against the check value that is published with its definition.
#include "core/crc32.h"
#include <gtest/gtest.h>
#include <string>

namespace crc32_test {
namespace {

TEST(Crc32, HasTheStandardCheckValue)
{
    EXPECT_EQ(crc32_update(0, "123456789", 9), 0xCBF43926u);
}

TEST(Crc32, CanBeContinued)
{
    const std::string text = "123456789";
    for (size_t cut = 0; cut <= text.size(); cut++) {
        uint32_t crc = crc32_update(0, text.data(), cut);
        EXPECT_EQ(crc32_update(crc, text.data() + cut, text.size() - cut), 0xCBF43926u);
    }
}

} // namespace
} // namespace crc32_test
