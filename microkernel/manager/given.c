/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that the system's description lists, in the order of src/bulkhead/mxu/admit.py: so the system admits
 * exactly what `bulkhead check` admits. Each answer is compared with the one in the description.
 */
#include "microkernel/include/microkernel/manager.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/manager/manager.h"

#define HEX_DIGITS 8u

static enum mxu_status allocate(const struct boot_memory *given, uint32_t *number, struct mxu_answer *answer)
{
    const struct mxu_ask ask = {
        .component = given->component,
        .bytes = given->bytes,
        .spec = given->spec,
        .rights = given->rights,
        .type = (enum mxu_memory_type)given->type,
        .shared = given->shared,
    };

    if (given->shared != MXU_NOT_SHARED) {
        return mxu_shmget(&books.memory, &ask, number, answer);
    }
    return mxu_malloc(&books.memory, &ask, (given->flags & MEMORY_FIXED) != 0 ? &given->first : 0, number,
                      answer);
}

static void print_hex(uint32_t value)
{
    char text[] = "0x00000000";

    for (uint32_t i = 0; i < HEX_DIGITS; i++) {
        text[2u + i] = "0123456789abcdef"[value >> 4u * (HEX_DIGITS - 1u - i) & 15u];
    }
    rt_print(text);
}

static void print_name(const struct boot_memory *given)
{
    begin_line();
    rt_print(books.system->component[given->component].name);
    rt_print(".");
    rt_print(given->name);
}

static bool is_as_admitted(const struct boot_memory *given, const struct mxu_allocation *allocation)
{
    const struct mxu_answer *answer = &allocation->answer;

    if ((given->flags & MEMORY_ADMITTED) == 0 ||
        (given->first == allocation->first && given->mechanism == answer->mechanism &&
         given->independence == answer->independence)) {
        return true;
    }
    print_name(given);
    rt_print(" gets ");
    print_hex(allocation->first);
    rt_print(" by ");
    rt_print(mxu_mechanism_name(answer->mechanism));
    rt_print("; admitted was ");
    print_hex(given->first);
    rt_print(" by ");
    rt_print(mxu_mechanism_name((enum mxu_mechanism)given->mechanism));
    rt_print("\n");
    return false;
}

static bool enter(uint32_t index)
{
    const struct boot_memory *given = &books.system->memory[index];
    struct mxu_answer answer;
    uint32_t number;
    enum mxu_status status = allocate(given, &number, &answer);

    if (status != MXU_OK) {
        print_name(given);
        rt_print(" is refused: ");
        rt_print(mxu_status_name(status));
        rt_print(" (");
        rt_print(mxu_resource_name(answer.lacking));
        rt_print(")\n");
        return false;
    }
    books.placed[index] = books.allocation[number].first;
    return is_as_admitted(given, &books.allocation[number]);
}

bool given_enter(bool fixed)
{
    for (uint32_t i = 0; i < books.system->memory_count; i++) {
        if (((books.system->memory[i].flags & MEMORY_FIXED) != 0) == fixed && !enter(i)) {
            return false;
        }
    }
    return true;
}

uint32_t given_find(uint32_t component, uint32_t hash)
{
    for (uint32_t i = 0; i < books.system->memory_count; i++) {
        const struct boot_memory *given = &books.system->memory[i];

        if (given->component == component && manager_hash(given->name) == hash) {
            return i;
        }
    }
    return MOST_MEMORY;
}

uint32_t given_heap(uint32_t component)
{
    for (uint32_t i = 0; i < books.system->memory_count; i++) {
        const struct boot_memory *given = &books.system->memory[i];

        if (given->component == component && (given->flags & MEMORY_HEAP) != 0) {
            return i;
        }
    }
    return MOST_MEMORY;
}
