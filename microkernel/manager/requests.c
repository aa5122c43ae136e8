/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of components. The badge of the capability, which the kernel keeps, identifies the caller.
 */
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/manager/manager.h"

#define NO_RECORD UINT32_MAX

static struct sys_words reply(uint32_t first, uint32_t second, uint32_t third)
{
    return (struct sys_words){{0, first, second, third}};
}

static struct sys_words refuse(enum mxu_status status, const struct mxu_answer *answer)
{
    return reply((uint32_t)status | (uint32_t)answer->lacking << MANAGER_LACK_SHIFT, answer->needed,
                 answer->left);
}

static struct sys_words allocate(uint32_t component, const uint32_t word[3])
{
    enum manager_operation operation = (enum manager_operation)(word[0] & MANAGER_FIELD);
    const struct mxu_ask ask = {
        .component = component,
        .bytes = word[1],
        .spec = word[0] >> MANAGER_SPEC_SHIFT & MANAGER_SPEC_FIELD,
        .rights = word[0] >> MANAGER_RIGHTS_SHIFT & MANAGER_FIELD,
        .type = (enum mxu_memory_type)(word[0] >> MANAGER_TYPE_SHIFT & MANAGER_FIELD),
        .align = 1u << (word[0] >> MANAGER_ALIGN_SHIFT & MANAGER_SPEC_FIELD),
        .shared = operation == MANAGER_SHMGET ? word[2] : MXU_NOT_SHARED,
    };
    struct mxu_answer answer;
    uint32_t number;
    enum mxu_status status;

    status = operation == MANAGER_SHMGET
                 ? mxu_shmget(&books.memory, &ask, &number, &answer)
                 : mxu_malloc(&books.memory, &ask, operation == MANAGER_MALLOC_AT ? &word[2] : 0, &number,
                              &answer);
    if (status == MXU_OK && apply_allocation(number) != MXU_OK) {
        uint32_t first = books.allocation[number].first;

        (void)mxu_free(&books.memory, component, first);
        answer = (struct mxu_answer){.lacking = MXU_RECORDS, .needed = 1};
        status = MXU_ENOMEM;
    }
    return status == MXU_OK ? reply(MXU_OK, books.allocation[number].first, 0) : refuse(status, &answer);
}

/* The record of the allocation that begins at an address, or NO_RECORD. */
static uint32_t find(uint32_t component, uint32_t first)
{
    for (uint32_t i = 0; i < MOST_ALLOCATIONS; i++) {
        const struct mxu_allocation *allocation = &books.allocation[i];

        if (allocation->bytes != 0 && allocation->component == component && allocation->first == first) {
            return i;
        }
    }
    return NO_RECORD;
}

/* `bytes`: the size that was requested; 0 if the caller does not state it. */
static struct sys_words free_memory(uint32_t component, uint32_t first, uint32_t bytes)
{
    uint32_t number = find(component, first);
    enum mxu_status status = number == NO_RECORD ? MXU_ENOENT : MXU_OK;

    if (status == MXU_OK && bytes != 0 && bytes != books.allocation[number].asked) {
        status = MXU_EINVAL;
    }
    if (status == MXU_OK) {
        status = withdraw_allocation(number);
    }
    if (status == MXU_OK) {
        status = mxu_free(&books.memory, component, first);
    }
    return reply((uint32_t)status | (uint32_t)MXU_NO_RESOURCE << MANAGER_LACK_SHIFT, 0, 0);
}

static struct sys_words describe(uint32_t component, uint32_t first)
{
    uint32_t number = find(component, first);

    if (number == NO_RECORD) {
        return reply(MXU_ENOENT, MXU_BY_NOTHING, MXU_DISTURBED);
    }
    return reply(MXU_OK, books.allocation[number].answer.mechanism,
                 books.allocation[number].answer.independence);
}

/* Returns the address of memory that the description lists. */
static struct sys_words locate(uint32_t index)
{
    return index < MOST_MEMORY ? reply(MXU_OK, books.placed[index], books.system->memory[index].bytes)
                               : reply(MXU_ENOENT, 0, 0);
}

static struct sys_words end(uint32_t component)
{
    for (uint32_t i = 0; i < MOST_ALLOCATIONS; i++) {
        if (books.allocation[i].bytes != 0 && books.allocation[i].component == component) {
            (void)withdraw_allocation(i);
        }
    }
    mxu_free_all(&books.memory, component);
    take_given(component);
    return reply(MXU_OK, 0, 0);
}

struct sys_words serve_request(uint32_t badge, const uint32_t word[3])
{
    switch (word[0] & MANAGER_FIELD) {
    case MANAGER_MALLOC:
    case MANAGER_MALLOC_AT:
    case MANAGER_SHMGET:
        return allocate(badge, word);
    case MANAGER_FREE:
        return free_memory(badge, word[2], word[1]);
    case MANAGER_ANSWER:
        return describe(badge, word[2]);
    case MANAGER_HEAP:
        return locate(given_heap(badge));
    case MANAGER_FIND:
        return locate(given_find(badge, word[1]));
    case MANAGER_ENDED:
        if (badge == SCHEDULER && word[1] < books.memory.component_count && word[1] != MANAGER) {
            return end(word[1]);
        }
        break;
    default:
        break;
    }
    return reply(MXU_EINVAL | (uint32_t)MXU_NO_RESOURCE << MANAGER_LACK_SHIFT, 0, 0);
}
