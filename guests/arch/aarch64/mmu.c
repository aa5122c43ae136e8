// SPDX-License-Identifier: Apache-2.0
//
// Identity map of 512 GiB by 1 GiB blocks, with 2 MiB blocks where RAM covers a GiB in part. The tables are
// built with the MMU off; mmu_enable (start.S) loads the registers.
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/memory.h"

#define GIB_BYTES       (1ull << 30)
#define ENTRIES         512u
#define ENTRY_BLOCK     0x1ull
#define ENTRY_TABLE     0x3ull
#define ENTRY_ACCESSED  (1ull << 10)
#define ENTRY_SHARED    (3ull << 8) // inner shareable
#define ENTRY_NORMAL    (1ull << 2) // MAIR attribute 1
#define ENTRY_UNCACHED  (2ull << 2) // MAIR attribute 2
#define ENTRY_NO_EXEC   (3ull << 53)
#define ENTRY_ADDRESS   0x0000FFFFFFFFF000ull
#define BLOCK_OF_MEMORY (ENTRY_BLOCK | ENTRY_ACCESSED | ENTRY_SHARED | ENTRY_NORMAL)
#define BLOCK_OF_DEVICE (ENTRY_BLOCK | ENTRY_ACCESSED | ENTRY_NO_EXEC)
#define BLOCK_UNCACHED  (ENTRY_BLOCK | ENTRY_ACCESSED | ENTRY_SHARED | ENTRY_UNCACHED | ENTRY_NO_EXEC)

enum { level2_tables = 4 };

extern char image_start[];
extern char image_end[];
extern char bss_start[];
extern char bss_end[];

void mmu_enable(void);

_Alignas(4096) uint64_t mmu_level1[ENTRIES];
_Alignas(4096) static uint64_t level2[level2_tables][ENTRIES];
static uint32_t level2_used;

// The level-2 table of this level-1 entry, filled with device blocks when it is made; NULL: none is left.
static uint64_t *split(uint64_t gib)
{
    uint64_t entry = mmu_level1[gib];

    if ((entry & ENTRY_TABLE) == ENTRY_TABLE)
        return (uint64_t *)(uintptr_t)(entry & ENTRY_ADDRESS);
    if (level2_used == level2_tables)
        return NULL;
    uint64_t *table = level2[level2_used++];
    for (uint32_t i = 0; i < ENTRIES; i++)
        table[i] = (gib * GIB_BYTES + (uint64_t)i * MEMORY_BLOCK_BYTES) | BLOCK_OF_DEVICE;
    mmu_level1[gib] = (uintptr_t)table | ENTRY_TABLE;
    return table;
}

// Maps whole blocks within [start, end) as memory. A block for which no table is left stays device memory:
// slow, but correct.
static void map_memory(uint64_t start, uint64_t end)
{
    uint64_t at = (start + MEMORY_BLOCK_BYTES - 1) & ~(uint64_t)(MEMORY_BLOCK_BYTES - 1);

    while (at < MMU_ADDRESS_END && end > at && end - at >= MEMORY_BLOCK_BYTES) {
        uint64_t gib = at / GIB_BYTES;
        if (at % GIB_BYTES == 0 && end - at >= GIB_BYTES) {
            mmu_level1[gib] = at | BLOCK_OF_MEMORY;
            at += GIB_BYTES;
            continue;
        }
        uint64_t *table = split(gib);
        if (table != NULL)
            table[at % GIB_BYTES / MEMORY_BLOCK_BYTES] = at | BLOCK_OF_MEMORY;
        at += MEMORY_BLOCK_BYTES;
    }
}

static uint64_t line_bytes(void)
{
    return 4ull << (sysreg_read(CTR_EL0) >> 16 & 0xF);
}

// Older cache lines must not hide data that was written with the caches off: bss, stacks and tables. The
// loader cleaned the rest.
static void drop_cached_bss(void)
{
    uint64_t step = line_bytes();

    cpu_sync_memory();
    for (uint64_t at = (uintptr_t)bss_start; at < (uintptr_t)bss_end; at += step)
        cpu_invalidate_line(at);
    cpu_sync_memory();
}

void mmu_init(void)
{
    const struct board *b = board();

    for (uint64_t gib = 0; gib < ENTRIES; gib++)
        mmu_level1[gib] = gib * GIB_BYTES | BLOCK_OF_DEVICE;
    // The image's blocks are mapped even if the device tree does not list them as RAM, since this code runs
    // there.
    uint64_t start = (uintptr_t)image_start & ~(uint64_t)(MEMORY_BLOCK_BYTES - 1);
    map_memory(start, (uintptr_t)image_end + MEMORY_BLOCK_BYTES - 1);
    for (uint32_t i = 0; i < b->ram_count; i++)
        map_memory(b->ram[i].address, b->ram[i].address + b->ram[i].size);
    drop_cached_bss();
    mmu_enable();
}

static void clean_lines(uint64_t start, uint64_t end)
{
    uint64_t step = line_bytes();

    for (uint64_t at = start; at < end; at += step)
        cpu_clean_and_invalidate_line(at);
    cpu_sync_memory();
}

// The entry of a block that is mapped by itself; NULL: it is not.
static uint64_t *block_of(uint64_t address)
{
    uint64_t entry = mmu_level1[address / GIB_BYTES];

    if ((entry & ENTRY_TABLE) != ENTRY_TABLE)
        return NULL;
    return (uint64_t *)(uintptr_t)(entry & ENTRY_ADDRESS) + address % GIB_BYTES / MEMORY_BLOCK_BYTES;
}

bool mmu_map_past_caches(uint64_t start, uint64_t bytes, bool device)
{
    uint64_t end = start + bytes;

    if ((start | bytes) % MEMORY_BLOCK_BYTES != 0 || start > MMU_ADDRESS_END ||
        bytes > MMU_ADDRESS_END - start)
        return false;
    for (uint64_t at = start; at < end; at += MEMORY_BLOCK_BYTES) {
        if (block_of(at) == NULL)
            return false;
    }
    clean_lines(start, end);
    for (uint64_t at = start; at < end; at += MEMORY_BLOCK_BYTES)
        *block_of(at) = 0; // break before make
    cpu_invalidate_translations();
    for (uint64_t at = start; at < end; at += MEMORY_BLOCK_BYTES)
        *block_of(at) = at | (device ? BLOCK_OF_DEVICE : BLOCK_UNCACHED);
    cpu_invalidate_translations();
    clean_lines(start, end); // lines that were fetched speculatively meanwhile
    return true;
}

void mmu_map_executable(uint64_t address)
{
    uint64_t gib = address / GIB_BYTES;

    if (address >= MMU_ADDRESS_END || (mmu_level1[gib] & ENTRY_TABLE) == ENTRY_TABLE ||
        (mmu_level1[gib] & ENTRY_NORMAL) != 0)
        return;
    mmu_level1[gib] = 0; // break before make
    cpu_invalidate_translations();
    mmu_level1[gib] = gib * GIB_BYTES | BLOCK_OF_MEMORY;
    cpu_invalidate_translations();
}

volatile uint64_t *mmu_small_pages(void)
{
    _Alignas(4096) static uint64_t tables[2][ENTRIES];
    uint64_t gib = MMU_SMALL_PAGES / GIB_BYTES;

    tables[0][0] = (uintptr_t)tables[1] | ENTRY_TABLE;
    mmu_level1[gib] = 0; // break before make
    cpu_invalidate_translations();
    mmu_level1[gib] = (uintptr_t)tables[0] | ENTRY_TABLE;
    cpu_invalidate_translations();
    return tables[1];
}
