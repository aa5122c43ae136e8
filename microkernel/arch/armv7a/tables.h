/* SPDX-License-Identifier: Apache-2.0
 *
 * Translation tables of a component: short descriptors of all four sizes; each part of a range is mapped by
 * the largest that fits. First-level tables are in the kernel's own memory; second-level ones are in frames
 * from the memory manager, or in memory whose lines others cannot evict.
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

/* Makes an empty first-level table. */
void tables_init(struct component *component);

/* Adds free second-level tables. */
void tables_add(struct arch_space *space, uint32_t first, uint32_t bytes);

/* Maps [first, last]. If `where` is not PLACE_PLAIN: with tables that exist, or that are in a place of that
 * kind already. On refusal nothing is mapped. `most`: size of the largest entry minus one. */
enum sys_status tables_map(struct arch_space *space, uint32_t first, uint32_t last, uint32_t rights,
                           enum mxu_memory_type type, enum placement where, uint32_t most);

/* Moves the second-level tables of a mapped range to `where`, as far as there is room. */
void tables_place(struct arch_space *space, uint32_t first, uint32_t last, enum placement where);
void tables_unmap(struct arch_space *space, uint32_t first, uint32_t last);

/* Bytes covered by the entry of a mapped address. */
uint32_t tables_entry_bytes(const struct arch_space *space, uint32_t address);

/* Drops all second-level tables: the component is dead and has nothing mapped. */
void tables_clear(struct arch_space *space);

#endif
