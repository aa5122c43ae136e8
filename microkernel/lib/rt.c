/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the memory manager and of the scheduler. A component has one thread, so one variable holds the
 * answer of the last call.
 */
#include "microkernel/include/microkernel/rt.h"
#include "clock.h"
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/lib/ask.h"

static struct {
    enum mxu_status status;
    enum mxu_resource lacking;
    unsigned needed;
    unsigned left;
} last;

void rt_set_error(enum mxu_status status)
{
    last.status = status;
    last.lacking = MXU_NO_RESOURCE;
}

static struct sys_words ask(enum manager_operation operation, uint32_t bytes, uint32_t at)
{
    return sys_call(SYS_CALL, SLOT_MANAGER, (uint32_t)operation, bytes, at);
}

void *rt_allocate(const struct rt_wish *wish)
{
    uint32_t word = (uint32_t)wish->operation | wish->rights << MANAGER_RIGHTS_SHIFT |
                    wish->spec << MANAGER_SPEC_SHIFT | wish->align_bits << MANAGER_ALIGN_SHIFT;
    struct sys_words answer;

    rt_set_error(MXU_EINVAL);
    if ((wish->spec & ~MXU_SPEC_MASK) != 0) {
        return 0;
    }
    answer = sys_call(SYS_CALL, SLOT_MANAGER, word, wish->bytes, wish->at);
    if (answer.word[0] != SYS_OK) {
        return 0;
    }
    last.status = (enum mxu_status)(answer.word[1] & 0xFFu);
    last.lacking = (enum mxu_resource)(answer.word[1] >> MANAGER_LACK_SHIFT);
    last.needed = answer.word[2];
    last.left = answer.word[3];
    return last.status == MXU_OK ? (void *)(uintptr_t)answer.word[2] : 0;
}

static void *allocate(enum manager_operation operation, unsigned spec, unsigned align_bits, size_t bytes,
                      uint32_t at)
{
    const struct rt_wish wish = {
        .operation = operation,
        .rights = MXU_READ | MXU_WRITE,
        .spec = spec,
        .align_bits = align_bits,
        .bytes = (uint32_t)bytes,
        .at = at,
    };

    return rt_allocate(&wish);
}

void *rt_malloc(size_t size, unsigned spec)
{
    return allocate(MANAGER_MALLOC, spec, 0, size, 0);
}

void *rt_malloc_at(void *address, size_t size, unsigned spec)
{
    return allocate(MANAGER_MALLOC_AT, spec, 0, size, (uint32_t)(uintptr_t)address);
}

void *rt_shmget(unsigned id, size_t size, size_t align, unsigned spec)
{
    unsigned bits = 0;

    while (bits < 31u && (size_t)1 << bits < align) {
        bits++;
    }
    return allocate(MANAGER_SHMGET, spec, bits, size, id);
}

int rt_give_back(void *address, uint32_t bytes)
{
    struct sys_words answer = ask(MANAGER_FREE, bytes, (uint32_t)(uintptr_t)address);

    rt_set_error(answer.word[0] == SYS_OK ? (enum mxu_status)(answer.word[1] & 0xFFu) : MXU_EINVAL);
    return last.status == MXU_OK ? 0 : -1;
}

void rt_free(void *pointer)
{
    (void)rt_give_back(pointer, 0);
}

int rt_error(void)
{
    return (int)last.status;
}

enum mxu_resource rt_lacking(unsigned *needed, unsigned *left)
{
    *needed = last.needed;
    *left = last.left;
    return last.lacking;
}

enum mxu_mechanism rt_mechanism(const void *pointer)
{
    return (enum mxu_mechanism)ask(MANAGER_ANSWER, 0, (uint32_t)(uintptr_t)pointer).word[2];
}

enum mxu_independence rt_independence(const void *pointer)
{
    return (enum mxu_independence)ask(MANAGER_ANSWER, 0, (uint32_t)(uintptr_t)pointer).word[3];
}

void *rt_memory(const char *name, size_t *bytes)
{
    struct sys_words answer = sys_call(SYS_CALL, SLOT_MANAGER, MANAGER_FIND, manager_hash(name), 0);

    if (answer.word[0] != SYS_OK || answer.word[1] != MXU_OK) {
        return 0;
    }
    if (bytes != 0) {
        *bytes = answer.word[3];
    }
    return (void *)(uintptr_t)answer.word[2];
}

void rt_end_job(void)
{
    rt_sleep(0);
}

unsigned rt_clock(void)
{
    return clock_read();
}

unsigned rt_clock_hz(void)
{
    return sys_call(SYS_INFO, SLOT_SELF, INFO_CLOCK, 0, 0).word[1];
}

void rt_sleep(unsigned ticks)
{
    (void)sys_call(SYS_YIELD, SLOT_NONE, ticks, 0, 0);
}
