/* SPDX-License-Identifier: Apache-2.0
 *
 * MPU image of a component: two system regions (its code, and the timer that all components may read), static
 * regions, and dynamic regions filled from its trie. Each range is one region. The memory manager splits
 * allocations accordingly (core/mxu_mpu.h); a range that is not one region is refused here.
 */
#include "core/mxu_mpu.h"
#include "microkernel/arch/armv7m/caches.h"
#include "microkernel/arch/armv7m/scb.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"

#define WHOLE 32u

static bool region_of(uint32_t first, uint32_t last, uint32_t rights, enum mxu_memory_type type,
                      struct mxu_region *region)
{
    uint32_t attributes;

    if (!mxu_mpu_attributes(rights, type, &attributes)) {
        return false;
    }
    *region = mxu_mpu_region_from(first, last, WHOLE, attributes);
    return region->last == last;
}

bool arch_space_init(struct component *component)
{
    struct mxu_region code;
    struct mxu_region timer;
    const struct boot_hardware *hardware = &kernel.system->hardware;
    struct mxu_slot system[MXU_MOST_REGIONS] = {{0, 0}}; /* only the first two are used */

    if (!region_of(component->code_first, component->code_last, MXU_READ | MXU_EXECUTE, MXU_MEMORY_NORMAL,
                   &code) ||
        !region_of(BOARD_TIMER_FIRST, BOARD_TIMER_FIRST + BOARD_TIMER_BYTES - 1u, MXU_READ, MXU_MEMORY_DEVICE,
                   &timer)) {
        return false;
    }
    system[0] = (struct mxu_slot){code.rbar, code.rasr};
    system[1] = (struct mxu_slot){timer.rbar, timer.rasr};
    return hardware->limit[MXU_REGIONS] != 0 &&
           mxu_regions_init(&component->space.regions, hardware->limit[MXU_REGIONS], system,
                            hardware->system_regions, (enum mxu_policy)hardware->eviction,
                            component_number(component) + 1u);
}

/* The component's regions changed: if they are in the MPU, they are loaded again before it runs. */
static void changed(const struct component *component)
{
    if (kernel.loaded == component) {
        kernel.loaded = 0;
    }
}

enum sys_status arch_map(struct component *component, int16_t number, uint32_t rights, uint32_t type,
                         uint32_t flags)
{
    struct mxu_range *range = &component->trie.ranges[number];
    struct mxu_region region;

    if (!region_of(range->first, range->last, rights, (enum mxu_memory_type)type, &region)) {
        return SYS_EINVAL;
    }
    range->word[0] = region.rbar;
    range->word[1] = region.rasr;
    range->slot = 0;
    changed(component);
    if ((flags & MAP_STATIC) != 0 && mxu_regions_pin(&component->space.regions, range) != MXU_OK) {
        return SYS_EBUSY;
    }
    return SYS_OK;
}

void arch_unmap(struct component *component, int16_t number)
{
    mxu_regions_forget(&component->space.regions, &component->trie.ranges[number]);
    changed(component);
}

uint32_t arch_refills(const struct component *component)
{
    return component->space.regions.refills;
}

enum sys_status arch_give_tables(struct component *component, uint32_t purpose, uint32_t first, uint32_t last)
{
    (void)component;
    (void)purpose;
    (void)first;
    (void)last;
    return SYS_EINVAL; /* an MPU has no tables */
}

void arch_take_tables(struct component *component)
{
    (void)component;
}

bool arch_stack_is_ready(const struct thread *thread)
{
    const struct component *component = thread->component;
    int16_t number =
        component->has_ranges ? mxu_trie_lookup(&component->trie, thread->stack_first) : MXU_NONE;

    return number != MXU_NONE && component->trie.ranges[number].last >= thread->stack_last &&
           mxu_regions_pinned(&component->space.regions, &component->trie.ranges[number]);
}

enum sys_status arch_hardware(uint32_t operation, const uint32_t word[2])
{
    switch (operation) {
    case HW_CLEAN_CACHE:
        caches_clean();
        return SYS_OK;
    case HW_FLUSH_CHECK:
        mxu_regions_flush(&kernel.current->component->space.regions);
        changed(kernel.current->component);
        return SYS_OK;
    case HW_TICK:
        if (word[0] < BOARD_SHORTEST_TICK || word[0] > 1u << 24) {
            return SYS_EINVAL;
        }
        arch_set_tick(word[0]);
        return SYS_OK;
    default:
        return SYS_EINVAL; /* there is no outer cache */
    }
}
