/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates the objects of a system from its description. Each component has one thread and one endpoint, with
 * the same number. The memory manager's ranges are in the kernel's own memory, because no other component can
 * give it frames.
 */
#include "microkernel/kernel/boot.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/cap.h"
#include "microkernel/kernel/clear.h"
#include "microkernel/kernel/console.h"

#define MANAGER_RANGES 12u
#define LEAST_STACK    256u

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

static bool is_code(uint32_t first, uint32_t bytes)
{
    return first % sizeof(uint32_t) == 0 && first - BOARD_CODE_FIRST < BOARD_CODE_BYTES &&
           bytes >= sizeof(struct component_header) && bytes <= BOARD_CODE_BYTES - (first - BOARD_CODE_FIRST);
}

/* Whether the addresses overlap the code of another component. */
static bool is_taken(uint32_t number, uint32_t first, uint32_t last)
{
    for (uint32_t i = 0; i < number; i++) {
        if (kernel.component[i].code_first <= last && kernel.component[i].code_last >= first) {
            return true;
        }
    }
    return false;
}

static const char *create(const struct boot_system *system, uint32_t number)
{
    const struct boot_component *given = &system->component[number];
    const struct component_header *header;
    struct component *component = &kernel.component[number];

    if (!is_code(given->code_first, sizeof *header)) {
        return "code of a component is outside of the board's code memory";
    }
    header = arch_memory(given->code_first);
    if (header->magic != HEADER_MAGIC) {
        return "no component at an address that the system's description states";
    }
    if (!is_code(given->code_first, header->code_bytes) ||
        is_taken(number, given->code_first, given->code_first + (header->code_bytes - 1u))) {
        return "code of a component is too large, or overlaps that of another";
    }
    if (!is_frames(header->data_first, header->data_bytes) ||
        !is_frames(header->stack_first, header->stack_bytes) || header->stack_bytes < LEAST_STACK) {
        return "data or stack of a component are not whole frames";
    }
    for (uint32_t i = 0; i < NAME_BYTES; i++) {
        component->name[i] = given->name[i];
    }
    component->code_first = given->code_first;
    component->code_last = given->code_first + (header->code_bytes - 1u);
    component->data_first = header->data_first;
    component->data_bytes = header->data_bytes;
    component->spec = given->spec;
    component->cap_count = number == MANAGER ? MANAGER_SLOTS : COMPONENT_SLOTS;
    component->first_cap =
        (uint16_t)(number == MANAGER ? 0 : MANAGER_SLOTS + (number - 1u) * COMPONENT_SLOTS);
    if (!arch_space_init(component)) {
        return "code of a component is not one region";
    }
    return create_thread(given, number, header);
}

/* Maps the description in the memory manager, which reads from it what to allocate and what was admitted. */
static const char *map_description(const struct boot_system *system)
{
    struct component *manager = &kernel.component[MANAGER];
    uint32_t first = arch_physical(system);
    int16_t range;

    if (mxu_trie_insert(&manager->trie, first, first + (BOARD_SYSTEM_BYTES - 1u), &range) != MXU_OK ||
        arch_map(manager, range, MXU_READ, MXU_MEMORY_NORMAL, 0) != SYS_OK) {
        return "the system's description cannot be mapped";
    }
    return 0;
}

/* Maps memory of the memory manager, which itself maps the memory of other components. */
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
        wrong = map_description(kernel.system);
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
    const char *wrong;

    clear_words(&kernel, sizeof kernel);
    console_start();
    for (uint32_t i = 0; i < MOST_CAPS; i++) {
        kernel.cap[i].next = NO_CAP;
        kernel.cap[i].previous = NO_CAP;
    }
    wrong = description_check(system);
    if (wrong != 0) {
        return wrong;
    }
    if (system->hardware.limit[MXU_WAY_BYTES] > ARCH_HELD_BYTES) {
        return "more bytes of table nodes in locked ways than the kernel holds";
    }
    kernel.system = system;
    kernel.component_count = system->component_count;
    if (!mxu_frames_init(&kernel.frames, kernel.frame, BOARD_FRAMES, BOARD_FRAMES_FIRST, BOARD_FRAME_BITS)) {
        return "frames of the board are not aligned";
    }
    for (uint32_t i = 0; i < system->component_count; i++) {
        wrong = create(system, i);
        if (wrong != 0) {
            return wrong;
        }
        fill_table(system, i);
    }
    kernel.scheduler = &kernel.thread[SCHEDULER];
    kernel.current = &kernel.thread[MANAGER];
    return start_manager();
}
