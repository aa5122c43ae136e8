/* SPDX-License-Identifier: Apache-2.0
 *
 * Short descriptors (DDI 0406C, B3.5). An entry of the first level is empty, a section, or a second-level
 * table, which becomes free with its last page. Moving a table into the memory on the chip copies it and then
 * changes the entry that points to it.
 */
#include "microkernel/arch/armv7a/tables.h"
#include "arch_offsets.h"
#include "microkernel/arch/armv7a/cp15.h"
#include "microkernel/arch/armv7a/ocm.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/clear.h"

#define ENTRIES        256u
#define TYPE_MASK      3u
#define TYPE_TABLE     1u
#define TYPE_SECTION   2u
#define TYPE_PAGE      2u
#define AP_USER_READS  2u
#define AP_USER_WRITES 3u
#define NORMAL_TEX     1u
#define BUFFERED       1u
#define CACHED         2u
#define TTBR_MASK      (ROOT_BYTES - 1u)

static _Alignas(ROOT_BYTES) uint32_t roots[MOST_COMPONENTS][ROOT_BYTES / sizeof(uint32_t)];

struct attributes {
    uint32_t section;
    uint32_t page;
};

static bool attributes_of(uint32_t rights, enum mxu_memory_type type, struct attributes *to)
{
    uint32_t access = (rights & MXU_WRITE) != 0 ? AP_USER_WRITES : AP_USER_READS;
    uint32_t never = (rights & MXU_EXECUTE) == 0;
    uint32_t tex = type == MXU_MEMORY_DEVICE ? 0 : NORMAL_TEX;
    uint32_t cb = type == MXU_MEMORY_NORMAL ? CACHED | BUFFERED : type == MXU_MEMORY_DEVICE ? BUFFERED : 0;

    if ((rights & MXU_READ) == 0 || type > MXU_MEMORY_DEVICE) {
        return false;
    }
    /* Not global: of the ASID. */
    to->section = TYPE_SECTION | cb << 2 | never << 4 | access << 10 | tex << 12 | 1u << 17;
    to->page = TYPE_PAGE | never | cb << 2 | access << 4 | tex << 6 | 1u << 11;
    return true;
}

static uint32_t *root_of(const struct arch_space *space)
{
    return arch_memory(space->ttbr0 & ~TTBR_MASK);
}

static uint32_t *first_level(const struct arch_space *space, uint32_t address)
{
    return &root_of(space)[address / SECTION_BYTES];
}

static uint32_t *second_level(uint32_t entry, uint32_t address)
{
    uint32_t *table = arch_memory(entry & ~(TABLE_BYTES - 1u));

    return &table[address / PAGE_BYTES % ENTRIES];
}

void tables_init(struct component *component)
{
    uint32_t *root = roots[component_number(component)];

    clear_words(root, ROOT_BYTES);
    component->space = (struct arch_space){
        .ttbr0 = ((uint32_t)(uintptr_t)root - KERNEL_ALIAS) | WALK_CACHED,
        .asid = component_number(component) + 1u,
    };
}

static void add(struct arch_space *space, uint32_t table)
{
    uint32_t *word = arch_memory(table);

    clear_words(word, TABLE_BYTES);
    word[0] = space->free_tables;
    space->free_tables = table;
}

void tables_add(struct arch_space *space, uint32_t first, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += TABLE_BYTES) {
        add(space, first + at);
    }
}

static uint32_t take(struct arch_space *space, bool is_local)
{
    uint32_t table = is_local ? ocm_take(TABLE_BYTES) : space->free_tables;

    if (!is_local && table != 0) {
        uint32_t *word = arch_memory(table);

        space->free_tables = word[0];
        word[0] = 0;
    }
    return table;
}

static void release(struct arch_space *space, uint32_t table)
{
    if (ocm_has(table)) {
        ocm_release(table, TABLE_BYTES);
    } else {
        add(space, table);
    }
}

static void copy(uint32_t to, uint32_t from, uint32_t bytes)
{
    volatile uint32_t *out = arch_memory(to);
    const uint32_t *in = arch_memory(from);

    for (uint32_t i = 0; i < bytes / sizeof *in; i++) {
        out[i] = in[i];
    }
    cp15_complete();
}

/* Moves the first-level table into the memory on the chip. */
static bool place_root(struct arch_space *space)
{
    uint32_t root = space->ttbr0 & ~TTBR_MASK;
    uint32_t moved;

    if (ocm_has(root)) {
        return true;
    }
    moved = ocm_take(ROOT_BYTES);
    if (moved == 0) {
        return false;
    }
    copy(moved, root, ROOT_BYTES);
    space->ttbr0 = moved | WALK_CACHED;
    kernel.loaded = 0;
    return true;
}

/* A second-level table for the address, in the memory that is asked for. */
static bool has_table(struct arch_space *space, uint32_t *entry, bool is_local)
{
    uint32_t old = *entry & ~(TABLE_BYTES - 1u);
    uint32_t table;

    if ((*entry & TYPE_MASK) == TYPE_TABLE && (!is_local || ocm_has(old))) {
        return true;
    }
    table = take(space, is_local);
    if (table == 0) {
        return false;
    }
    if ((*entry & TYPE_MASK) == TYPE_TABLE) {
        copy(table, old, TABLE_BYTES);
        *entry = table | TYPE_TABLE;
        cp15_complete();
        release(space, old);
    } else {
        *entry = table | TYPE_TABLE;
    }
    return true;
}

static bool is_whole_section(uint32_t at, uint32_t last, uint32_t entry)
{
    return at % SECTION_BYTES == 0 && last - at >= SECTION_BYTES - 1u && entry == 0;
}

enum sys_status tables_map(struct arch_space *space, uint32_t first, uint32_t last, uint32_t rights,
                           enum mxu_memory_type type, bool is_local)
{
    struct attributes attributes;
    uint32_t at = first;

    if (!attributes_of(rights, type, &attributes) || first % PAGE_BYTES != 0 || last >= KERNEL_ALIAS ||
        (last + 1u) % PAGE_BYTES != 0) {
        return SYS_EINVAL;
    }
    if (is_local && !place_root(space)) {
        return SYS_ENOMEM;
    }
    /* bound: pages of the range */
    while (at < last) {
        uint32_t *entry = first_level(space, at);

        if (is_whole_section(at, last, *entry)) {
            *entry = at | attributes.section;
            at += SECTION_BYTES;
            continue;
        }
        if (!has_table(space, entry, is_local)) {
            if (at > first) {
                tables_unmap(space, first, at - 1u);
            }
            return SYS_ENOMEM;
        }
        *second_level(*entry, at) = at | attributes.page;
        at += PAGE_BYTES;
    }
    cp15_complete();
    return SYS_OK;
}

static bool is_empty(uint32_t entry)
{
    const uint32_t *page = second_level(entry, 0);

    for (uint32_t i = 0; i < ENTRIES; i++) {
        if (page[i] != 0) {
            return false;
        }
    }
    return true;
}

uint32_t tables_entry_bytes(const struct arch_space *space, uint32_t address)
{
    return (*first_level(space, address) & TYPE_MASK) == TYPE_TABLE ? PAGE_BYTES : SECTION_BYTES;
}

void tables_unmap(struct arch_space *space, uint32_t first, uint32_t last)
{
    /* bound: pages of the range */
    for (uint32_t at = first; at < last;) {
        uint32_t *entry = first_level(space, at);
        uint32_t bytes = tables_entry_bytes(space, at);

        if (bytes == SECTION_BYTES) {
            *entry = 0;
        } else {
            uint32_t old = *entry;

            *second_level(old, at) = 0;
            if (is_empty(old)) {
                *entry = 0;
                cp15_complete();
                release(space, old & ~(TABLE_BYTES - 1u));
            }
        }
        cp15_complete();
        cp15_write_tlb_address(at | space->asid);
        at += bytes;
    }
    cp15_complete();
}

void tables_clear(struct arch_space *space)
{
    uint32_t root = space->ttbr0 & ~TTBR_MASK;

    clear_words(root_of(space), ROOT_BYTES);
    space->free_tables = 0;
    cp15_complete();
    cp15_write_tlb_asid(space->asid);
    cp15_complete();
    if (ocm_has(root)) {
        ocm_release(root, ROOT_BYTES);
        space->ttbr0 = 0;
    }
}
