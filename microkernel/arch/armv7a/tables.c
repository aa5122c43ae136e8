/* SPDX-License-Identifier: Apache-2.0
 *
 * Short descriptors (DDI 0406C, B3.5). An entry of the first level is empty, a section, one of the sixteen
 * entries of a supersection, or a second-level table, which becomes free with its last page. To move a table,
 * it is copied first, and then the entry that points to it is changed.
 */
#include "microkernel/arch/armv7a/tables.h"
#include "arch_offsets.h"
#include "microkernel/arch/armv7a/cp15.h"
#include "microkernel/kernel/arch.h"
#include "microkernel/kernel/clear.h"

#define ENTRIES        256u
#define TYPE_MASK      3u
#define TYPE_TABLE     1u
#define TYPE_SECTION   2u
#define SUPER          0x40000u /* in a section descriptor: supersection */
#define TYPE_PAGE      2u
#define TYPE_LARGE     1u
#define REPEATED       16u /* entries of a large page or a supersection */
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
    uint32_t large;
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
    /* Not global: the entry applies only to the component's ASID. */
    to->section = TYPE_SECTION | cb << 2 | never << 4 | access << 10 | tex << 12 | 1u << 17;
    to->page = TYPE_PAGE | never | cb << 2 | access << 4 | tex << 6 | 1u << 11;
    to->large = TYPE_LARGE | never << 15 | cb << 2 | access << 4 | tex << 12 | 1u << 11;
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

static bool is_empty(const uint32_t *entry, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (entry[i] != 0) {
            return false;
        }
    }
    return true;
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

static uint32_t take(struct arch_space *space, enum placement where)
{
    uint32_t table = where != PLACE_PLAIN ? local_take(where, TABLE_BYTES) : space->free_tables;

    if (where == PLACE_PLAIN && table != 0) {
        uint32_t *word = arch_memory(table);

        space->free_tables = word[0];
        word[0] = 0;
    }
    return table;
}

static void release(struct arch_space *space, uint32_t table)
{
    if (local_place(table) != PLACE_PLAIN) {
        local_release(table, TABLE_BYTES);
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

/* Moves the first-level table to the given memory. */
static bool place_root(struct arch_space *space, enum placement where)
{
    uint32_t root = space->ttbr0 & ~TTBR_MASK;
    uint32_t moved;

    if (local_place(root) != PLACE_PLAIN) {
        return true;
    }
    moved = local_take(where, ROOT_BYTES);
    if (moved == 0) {
        return false;
    }
    copy(moved, root, ROOT_BYTES);
    space->ttbr0 = moved | WALK_CACHED;
    kernel.loaded = 0;
    return true;
}

/* Provides a second-level table for the address, in the given memory. */
static bool has_table(struct arch_space *space, uint32_t *entry, enum placement where)
{
    uint32_t old = *entry & ~(TABLE_BYTES - 1u);
    uint32_t table;

    if ((*entry & TYPE_MASK) == TYPE_TABLE && (where == PLACE_PLAIN || local_place(old) != PLACE_PLAIN)) {
        return true;
    }
    table = take(space, where);
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

void tables_place(struct arch_space *space, uint32_t first, uint32_t last, enum placement where)
{
    /* bound: sections of the range */
    for (uint32_t at = first - first % SECTION_BYTES; at < last; at += SECTION_BYTES) {
        uint32_t *entry = first_level(space, at);

        if ((*entry & TYPE_MASK) == TYPE_TABLE) {
            (void)has_table(space, entry, where);
        }
    }
}

/* Whether an entry of `bytes` bytes fits: it is aligned, within the rest of the range, and no larger than
 * `most`. */
static bool is_whole(uint32_t at, uint32_t last, uint32_t bytes, uint32_t most)
{
    return bytes - 1u <= most && at % bytes == 0 && last - at >= bytes - 1u;
}

static void fill(uint32_t *entry, uint32_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        entry[i] = value;
    }
}

/* Maps a section or a supersection. Returns its bytes; 0 if pages have to map the address. */
static uint32_t map_sections(uint32_t *entry, uint32_t at, uint32_t last, uint32_t most, uint32_t attributes)
{
    if (is_whole(at, last, SUPERSECTION_BYTES, most) && is_empty(entry, REPEATED)) {
        fill(entry, at | attributes | SUPER, REPEATED);
        return SUPERSECTION_BYTES;
    }
    if (is_whole(at, last, SECTION_BYTES, most) && *entry == 0) {
        *entry = at | attributes;
        return SECTION_BYTES;
    }
    return 0;
}

/* Maps a large page or a small page. Returns its bytes. */
static uint32_t map_page(uint32_t *entry, uint32_t at, uint32_t last, uint32_t most,
                         const struct attributes *attributes)
{
    if (is_whole(at, last, LARGE_BYTES, most)) {
        fill(entry, at | attributes->large, REPEATED);
        return LARGE_BYTES;
    }
    *entry = at | attributes->page;
    return PAGE_BYTES;
}

enum sys_status tables_map(struct arch_space *space, uint32_t first, uint32_t last, uint32_t rights,
                           enum mxu_memory_type type, enum placement where, uint32_t most)
{
    struct attributes attributes;
    uint32_t at = first;

    if (!attributes_of(rights, type, &attributes) || first % PAGE_BYTES != 0 || last >= KERNEL_ALIAS ||
        (last + 1u) % PAGE_BYTES != 0) {
        return SYS_EINVAL;
    }
    if (where != PLACE_PLAIN && !place_root(space, where)) {
        return SYS_ENOMEM;
    }
    /* bound: pages of the range */
    while (at < last) {
        uint32_t *entry = first_level(space, at);
        uint32_t mapped = map_sections(entry, at, last, most, attributes.section);

        if (mapped != 0) {
            at += mapped;
            continue;
        }
        if (!has_table(space, entry, where)) {
            if (at > first) {
                tables_unmap(space, first, at - 1u);
            }
            return SYS_ENOMEM;
        }
        at += map_page(second_level(*entry, at), at, last, most, &attributes);
    }
    cp15_complete();
    return SYS_OK;
}

uint32_t tables_entry_bytes(const struct arch_space *space, uint32_t address)
{
    uint32_t entry = *first_level(space, address);

    if ((entry & TYPE_MASK) != TYPE_TABLE) {
        return (entry & SUPER) != 0 ? SUPERSECTION_BYTES : SECTION_BYTES;
    }
    return (*second_level(entry, address) & TYPE_MASK) == TYPE_LARGE ? LARGE_BYTES : PAGE_BYTES;
}

static void unmap_entry(struct arch_space *space, uint32_t at, uint32_t bytes)
{
    uint32_t *entry = first_level(space, at);
    uint32_t old = *entry;

    if (bytes >= SECTION_BYTES) {
        fill(entry, 0, bytes / SECTION_BYTES);
        return;
    }
    fill(second_level(old, at), 0, bytes / PAGE_BYTES);
    if (is_empty(second_level(old, 0), ENTRIES)) {
        *entry = 0;
        cp15_complete();
        release(space, old & ~(TABLE_BYTES - 1u));
    }
}

void tables_unmap(struct arch_space *space, uint32_t first, uint32_t last)
{
    /* bound: pages of the range */
    for (uint32_t at = first; at < last;) {
        uint32_t bytes = tables_entry_bytes(space, at);

        unmap_entry(space, at, bytes);
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
    if (local_place(root) != PLACE_PLAIN) {
        local_release(root, ROOT_BYTES);
        space->ttbr0 = 0;
    }
}
