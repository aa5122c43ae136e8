/* SPDX-License-Identifier: Apache-2.0
 *
 * The sequences of stores, barriers and TLB maintenance with which entries change.
 */
#include "memory/table_update.h"
#include <arch/barrier.h>

void table_make_el2(ptable_entry_t *entry, paddr_t page, uint64_t attributes)
{
    *entry = page.value | attributes | PTABLE_PAGE;
    arch_dsb_ishst(); /* the entries are visible to the walker, */
    arch_isb();       /* and later accesses use them */
}

void table_break_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users)
{
    *entry = 0;
    arch_dsb_ishst();
    arch_tlbi_el2_page(users == TABLE_ALL_CORES, address);
}

void table_replace_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users, paddr_t page,
                       uint64_t attributes)
{
    if (*entry != 0) {
        table_break_el2(entry, address, users);
    }
    table_make_el2(entry, page, attributes);
}

/* No further synchronization is needed for the guest's accesses, because the guest continues by an exception
 * return. */
void table_make_stage2(ptable_entry_t *entries, const paddr_t *pages, uint32_t count, uint64_t attributes)
{
    uint64_t leaf = attributes | PTABLE_PAGE;

    for (uint32_t i = 0; i < count; i++) {
        entries[i] = pages[i].value | leaf;
    }
    arch_dsb_ishst();
}

/* A TLB may hold a combined entry of both stages, which invalidation by IPA does not find. Therefore all
 * entries with stage 1 are invalidated, too, and after those of the IPA, because a walk in between could
 * create another combined entry. */
void table_break_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users)
{
    bool everywhere = users == TABLE_ALL_CORES;

    *entry = 0;
    arch_dsb_ishst();
    arch_tlbi_stage2_page(everywhere, ipa.value);
    arch_tlbi_stage1_all(everywhere);
}

void table_replace_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users, paddr_t page,
                          uint64_t attributes)
{
    if (*entry != 0) {
        table_break_stage2(entry, ipa, users);
    }
    table_make_stage2(entry, &page, 1, attributes);
}

/* In an invalid entry, walks read only the valid bit, so the other bits can be kept. */
void table_hide_stage2(ptable_entry_t *entries, uint32_t count, enum table_users users)
{
    for (uint32_t i = 0; i < count; i++) {
        entries[i] &= ~PTABLE_VALID;
    }
    arch_dsb_ishst();
    arch_tlbi_guest_all(users == TABLE_ALL_CORES);
}

void table_show_stage2(ptable_entry_t *entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        entries[i] |= PTABLE_VALID;
    }
    arch_dsb_ishst();
}
