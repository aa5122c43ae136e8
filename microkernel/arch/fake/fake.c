/* SPDX-License-Identifier: Apache-2.0
 *
 * An architecture without hardware, for tests: memory is an array, and a stack can be used as soon as it is
 * mapped.
 */
#include "microkernel/arch/fake/fake.h"
#include "clock.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"
#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES (BOARD_FRAMES_FIRST - FAKE_CODE_FIRST + (BOARD_FRAMES << BOARD_FRAME_BITS))

struct fake fake;

static _Alignas(64) uint8_t memory[MEMORY_BYTES];

void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    memset(memory, 0, sizeof memory);
}

void *arch_memory(uint32_t address)
{
    if (address - FAKE_CODE_FIRST >= MEMORY_BYTES) {
        abort(); /* an address outside of memory */
    }
    return &memory[address - FAKE_CODE_FIRST];
}

bool arch_space_init(struct component *component)
{
    component->space.mapped = 0;
    return true;
}

enum sys_status arch_map(struct component *component, int16_t range, uint32_t rights, uint32_t type,
                         uint32_t flags)
{
    (void)range;
    (void)type;
    (void)flags;
    if (fake.refuses_maps || (rights & MXU_READ) == 0) {
        return SYS_EINVAL;
    }
    component->space.mapped++;
    return SYS_OK;
}

void arch_unmap(struct component *component, int16_t range)
{
    (void)range;
    component->space.mapped--;
}

enum sys_status arch_give_tables(struct component *component, uint32_t purpose, uint32_t first, uint32_t last)
{
    (void)component;
    (void)first;
    (void)last;
    return purpose == GIVE_TABLES ? SYS_OK : SYS_EINVAL;
}

uint32_t arch_refills(const struct component *component)
{
    return component->space.refills;
}

void arch_take_tables(struct component *component)
{
    (void)component;
}

uint32_t arch_physical(const void *of_kernel)
{
    uintptr_t offset = (uintptr_t)of_kernel - (uintptr_t)memory;

    return offset < MEMORY_BYTES ? (uint32_t)offset + FAKE_CODE_FIRST : BOARD_SYSTEM_FIRST;
}

void arch_set_tick(uint32_t clocks)
{
    (void)clocks;
}

bool arch_stack_is_ready(const struct thread *thread)
{
    return thread->component->has_ranges &&
           mxu_trie_lookup(&thread->component->trie, thread->stack_first) != MXU_NONE;
}

void arch_start(struct thread *thread)
{
    thread->context.is_started = true;
}

bool arch_frame_is_sound(const struct thread *thread)
{
    return !thread->context.has_left_stack;
}

enum sys_status arch_hardware(uint32_t operation, const uint32_t word[2])
{
    (void)word;
    fake.operations |= 1u << operation;
    return SYS_OK;
}

bool arch_can_put(void)
{
    return !fake.is_slow || fake.room != 0;
}

uint32_t arch_time(void)
{
    return clock_read();
}

uint32_t arch_time_hz(void)
{
    return kernel.system->clock_hz;
}

void arch_put(char character)
{
    if (!arch_can_put()) {
        abort(); /* the UART was full */
    }
    fake.room -= fake.is_slow;
    if (fake.text_bytes < sizeof fake.text - 1u) {
        fake.text[fake.text_bytes++] = character;
    }
}

void arch_start_timer(void)
{
    fake.timer_starts++;
}

void arch_halt(void)
{
    abort();
}
