/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the memory manager. Memory at fixed addresses is entered first, then frames for the kernel are
 * allocated, and then the kernel is called.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"
#include "microkernel/manager/manager.h"

struct books books;

/* Enters memory that a component's header reserves. */
static bool enter(uint32_t component, uint32_t first, uint32_t bytes, uint32_t spec)
{
    const struct mxu_ask ask = {
        .component = component,
        .bytes = bytes,
        .spec = spec,
        .rights = MXU_READ | MXU_WRITE,
        .type = MXU_MEMORY_NORMAL,
    };
    struct mxu_answer answer;
    uint32_t number;

    return mxu_malloc(&books.memory, &ask, &first, &number, &answer) == MXU_OK;
}

static struct sys_words info(uint32_t component, enum sys_info what)
{
    return sys_call(SYS_INFO, SLOT_COMPONENTS + component, what, 0, 0);
}

static bool enter_component(uint32_t number)
{
    struct mxu_component *component = &books.component[number];
    struct sys_words stack = info(number, INFO_STACK);
    struct sys_words data = info(number, INFO_DATA);

    mxu_trie_init(&component->trie, books.node[number], MOST_NODES, books.range[number], MOST_RANGES,
                  MXU_PLACE_PLAIN);
    component->default_spec = info(number, INFO_CODE).word[3];
    return hardware_init(component, number + 1u) &&
           enter(number, stack.word[1], stack.word[2], hardware_stack_spec) &&
           enter(number, data.word[1], data.word[2], component->default_spec);
}

static bool read_system(void)
{
    struct sys_words all = sys_call(SYS_INFO, SLOT_UNTYPED, INFO_MEMORY, 0, 0);
    uint32_t count = (all.word[2] - all.word[1] + 1u) >> all.word[3];

    books.system =
        (const struct boot_system *)(uintptr_t)sys_call(SYS_INFO, SLOT_UNTYPED, INFO_SYSTEM, 0, 0).word[1];
    books.account.hardware = &books.hardware;
    for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
        books.hardware.limit[i] = books.system->hardware.limit[i];
    }
    if (count > MOST_FRAMES ||
        !mxu_frames_init(&books.frames, books.frame, count, all.word[1], all.word[3])) {
        return false;
    }
    books.memory = (struct mxu_memory){
        .account = &books.account,
        .frames = &books.frames,
        .components = books.component,
        .component_count = books.system->component_count,
        .allocations = books.allocation,
        .spans = books.span,
        .allocation_count = MOST_ALLOCATIONS,
    };
    hardware_describe(&books.memory, &books.hardware);
    return true;
}

void begin_line(void)
{
    if ((books.system->flags & SYSTEM_TAGS) == 0) {
        rt_print("manager: ");
    }
}

static const char *enter_all(void)
{
    for (uint32_t i = 0; i < books.memory.component_count; i++) {
        if (!enter_component(i)) {
            return "stack or data of a component are not admitted";
        }
    }
    if (!given_enter(true)) {
        return "the system's memory is not as it was admitted";
    }
    for (uint32_t i = MANAGER + 1u; i < books.memory.component_count; i++) {
        if (!give_ranges(i) || !hardware_give(i)) {
            return "no frames are left for the kernel";
        }
    }
    return given_enter(false) ? 0 : "the system's memory is not as it was admitted";
}

const char *books_start(void)
{
    const char *wrong = read_system() ? enter_all() : "the board has more frames than the memory manager";

    for (uint32_t i = 0; i < MOST_ALLOCATIONS && wrong == 0; i++) {
        if (books.allocation[i].bytes != 0 && books.allocation[i].component != MANAGER &&
            apply_allocation(i) != MXU_OK) {
            wrong = "the kernel does not map what was admitted";
        }
    }
    return wrong;
}

void component_main(void)
{
    struct sys_words request = {{0, 0, 0, 0}};
    const char *wrong = books_start();

    if (wrong != 0) {
        begin_line();
        rt_print("no start: ");
        rt_print(wrong);
        rt_print("\n");
        (void)sys_do(SYS_HARDWARE, SLOT_HARDWARE, HW_END, 0, 0);
    }
    for (;;) {
        request = sys_call(SYS_REPLY_WAIT, SLOT_SERVE, request.word[1], request.word[2], request.word[3]);
        request = serve_request(request.word[0] >> BADGE_SHIFT, &request.word[1]);
    }
}
