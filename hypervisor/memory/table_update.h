/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of table entries that walkers may use at the same time: EL2's own tables and the guests' stage 2.
 * All changes of entries in use are made here; ptable.h builds tables that are not used yet. A valid entry is
 * replaced by break-before-make (DDI 0487, D8.16): invalid entry, barrier, TLB maintenance, barrier, new
 * entry. Guests' maintenance of their own stage 1 is in trap_maintenance.c.
 */
#ifndef BULKHEAD_TABLE_UPDATE_H
#define BULKHEAD_TABLE_UPDATE_H

#include "core/address.h"
#include "memory/ptable.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The cores whose TLBs may hold an entry. */
enum table_users {
    TABLE_OWN_CORE,
    TABLE_ALL_CORES, /* all cores of the inner shareable domain */
};

/* Maps a page of EL2's own whose entry is invalid. It can be accessed as soon as this returns. */
void table_make_el2(ptable_entry_t *entry, paddr_t page, uint64_t attributes);

/* Unmaps EL2's page at `address` and removes it from the TLBs of all its users. */
void table_break_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users);

/* Maps EL2's page at `address`, which may be mapped already, to `page`. It can be accessed as soon as this
 * returns. */
void table_replace_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users, paddr_t page,
                       uint64_t attributes);

/* Maps `count` pages of a guest. Their entries follow one another and are invalid, or already have the new
 * values. */
void table_make_stage2(ptable_entry_t *entries, const paddr_t *pages, uint32_t count, uint64_t attributes);

/* Unmaps the guest's page at `ipa` and removes it from the TLBs of all its users, including entries that
 * combine it with the guest's stage 1. The guest is the one whose VMID is in this core's VTTBR_EL2. */
void table_break_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users);

/* Maps the guest's page at `ipa`, which may be mapped already, to `page`. The guest is identified as for
 * table_break_stage2(). A core that accesses the page during the change takes a fault, and finds the new page
 * when it tries again. */
void table_replace_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users, paddr_t page,
                          uint64_t attributes);

/* hide(): makes the memory behind `count` consecutive entries at level 2, none of them 0, inaccessible to the
 * guest, and removes it from the TLBs of all its users. The entries keep all their other bits. show():
 * reverses this; it needs no TLB maintenance. For hide(), the guest is identified as for
 * table_break_stage2(). */
void table_hide_stage2(ptable_entry_t *entries, uint32_t count, enum table_users users);
void table_show_stage2(ptable_entry_t *entries, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
