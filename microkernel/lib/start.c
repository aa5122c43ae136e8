/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of a component: its header, and the code that calls component_main(). All its memory except the code
 * is zero; initialized data is copied from a copy that follows the code.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/sys.h"
#include "microkernel/kernel/boot.h"

/* Defined in component.ld. */
extern char component_code_bytes[], component_data[], component_data_bytes[], component_stack[],
    component_stack_bytes[];
extern uint32_t component_init_source[], component_init_start[], component_init_end[];

void component_start(void);

__attribute__((section(".header"), used)) static const struct component_header header = {
    .magic = HEADER_MAGIC,
    .entry = (uint32_t)(uintptr_t)component_start,
    .code_bytes = (uint32_t)(uintptr_t)component_code_bytes,
    .data_first = (uint32_t)(uintptr_t)component_data,
    .data_bytes = (uint32_t)(uintptr_t)component_data_bytes,
    .stack_first = (uint32_t)(uintptr_t)component_stack,
    .stack_bytes = (uint32_t)(uintptr_t)component_stack_bytes,
};

void component_start(void)
{
    const uint32_t *from = component_init_source;

    for (uint32_t *to = component_init_start; to < component_init_end; to++) {
        *to = *from++;
    }
    component_main();
    for (;;) {
        (void)sys_call(SYS_YIELD, SLOT_NONE, UINT32_MAX, 0, 0);
    }
}
