/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory as capabilities (X3, X6): a frame belongs to users or to the kernel, never to both; it is cleared
 * when it changes hands; a component can access what is mapped for it and no more.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "microkernel/kernel/arch.h"
}

#include <cstring>
#include <random>

namespace bulkhead::test::frames_test {
namespace {

using Frames = KernelTest;

constexpr uint32_t A = SLOTS_FREE;
constexpr uint32_t B = SLOTS_FREE + 1u;
constexpr uint32_t RW = MXU_READ | MXU_WRITE;

TEST_F(Frames, X6_memory_is_cleared_in_bounded_passes)
{
    std::memset(arch_memory(FREE_FIRST), 0xAA, 3 * FRAME);
    EXPECT_EQ(call_to_the_end(SYS_RETYPE, SLOT_UNTYPED, FREE_FIRST, 3 * FRAME, A), SYS_OK);
    EXPECT_EQ(kernel.thread[MANAGER].context.calls_again, 3 * FRAME / CLEARED_AT_ONCE - 1u);
    for (uint32_t at = 0; at < 3 * FRAME; at += 4) {
        ASSERT_EQ(*static_cast<uint32_t *>(arch_memory(FREE_FIRST + at)), 0u);
    }
}

TEST_F(Frames, X6_memory_that_is_not_yet_clear_cannot_be_used)
{
    call(SYS_RETYPE, SLOT_UNTYPED, FREE_FIRST, 3 * FRAME, A);
    EXPECT_EQ(call(SYS_MAP, A, SLOT_COMPONENTS + MANAGER, RW), SYS_EBUSY);
    EXPECT_EQ(call(SYS_DELEGATE, A, SLOT_COMPONENTS + MANAGER, RIGHTS_ALL, B), SYS_EKIND);
    EXPECT_EQ(call(SYS_RETYPE, SLOT_UNTYPED, FREE_FIRST, 2 * FRAME, A), SYS_EEXIST);
}

TEST_F(Frames, X6_the_kernel_s_frames_are_kept_while_it_needs_them)
{
    start();
    kernel.current = &kernel.thread[MANAGER];
    EXPECT_EQ(call(SYS_REVOKE, SLOT_UNTYPED), SYS_EBUSY);
    expect_sound();
}

TEST_F(Frames, X6_a_stack_is_not_unmapped_but_its_revocation_ends_the_component)
{
    start();
    call(SYS_DISPATCH, SLOT_THREADS + CLIENT);
    ASSERT_EQ(running(), CLIENT);
    kernel.current = &kernel.thread[MANAGER];
    EXPECT_EQ(call(SYS_UNMAP, 120 + CLIENT), SYS_EBUSY);
    EXPECT_EQ(call(SYS_DELETE, 120 + CLIENT), SYS_OK);
    EXPECT_EQ(kernel.thread[CLIENT].state, THREAD_DEAD);
    kernel.current = kernel.scheduler;
    EXPECT_EQ(call(SYS_DISPATCH, SLOT_THREADS + CLIENT), SYS_EDEAD);
    expect_sound();
}

TEST_F(Frames, X6_a_refused_mapping_leaves_nothing_behind)
{
    start();
    kernel.current = &kernel.thread[MANAGER];
    ASSERT_EQ(call_to_the_end(SYS_RETYPE, SLOT_UNTYPED, FREE_FIRST, FRAME, A), SYS_OK);
    fake.refuses_maps = true;
    EXPECT_EQ(call(SYS_MAP, A, SLOT_COMPONENTS + CLIENT, RW), SYS_EINVAL);
    fake.refuses_maps = false;
    EXPECT_EQ(call(SYS_MAP, A, SLOT_COMPONENTS + CLIENT, RW), SYS_OK);
    EXPECT_EQ(call(SYS_MAP, A, SLOT_COMPONENTS + OTHER, RW), SYS_EBUSY);
    EXPECT_EQ(call(SYS_MAP, A, SLOT_SELF, RW), SYS_ERIGHTS);
    expect_sound();
}

TEST_F(Frames, X6_any_sequence_of_calls_keeps_frames_of_one_kind)
{
    constexpr uint32_t SLOTS = 24;
    constexpr uint32_t PLACES = 16;
    std::mt19937 generator(7);
    const auto random = [&] { return static_cast<uint32_t>(generator()); };
    std::array<uint32_t, SYS_STATUSES> seen{};

    start();
    kernel.current = &kernel.thread[MANAGER];
    for (uint32_t step = 0; step < 20000; step++) {
        const uint32_t slot = SLOTS_FREE + random() % SLOTS;
        const uint32_t other = SLOTS_FREE + random() % SLOTS;
        const uint32_t component = SLOT_COMPONENTS + CLIENT + random() % 2;
        const uint32_t first = FREE_FIRST + random() % PLACES * FRAME;
        const uint32_t bytes = (1u + random() % 3u) * FRAME | random() % 2u;
        uint32_t status = SYS_OK;

        switch (random() % 6) {
        case 0:
            status = call(SYS_RETYPE, SLOT_UNTYPED, first, bytes, slot);
            break;
        case 1:
            status = call(SYS_MAP, slot, component, random() % 8u);
            break;
        case 2:
            status = call(SYS_UNMAP, slot);
            break;
        case 3:
            status = call(SYS_DELEGATE, slot, SLOT_COMPONENTS + MANAGER, random() % 8u, other);
            break;
        case 4:
            status = call(SYS_DELETE, slot);
            break;
        default:
            status = call(SYS_REVOKE, slot);
        }
        ASSERT_EQ(running(), MANAGER);
        if (status < SYS_STATUSES) {
            seen[status]++;
        }
        expect_sound();
        ASSERT_FALSE(HasFailure()) << "step " << step;
    }
    for (const uint32_t status : {SYS_OK, SYS_ENOCAP, SYS_ERIGHTS, SYS_EKIND, SYS_EBUSY, SYS_EEXIST}) {
        EXPECT_GT(seen[status], 0u) << status;
    }
}

} // namespace
} // namespace bulkhead::test::frames_test
