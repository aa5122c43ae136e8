/* SPDX-License-Identifier: Apache-2.0
 *
 * Translation tables of a component: short descriptors of all four sizes, each part of a range by the largest
 * that fits. First-level tables are the kernel's own memory; second-level ones come from frames that the
 * memory manager gave, or are where nobody else evicts their lines.
 */
#ifndef BULKHEAD_MICROKERNEL_ARMV7A_TABLES_H
#define BULKHEAD_MICROKERNEL_ARMV7A_TABLES_H

#include "microkernel/arch/armv7a/local_memory.h"
#include "microkernel/kernel/kernel.h"

#define PAGE_BYTES         0x1000u
#define LARGE_BYTES        0x10000u
#define SECTION_BYTES      0x100000u
#define SUPERSECTION_BYTES 0x1000000u
#define TABLE_BYTES        0x400u
#define ROOT_BYTES         0x2000u

/* An empty first-level table. */
void tables_init(struct component *component);

/* Adds free second-level tables. */
void tables_add(struct arch_space *space, uint32_t first, uint32_t bytes);

/* Maps [first, last]; not PLACE_PLAIN: by tables that are there, or in another such place already. On refusal
 * nothing is mapped. `most`: the largest entry less one. */
enum sys_status tables_map(struct arch_space *space, uint32_t first, uint32_t last, uint32_t rights,
                           enum mxu_memory_type type, enum placement where, uint32_t most);

/* Moves second-level tables of a range that is mapped, as far as there is room. */
void tables_place(struct arch_space *space, uint32_t first, uint32_t last, enum placement where);
void tables_unmap(struct arch_space *space, uint32_t first, uint32_t last);

/* Bytes that the entry for a mapped address covers. */
uint32_t tables_entry_bytes(const struct arch_space *space, uint32_t address);

/* Forgets all second-level tables: the component is dead and has nothing mapped. */
void tables_clear(struct arch_space *space);

#endif
