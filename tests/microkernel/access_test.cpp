/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes instructions as the assembler encodes them, for reports of violations.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "microkernel/arch/armv7m/access.h"
}

namespace bulkhead::test::access_test {
namespace {

TEST(ThumbAccess, X6_tells_loads_from_stores)
{
    EXPECT_EQ(thumb_access(0x6808), ACCESS_READ);  // ldr r0, [r1]
    EXPECT_EQ(thumb_access(0x6008), ACCESS_WRITE); // str r0, [r1]
    EXPECT_EQ(thumb_access(0x5688), ACCESS_READ);  // ldrsb r0, [r1, r2]
    EXPECT_EQ(thumb_access(0x5488), ACCESS_WRITE); // strb r0, [r1, r2]
    EXPECT_EQ(thumb_access(0xB510), ACCESS_WRITE); // push {r4, lr}
    EXPECT_EQ(thumb_access(0xBD10), ACCESS_READ);  // pop {r4, pc}
    EXPECT_EQ(thumb_access(0xE8B0), ACCESS_READ);  // ldmia.w r0!, ...
    EXPECT_EQ(thumb_access(0xE9C2), ACCESS_WRITE); // strd r0, r1, [r2]
    EXPECT_EQ(thumb_access(0xF8D1), ACCESS_READ);  // ldr.w r0, [r1, #...]
    EXPECT_EQ(thumb_access(0xF881), ACCESS_WRITE); // strb.w r0, [r1, #...]
    EXPECT_EQ(thumb_access(0xF991), ACCESS_READ);  // ldrsb.w r0, [r1, #...]
    EXPECT_EQ(thumb_access(0x4770), ACCESS_DATA);  // bx lr
}

} // namespace
} // namespace bulkhead::test::access_test
