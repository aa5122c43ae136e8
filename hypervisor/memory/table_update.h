/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of entries of tables that walkers may use at the same moment: EL2's own and guests' stage 2. Nobody
 * else changes such an entry; ptable.h builds tables that nobody uses yet. A valid entry becomes another one
 * by break-before-make (DDI 0487, D8.16): the invalid entry, a barrier, the TLBs, a barrier, the new entry.
 * What guests maintain of their own stage 1 is trap_maintenance.c's.
 */
#ifndef BULKHEAD_TABLE_UPDATE_H
#define BULKHEAD_TABLE_UPDATE_H

#include "core/address.h"
#include "memory/ptable.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whose TLBs may hold what an entry says. */
enum table_users {
    TABLE_OWN_CORE,
    TABLE_ALL_CORES, /* of the inner shareable domain */
};

/* Maps a page of EL2's own whose entry is invalid. It can be accessed at once. */
void table_make_el2(ptable_entry_t *entry, paddr_t page, uint64_t attributes);

/* EL2's page at `address` is no longer mapped, nor in the TLB of any of its users. */
void table_break_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users);

/* EL2's page at `address`, which may be mapped, is mapped to `page`. It can be accessed at once. */
void table_replace_el2(ptable_entry_t *entry, uintptr_t address, enum table_users users, paddr_t page,
                       uint64_t attributes);

/* Maps `count` pages of a guest, whose entries follow one another and are invalid, or say the same already.
 */
void table_make_stage2(ptable_entry_t *entries, const paddr_t *pages, uint32_t count, uint64_t attributes);

/* The guest's page at `ipa` is no longer mapped, nor in the TLB of any of its users, alone or with the
 * guest's stage 1. The guest is the one whose VMID this core's VTTBR_EL2 has. */
void table_break_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users);

/* The guest's page at `ipa`, which may be mapped, is mapped to `page`. The guest as above; who accesses the
 * page meanwhile faults, and finds the new one when it tries again. */
void table_replace_stage2(ptable_entry_t *entry, ipaddr_t ipa, enum table_users users, paddr_t page,
                          uint64_t attributes);

/* What `count` entries at level 2, which follow one another and are not 0, lead to is not there for the
 * guest, nor in the TLB of any of its users, until they are shown again; they keep all but that. The guest as
 * above, but to show them no TLB matters. */
void table_hide_stage2(ptable_entry_t *entries, uint32_t count, enum table_users users);
void table_show_stage2(ptable_entry_t *entries, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
