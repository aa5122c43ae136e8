/* SPDX-License-Identifier: Apache-2.0
 *
 * The system's description, and the invariants of the kernel's objects.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "core/crc32.h"
#include "microkernel/kernel/arch.h"
}

#include <cstring>

namespace bulkhead::test {

namespace {

constexpr uint32_t CODE_BYTES = 0x1000;
constexpr uint32_t NODES_SLOT = 100;
constexpr uint32_t STACK_SLOT = 120;
constexpr uint32_t NODE_FRAMES = 2;

} // namespace

KernelTest::KernelTest()
{
    fake_reset();
    describe();
    for (uint32_t i = 0; i < COMPONENTS; i++) {
        boot_component &given = system.component[i];
        const uint32_t stack = BOARD_FRAMES_FIRST + 2 * i * FRAME;

        std::strcpy(given.name, std::array{"manager", "scheduler", "server", "client", "other"}[i]);
        given.code_first = FAKE_CODE_FIRST + i * CODE_BYTES;
        given.serves = i == MANAGER || i == SERVER;
        given.priority = static_cast<uint8_t>(i);
        given.hardware = i == CLIENT ? 1u << HW_CONSOLE : 0u;
        if (i == CLIENT || i == OTHER || i == SERVER) {
            given.call_count = 1;
            given.calls[0] = i == SERVER ? MANAGER : SERVER;
        }
        *static_cast<component_header *>(arch_memory(given.code_first)) = {
            HEADER_MAGIC, given.code_first + 32u, CODE_BYTES, stack + FRAME, FRAME, stack, FRAME, 0};
    }
    seal(system);
    EXPECT_EQ(kernel_boot(&system), nullptr);
}

void KernelTest::describe()
{
    system.magic = BOOT_MAGIC;
    system.version = BOOT_VERSION;
    system.bytes = sizeof system;
    system.component_count = COMPONENTS;
    system.clock_hz = 1000000;
    system.timer_hz = 1000000;
    system.hardware.most_region_bits = 32;
}

void seal(boot_system &system)
{
    constexpr size_t first = offsetof(boot_system, component_count);

    system.crc = crc32_update(0, reinterpret_cast<const uint8_t *>(&system) + first, sizeof system - first);
}

uint32_t KernelTest::call(sys_number number, uint32_t slot, uint32_t first, uint32_t second, uint32_t third)
{
    thread *caller = kernel.current;

    caller->context.number = number;
    caller->context.r[0] = slot;
    caller->context.r[1] = first;
    caller->context.r[2] = second;
    caller->context.r[3] = third;
    kernel.current = kernel_syscall(caller);
    return caller->context.r[0];
}

uint32_t KernelTest::call_to_the_end(sys_number number, uint32_t slot, uint32_t first, uint32_t second,
                                     uint32_t third)
{
    const thread *caller = kernel.current;
    uint32_t before;
    uint32_t status;

    do {
        before = caller->context.calls_again;
        status = call(number, slot, first, second, third);
    } while (caller->context.calls_again != before);
    return status;
}

void KernelTest::start()
{
    for (uint32_t i = SCHEDULER; i < COMPONENTS; i++) {
        const uint32_t nodes = FREE_FIRST + (128 + NODE_FRAMES * i) * FRAME;

        ASSERT_EQ(call_to_the_end(SYS_RETYPE, SLOT_UNTYPED, nodes, NODE_FRAMES * FRAME | KIND_KERNEL,
                                  NODES_SLOT + i),
                  SYS_OK);
        ASSERT_EQ(call(SYS_GIVE, NODES_SLOT + i, SLOT_COMPONENTS + i, GIVE_RANGES), SYS_OK);
        ASSERT_EQ(
            call_to_the_end(SYS_RETYPE, SLOT_UNTYPED, kernel.thread[i].stack_first, FRAME, STACK_SLOT + i),
            SYS_OK);
        ASSERT_EQ(call(SYS_MAP, STACK_SLOT + i, SLOT_COMPONENTS + i, MXU_READ | MXU_WRITE | MAP_STATIC << 16),
                  SYS_OK);
    }
    call(SYS_REPLY_WAIT, SLOT_SERVE);
    ASSERT_EQ(running(), SCHEDULER);
}

void KernelTest::expect_sound()
{
    std::array<uint32_t, BOARD_FRAMES> holders{};
    std::array<uint32_t, MOST_COMPONENTS> mapped{};

    for (const cap &cap : kernel.cap) {
        if (cap.type != CAP_MEMORY) {
            continue;
        }
        for (uint32_t at = cap.first; at < cap.last; at += FRAME) {
            const uint32_t frame = (at - BOARD_FRAMES_FIRST) / FRAME;

            holders[frame]++;
            EXPECT_EQ(kernel.frame[frame].kind, cap.kind);
        }
        if (cap.kind == MXU_FRAME_USER && cap.mapped < COMPONENTS) {
            mapped[cap.mapped]++;
            EXPECT_NE(mxu_trie_lookup(&kernel.component[cap.mapped].trie, cap.first), MXU_NONE);
        }
    }
    for (uint32_t i = 0; i < BOARD_FRAMES; i++) {
        const bool is_managers = i < 2; /* without a capability: no component can free it */

        EXPECT_EQ(kernel.frame[i].holders, holders[i] + is_managers);
        EXPECT_EQ(kernel.frame[i].kind == MXU_FRAME_FREE, kernel.frame[i].holders == 0);
    }
    for (uint32_t i = SCHEDULER; i < COMPONENTS; i++) {
        EXPECT_EQ(kernel.component[i].space.mapped, mapped[i]);
        if (kernel.component[i].has_ranges != 0) {
            EXPECT_EQ(kernel.component[i].trie.used_ranges, mapped[i]);
        }
    }
}

} // namespace bulkhead::test
