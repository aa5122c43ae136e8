/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks and builds translation tables. The descriptor format is that of DDI 0487, D8.3.1.
 */
#include "memory/ptable.h"
#include "memory/table_memory.h"
#include <arch/barrier.h>
#include <arch/sysreg.h>

#define DESCRIPTOR_TABLE    3ull /* at levels 1 and 2 */
#define DESCRIPTOR_BLOCK    1ull
#define DESCRIPTOR_ADDRESS  0x0000FFFFFFFFF000ull
#define OUTPUT_SIZE_48_BITS 5u
#define ENTRIES             512u

static const uint32_t level_shift[] = {0, PTABLE_LEVEL1_SHIFT, PTABLE_LEVEL2_SHIFT, PTABLE_LEVEL3_SHIFT};

static ptable_entry_t *entry_of(const struct pool *pool, paddr_t table, uint32_t level, uint64_t input)
{
    ptable_entry_t *entries = pool_pointer(table_memory_holding(pool, table), table);

    return &entries[(input >> level_shift[level]) % ENTRIES];
}

static bool is_table(uint64_t descriptor)
{
    return (descriptor & 3) == DESCRIPTOR_TABLE;
}

static paddr_t next_table(uint64_t descriptor)
{
    return paddr(descriptor & DESCRIPTOR_ADDRESS);
}

uint64_t ptable_output_size(void)
{
    uint64_t range = sysreg_read(ID_AA64MMFR0_EL1) & 0xF;

    return range < OUTPUT_SIZE_48_BITS ? range : OUTPUT_SIZE_48_BITS;
}

bool ptable_create(struct pool *pool, paddr_t *root)
{
    return pool_allocate(pool, root);
}

/* Finds the table at `level` that holds the entry for `input`; creates missing tables on the way. */
static bool table_at(struct pool *pool, paddr_t root, uint32_t level, uint64_t input, paddr_t *table)
{
    *table = root;
    for (uint32_t above = 1; above < level; above++) {
        ptable_entry_t *entry = entry_of(pool, *table, above, input);
        paddr_t fresh;

        if (!is_table(*entry)) {
            if (!pool_allocate(pool, &fresh)) {
                return false;
            }
            arch_dsb_ishst(); /* the zeros must be visible to the walker before the table is */
            *entry = fresh.value | DESCRIPTOR_TABLE;
        }
        *table = next_table(*entry);
    }
    return true;
}

static uint32_t level_for(uint64_t input, uint64_t pa, uint64_t bytes)
{
    for (uint32_t level = 1; level < 3; level++) {
        uint64_t size = 1ull << level_shift[level];

        if (((input | pa) & (size - 1)) == 0 && bytes >= size) {
            return level;
        }
    }
    return 3;
}

bool ptable_map(struct pool *pool, paddr_t root, uint64_t input, paddr_t pa, uint64_t bytes,
                uint64_t attributes)
{
    while (bytes > 0) {
        uint32_t level = level_for(input, pa.value, bytes);
        uint64_t size = 1ull << level_shift[level];
        uint64_t kind = level == 3 ? PTABLE_PAGE : DESCRIPTOR_BLOCK;
        ptable_entry_t *entry;
        paddr_t table;

        if (!table_at(pool, root, level, input, &table)) {
            return false;
        }
        entry = entry_of(pool, table, level, input);
        /* Fill entries up to the end of this table; only there can larger blocks begin. */
        do {
            *entry++ = pa.value | attributes | kind;
            input += size;
            pa.value += size;
            bytes -= size;
        } while (bytes >= size && (input >> level_shift[level]) % ENTRIES != 0);
    }
    arch_dsb_ishst();
    return true;
}

bool ptable_prepare(struct pool *pool, paddr_t root, uint64_t input, uint64_t bytes)
{
    uint64_t span = 1ull << PTABLE_LEVEL2_SHIFT;
    uint64_t end = input + bytes;
    paddr_t table;

    for (uint64_t at = input & ~(span - 1); at < end; at += span) {
        if (!table_at(pool, root, 3, at, &table)) {
            return false;
        }
    }
    return true;
}

ptable_entry_t *ptable_block_entry(const struct pool *pool, paddr_t root, uint64_t input)
{
    return entry_of(pool, next_table(*entry_of(pool, root, 1, input)), 2, input);
}

ptable_entry_t *ptable_page_entry(const struct pool *pool, paddr_t root, uint64_t input)
{
    paddr_t level3 = next_table(*ptable_block_entry(pool, root, input));

    return entry_of(pool, level3, 3, input);
}

bool ptable_find(const struct pool *pool, paddr_t root, uint64_t input, paddr_t *pa)
{
    paddr_t table = root;

    for (uint32_t level = 1; level <= 3; level++) {
        ptable_entry_t entry = *entry_of(pool, table, level, input);
        uint64_t offset = input & ((1ull << level_shift[level]) - 1);

        if (entry == 0) {
            return false;
        }
        if (level == 3 || (entry & 3) == DESCRIPTOR_BLOCK) {
            *pa = paddr((next_table(entry).value & ~((1ull << level_shift[level]) - 1)) + offset);
            return true;
        }
        table = next_table(entry);
    }
    return false;
}
