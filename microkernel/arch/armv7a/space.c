/* SPDX-License-Identifier: Apache-2.0
 *
 * Address space of a component on Armv7-A: its code, and its mapped memory. Static memory is held by lockable
 * entries of the main TLB (DDI 0388I, 4.3.24): a walk while the lockdown register selects an entry fills that
 * entry.
 */
#include "microkernel/arch/armv7a/cp15.h"
#include "microkernel/arch/armv7a/first_level.h"
#include "microkernel/arch/armv7a/outer_cache.h"
#include "microkernel/arch/armv7a/tables.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/boot.h"

#define LOCKABLE       4u
#define LOCK_PRESERVE  1u
#define LOCK_VICTIM    28u
#define MANAGER_TABLES 8u /* one of them also maps code, as in all components */

/* Second-level tables that are not given as memory: those for code of each component, and for all memory of
 * the manager. */
static _Alignas(TABLE_BYTES) uint32_t code_tables[MOST_COMPONENTS][TABLE_BYTES / sizeof(uint32_t)];
static _Alignas(TABLE_BYTES) uint32_t manager_tables[MANAGER_TABLES][TABLE_BYTES / sizeof(uint32_t)];

static uint8_t lock_holders; /* number of locked entries */

/* Size of the largest entry that the system uses, minus one. */
static uint32_t most_entry(void)
{
    return UINT32_MAX >> (32u - kernel.system->hardware.most_region_bits);
}

bool arch_space_init(struct component *component)
{
    struct arch_space *space = &component->space;

    tables_init(component);
    tables_add(space, arch_physical(code_tables[component_number(component)]), TABLE_BYTES);
    if (component_number(component) == MANAGER) {
        tables_add(space, arch_physical(manager_tables), sizeof manager_tables);
    }
    return tables_map(space, component->code_first, component->code_last, MXU_READ | MXU_EXECUTE,
                      MXU_MEMORY_NORMAL, PLACE_PLAIN, most_entry()) == SYS_OK;
}

static void load(const struct component *component)
{
    cp15_write_contextidr(0);
    cp15_complete();
    cp15_write_ttbr0(component->space.ttbr0);
    cp15_complete();
    cp15_write_contextidr(component->space.asid);
    cp15_complete();
    kernel.loaded = 0; /* the tables of the next thread are loaded again */
}

/* Fills one lockable entry by a walk for the address. False if all entries are used. */
static bool lock_entry(struct component *component, uint32_t address)
{
    for (uint32_t i = 0; i < LOCKABLE; i++) {
        if ((lock_holders >> i & 1u) == 0) {
            lock_holders |= (uint8_t)(1u << i);
            component->space.locked |= (uint8_t)(1u << i);
            load(component);
            cp15_write_tlb_address(address | component->space.asid);
            cp15_write_tlb_lockdown(i << LOCK_VICTIM | LOCK_PRESERVE);
            cp15_complete();
            (void)*(const volatile uint32_t *)(uintptr_t)address;
            cp15_complete();
            cp15_write_tlb_lockdown(i << LOCK_VICTIM);
            return true;
        }
    }
    return false;
}

/* Releases as many entries as the range used. */
static void unlock(struct component *component, uint32_t count)
{
    for (uint32_t i = 0; i < LOCKABLE && count > 0; i++) {
        if ((component->space.locked >> i & 1u) != 0) {
            component->space.locked &= (uint8_t) ~(1u << i);
            lock_holders &= (uint8_t) ~(1u << i);
            count--;
        }
    }
}

static enum sys_status lock(struct component *component, uint32_t first, uint32_t last)
{
    uint32_t count = 0;

    for (uint32_t at = first; at < last; at += tables_entry_bytes(&component->space, at)) {
        if (!lock_entry(component, at)) {
            unlock(component, count);
            return SYS_EBUSY;
        }
        count++;
    }
    return SYS_OK;
}

enum sys_status arch_map(struct component *component, int16_t number, uint32_t rights, uint32_t type,
                         uint32_t flags)
{
    struct mxu_range *range = &component->trie.ranges[number];
    enum placement where = (flags & MAP_LOCAL) != 0 ? PLACE_CHIP
                           : (flags & MAP_WAY) != 0 ? PLACE_WAY
                                                    : PLACE_PLAIN;
    uint32_t most =
        (flags & MAP_STATIC) != 0
            ? UINT32_MAX
            : most_entry(); /* static memory uses the largest entries, because lockable entries are few */
    enum sys_status status = tables_map(&component->space, range->first, range->last, rights,
                                        (enum mxu_memory_type)type, where, most);

    if (status == SYS_OK && where != PLACE_PLAIN) {
        /* Cannot fail for the code: admission counts the first-level table twice. */
        tables_place(&component->space, component->code_first, component->code_last, where);
    }
    if (status == SYS_OK && (flags & MAP_STATIC) != 0) {
        status = lock(component, range->first, range->last);
        if (status != SYS_OK) {
            tables_unmap(&component->space, range->first, range->last);
        }
    }
    range->word[0] = status == SYS_OK ? flags : 0;
    return status;
}

void arch_unmap(struct component *component, int16_t number)
{
    const struct mxu_range *range = &component->trie.ranges[number];
    uint32_t count = 0;

    if ((range->word[0] & MAP_STATIC) != 0) {
        for (uint32_t at = range->first; at < range->last; at += tables_entry_bytes(&component->space, at)) {
            count++;
        }
        unlock(component, count);
    }
    tables_unmap(&component->space, range->first, range->last);
}

enum sys_status arch_give_tables(struct component *component, uint32_t purpose, uint32_t first, uint32_t last)
{
    if (purpose != GIVE_TABLES) {
        return SYS_EINVAL;
    }
    tables_add(&component->space, first, last - first + 1u);
    return SYS_OK;
}

uint32_t arch_refills(const struct component *component)
{
    (void)component; /* hardware walks the tables */
    return 0;
}

void arch_take_tables(struct component *component)
{
    tables_clear(&component->space);
}

bool arch_stack_is_ready(const struct thread *thread)
{
    const struct component *component = thread->component;
    int16_t number =
        component->has_ranges ? mxu_trie_lookup(&component->trie, thread->stack_first) : MXU_NONE;

    return number != MXU_NONE && component->trie.ranges[number].last >= thread->stack_last;
}

enum sys_status arch_hardware(uint32_t operation, const uint32_t word[2])
{
    switch (operation) {
    case HW_CLEAN_CACHE:
        first_level_clean();
        outer_cache_clean();
        return SYS_OK;
    case HW_FLUSH_CHECK: /* all: by ASID, locked entries would go, too (DDI 0388I, table 4-26) */
        cp15_write_tlb_all(0);
        cp15_complete();
        return SYS_OK;
    case HW_LOCK_WAYS:
        return outer_cache_lock(word[0]) ? SYS_OK : SYS_EINVAL;
    case HW_TICK:
        if (word[0] < BOARD_SHORTEST_TICK) {
            return SYS_EINVAL;
        }
        arch_set_tick(word[0]);
        return SYS_OK;
    default:
        return SYS_EINVAL;
    }
}
