/* SPDX-License-Identifier: Apache-2.0
 *
 * The path of each core: the first one prepares the board and enters the package, the others wait until they
 * are turned on. Memory that no loader has filled is filled with garbage first.
 */
#include "firmware.h"

#define GARBAGE           0xA5A55A5ADEADBEEFu
#define GARBAGE_START     0x47F00000u /* the memory of small systems: after the board's load area */
#define GARBAGE_END       0x4C000000u
#define BEHIND_PACKAGE    0x10000u
#define IMAGE_SIZE_OFFSET 16u

_Noreturn void firmware_wait(uint64_t core)
{
    uint64_t pc;
    uint64_t context;

    while (!psci_start_of(core, &pc, &context)) {
        __asm__ volatile("wfe");
    }
    firmware_enter(pc, context);
}

_Noreturn void firmware_core(uint64_t core)
{
    uint64_t package_end;

    if (core == 0) {
        gic_give_away();
        package_end = PACKAGE_PA + read32(PACKAGE_PA + IMAGE_SIZE_OFFSET);
        firmware_fill((package_end + 7) & ~7ull, package_end + BEHIND_PACKAGE, GARBAGE);
        firmware_fill(GARBAGE_START, GARBAGE_END, GARBAGE);
        (void)tree_add_psci((uint8_t *)(uintptr_t)TREE_PA);
        psci_first_core_is_on();
    }
    gic_give_away_core(core);
    if (core == 0) {
        firmware_enter(PACKAGE_PA, TREE_PA);
    }
    firmware_wait(core);
}
