/* SPDX-License-Identifier: Apache-2.0
 *
 * A small system on the fake architecture: memory manager, scheduler, a server, two clients. Tests make
 * system calls as one of its threads.
 */
#ifndef BULKHEAD_TESTS_MICROKERNEL_KERNEL_WORLD_H
#define BULKHEAD_TESTS_MICROKERNEL_KERNEL_WORLD_H

extern "C" {
#include "microkernel/arch/fake/fake.h"
#include "microkernel/kernel/boot.h"
#include "microkernel/kernel/cap.h"
#include "microkernel/kernel/life.h"
#include "microkernel/kernel/syscall.h"
}

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace bulkhead::test {

inline constexpr uint32_t SERVER = 2;
inline constexpr uint32_t CLIENT = 3;
inline constexpr uint32_t OTHER = 4;
inline constexpr uint32_t COMPONENTS = 5;
inline constexpr uint32_t FRAME = 1u << BOARD_FRAME_BITS;
/* The first frames are stacks and data: two each. */
inline constexpr uint32_t FREE_FIRST = BOARD_FRAMES_FIRST + COMPONENTS * 2 * FRAME;

class KernelTest : public testing::Test {
protected:
    KernelTest();

    /* A system call of the running thread; returns r0. */
    uint32_t call(sys_number number, uint32_t slot, uint32_t first = 0, uint32_t second = 0,
                  uint32_t third = 0);

    /* Repeats it as long as the kernel requests that. */
    uint32_t call_to_the_end(sys_number number, uint32_t slot, uint32_t first, uint32_t second,
                             uint32_t third);

    /* The memory manager, running, gives all others kernel memory and stacks, and waits: the scheduler runs.
     */
    void start();

    uint32_t running() const { return thread_number(kernel.current); }
    uint32_t word(uint32_t index) const { return kernel.current->context.r[index]; }
    std::string said() const { return std::string(fake.text, fake.text_bytes); }

    /* Checks that frames, maps and capabilities agree. */
    static void expect_sound();

    struct boot_system system {};

private:
    void describe();
};

/* Enters the description's CRC. */
void seal(boot_system &system);

} // namespace bulkhead::test

#endif
