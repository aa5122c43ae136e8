/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of a system, from its description. Each component has one thread and one endpoint, all with its
 * number. The memory manager's ranges are in the kernel's own memory, since nobody can give it frames.
 */
#include "microkernel/kernel/boot.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/cap.h"
#include "microkernel/kernel/clear.h"

#define MANAGER_RANGES 8u

struct kernel kernel;

static struct mxu_node manager_nodes[MXU_TRIE_NODES(MANAGER_RANGES)];
static struct mxu_range manager_ranges[MANAGER_RANGES];

static bool is_frames(uint32_t first, uint32_t bytes)
{
    struct mxu_run run;

    return mxu_frames_of(&kernel.frames, first, bytes, &run);
}

static void put_cap(const struct component *component, uint32_t slot, struct cap content)
{
    cap_insert(&kernel.cap[component->first_cap + slot], 0, &content);
}

static struct cap object_cap(enum cap_type type, uint32_t object, uint32_t rights, uint32_t badge)
{
    return (struct cap){.type = (uint8_t)type,
                        .rights = (uint8_t)rights,
                        .badge = (uint8_t)badge,
                        .mapped = NO_COMPONENT,
                        .object = (uint16_t)object};
}

static void fill_table(const struct boot_system *system, uint32_t number)
{
    const struct boot_component *given = &system->component[number];
    struct component *component = &kernel.component[number];

    put_cap(component, SLOT_SELF, object_cap(CAP_COMPONENT, number, RIGHT_GRANT, 0));
    put_cap(component, SLOT_HARDWARE, object_cap(CAP_HARDWARE, 0, given->hardware, 0));
    if (number != MANAGER) {
        put_cap(component, SLOT_MANAGER, object_cap(CAP_ENDPOINT, MANAGER, RIGHT_CALL, number));
    }
    if (given->serves != 0) {
        put_cap(component, SLOT_SERVE, object_cap(CAP_ENDPOINT, number, RIGHT_SERVE | RIGHT_CALL, 0));
    }
    for (uint32_t i = 0; i < given->call_count; i++) {
        put_cap(component, SLOT_CALLS + i, object_cap(CAP_ENDPOINT, given->calls[i], RIGHT_CALL, number));
    }
    for (uint32_t i = 0; i < system->component_count; i++) {
        if (number == MANAGER) {
            put_cap(component, SLOT_COMPONENTS + i, object_cap(CAP_COMPONENT, i, RIGHT_MAP | RIGHT_GRANT, 0));
        }
        if (number == SCHEDULER) {
            put_cap(component, SLOT_THREADS + i, object_cap(CAP_THREAD, i, RIGHT_DISPATCH, 0));
        }
    }
}

static const char *create_thread(const struct boot_component *given, uint32_t number,
                                 const struct component_header *header)
{
    struct thread *thread = &kernel.thread[number];

    if (header->entry < given->code_first ||
        (header->entry & ~1u) - given->code_first >= header->code_bytes) {
        return "entry of a component is not in its code";
    }
    thread->component = &kernel.component[number];
    thread->entry = header->entry;
    thread->stack_first = header->stack_first;
    thread->stack_last = header->stack_first + (header->stack_bytes - 1u);
    thread->priority = given->priority;
    thread->serves = given->serves;
    thread->state = THREAD_NEW;
    kernel.endpoint[number].server = thread;
    return 0;
}

static const char *create(const struct boot_system *system, uint32_t number)
{
    const struct boot_component *given = &system->component[number];
    const struct component_header *header = arch_memory(given->code_first);
    struct component *component = &kernel.component[number];

    if (header->magic != HEADER_MAGIC) {
        return "no component where the system's description has one";
    }
    if (!is_frames(header->data_first, header->data_bytes) ||
        !is_frames(header->stack_first, header->stack_bytes)) {
        return "data or stack of a component are not whole frames";
    }
    if (given->name[NAME_BYTES - 1u] != '\0' || given->call_count > MOST_CALLS) {
        return "name or calls of a component are too long";
    }
    for (uint32_t i = 0; i < NAME_BYTES; i++) {
        component->name[i] = given->name[i];
    }
    for (uint32_t i = 0; i < given->call_count; i++) {
        if (given->calls[i] >= system->component_count) {
            return "a component calls one that there is not";
        }
    }
    component->code_first = given->code_first;
    component->code_last = given->code_first + (header->code_bytes - 1u);
    component->data_first = header->data_first;
    component->data_bytes = header->data_bytes;
    component->heap_bytes = header->heap_bytes;
    component->spec = given->spec;
    component->cap_count = number == MANAGER ? MANAGER_SLOTS : COMPONENT_SLOTS;
    component->first_cap =
        (uint16_t)(number == MANAGER ? 0 : MANAGER_SLOTS + (number - 1u) * COMPONENT_SLOTS);
    if (!arch_space_init(component)) {
        return "code of a component is not one region";
    }
    return create_thread(given, number, header);
}

/* Gives the memory manager what the others get from it. */
static const char *map_manager(uint32_t first, uint32_t bytes, uint32_t flags)
{
    struct component *manager = &kernel.component[MANAGER];
    struct mxu_run run;
    int16_t range;

    if (!mxu_frames_of(&kernel.frames, first, bytes, &run) ||
        mxu_frames_claim(&kernel.frames, run, MXU_FRAME_USER) != MXU_OK ||
        mxu_trie_insert(&manager->trie, first, first + (bytes - 1u), &range) != MXU_OK ||
        arch_map(manager, range, MXU_READ | MXU_WRITE, 0, flags) != SYS_OK) {
        return "memory of the manager cannot be mapped";
    }
    return 0;
}

static const char *start_manager(void)
{
    struct component *manager = &kernel.component[MANAGER];
    struct thread *thread = &kernel.thread[MANAGER];
    const char *wrong;

    mxu_trie_init(&manager->trie, manager_nodes, MXU_TRIE_NODES(MANAGER_RANGES), manager_ranges,
                  MANAGER_RANGES, MXU_PLACE_PLAIN);
    manager->has_ranges = 1;
    wrong = map_manager(thread->stack_first, thread->stack_last - thread->stack_first + 1u, ARCH_STACK_FLAGS);
    if (wrong == 0) {
        wrong = map_manager(manager->data_first, manager->data_bytes, 0);
    }
    if (wrong == 0) {
        put_cap(manager, SLOT_UNTYPED,
                (struct cap){.type = CAP_UNTYPED,
                             .mapped = NO_COMPONENT,
                             .first = BOARD_FRAMES_FIRST,
                             .last = BOARD_FRAMES_FIRST + (BOARD_FRAMES << BOARD_FRAME_BITS) - 1u});
        thread->state = THREAD_READY;
        arch_start(thread);
    }
    return wrong;
}

const char *kernel_boot(const struct boot_system *system)
{
    clear_words(&kernel, sizeof kernel);
    kernel.component_count = system->component_count;
    for (uint32_t i = 0; i < MOST_CAPS; i++) {
        kernel.cap[i].next = NO_CAP;
        kernel.cap[i].previous = NO_CAP;
    }
    if (system->component_count <= SCHEDULER || system->component_count > MOST_COMPONENTS) {
        return "a system has a memory manager, a scheduler, and at most ten components";
    }
    if (!mxu_frames_init(&kernel.frames, kernel.frame, BOARD_FRAMES, BOARD_FRAMES_FIRST, BOARD_FRAME_BITS)) {
        return "frames of the board are not aligned";
    }
    for (uint32_t i = 0; i < system->component_count; i++) {
        const char *wrong = create(system, i);

        if (wrong != 0) {
            return wrong;
        }
        fill_table(system, i);
    }
    kernel.scheduler = &kernel.thread[SCHEDULER];
    kernel.current = &kernel.thread[MANAGER];
    return start_manager();
}
