/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage, windows and log behind the hosted accessors. For unit tests only.
 */
#include "fake_registers.h"

#include <arch/barrier.h>
#include <arch/fp.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WINDOWS 16u

#define PAGE_BYTES 4096u
#define MAX_LOG    (1u << 23) /* writes of one test: more is a loop without end */

struct window {
    uint64_t pa;
    size_t bytes;
    uint8_t **pages; /* made when first written: booting a fake machine must cost microseconds */
    fake_mmio_read_hook read;
    fake_mmio_write_hook write;
};

static struct fake {
    uint64_t registers[FAKE_CORES][SYSREG_ID_COUNT];
    uint32_t core;
    fake_sysreg_read_hook read;
    fake_sysreg_write_hook write;
    struct window windows[MAX_WINDOWS];
    size_t window_count;
    uint32_t faults;
    struct fake_write *log;
    size_t log_count;
    size_t log_room;
    size_t sysreg_accesses;
    uint32_t barriers[FAKE_BARRIER_COUNT];
    void (*wfi_hook)(void);
} fake;

void fake_reset(void)
{
    for (size_t i = 0; i < fake.window_count; i++) {
        struct window *window = &fake.windows[i];

        for (size_t page = 0; page < (window->bytes + PAGE_BYTES - 1) / PAGE_BYTES; page++) {
            free(window->pages[page]);
        }
        free(window->pages);
    }
    memset(&fake, 0, offsetof(struct fake, log));
    fake_forget_writes();
    memset(fake.barriers, 0, sizeof fake.barriers);
    fake.wfi_hook = NULL;
}

void fake_switch_core(uint32_t core)
{
    fake.core = core % FAKE_CORES;
}

uint32_t fake_current_core(void)
{
    return fake.core;
}

uint64_t fake_core_sysreg(uint32_t core, enum sysreg_id id)
{
    return fake.registers[core % FAKE_CORES][id];
}

void fake_set_core_sysreg(uint32_t core, enum sysreg_id id, uint64_t value)
{
    fake.registers[core % FAKE_CORES][id] = value;
}

uint64_t fake_sysreg(enum sysreg_id id)
{
    return fake_core_sysreg(fake.core, id);
}

void fake_set_sysreg(enum sysreg_id id, uint64_t value)
{
    fake_set_core_sysreg(fake.core, id, value);
}

void fake_hook_sysregs(fake_sysreg_read_hook read, fake_sysreg_write_hook write)
{
    fake.read = read;
    fake.write = write;
}

static void log_write(struct fake_write entry)
{
    if (fake.log_count == fake.log_room) {
        fake.log_room = fake.log_room == 0 ? 256 : fake.log_room * 2;
        fake.log = realloc(fake.log, fake.log_room * sizeof *fake.log);
        if (fake.log == NULL || fake.log_room > MAX_LOG) {
            abort();
        }
    }
    entry.core = fake.core;
    fake.log[fake.log_count++] = entry;
}

size_t fake_write_count(void)
{
    return fake.log_count;
}

const struct fake_write *fake_write_at(size_t index)
{
    return &fake.log[index];
}

void fake_forget_writes(void)
{
    fake.log_count = 0;
    fake.sysreg_accesses = 0;
}

size_t fake_sysreg_access_count(void)
{
    return fake.sysreg_accesses;
}

uint64_t hosted_sysreg_read(enum sysreg_id id)
{
    uint64_t value = 0;

    fake.sysreg_accesses += id != SYSREG_ID_TPIDR_EL2;
    if (fake.read != NULL && fake.read(id, &value)) {
        return value;
    }
    return fake.registers[fake.core][id];
}

void hosted_sysreg_write(enum sysreg_id id, uint64_t value)
{
    fake.sysreg_accesses++;
    log_write((struct fake_write){.id = id, .bytes = 8, .value = value});
    if (fake.write == NULL || !fake.write(id, value)) {
        fake.registers[fake.core][id] = value;
    }
}

void fake_map(uint64_t pa, size_t bytes, fake_mmio_read_hook read, fake_mmio_write_hook write)
{
    uint8_t **pages = calloc((bytes + PAGE_BYTES - 1) / PAGE_BYTES, sizeof *pages);

    if (pages == NULL || fake.window_count == MAX_WINDOWS) {
        abort();
    }
    fake.windows[fake.window_count++] =
        (struct window){.pa = pa, .bytes = bytes, .pages = pages, .read = read, .write = write};
}

uint32_t fake_faults(void)
{
    return fake.faults;
}

static struct window *window_at(uint64_t pa, unsigned bytes)
{
    for (size_t i = 0; i < fake.window_count; i++) {
        struct window *window = &fake.windows[i];

        if (range_within(pa, bytes, window->pa, window->bytes) && pa % bytes == 0) {
            return window;
        }
    }
    return NULL;
}

/* Aligned accesses do not cross pages. */
static uint64_t load(const struct window *window, uint64_t offset, unsigned bytes)
{
    const uint8_t *page = window->pages[offset / PAGE_BYTES];
    uint64_t value = 0;

    if (page != NULL) {
        memcpy(&value, page + offset % PAGE_BYTES, bytes);
    }
    return value;
}

static void store(struct window *window, uint64_t offset, unsigned bytes, uint64_t value)
{
    uint8_t **page = &window->pages[offset / PAGE_BYTES];

    if (*page == NULL) {
        *page = calloc(1, PAGE_BYTES);
    }
    if (*page == NULL) {
        abort();
    }
    memcpy(*page + offset % PAGE_BYTES, &value, bytes);
}

uint64_t hosted_mmio_read(uint64_t pa, unsigned bytes)
{
    struct window *window = window_at(pa, bytes);
    uint64_t value = 0;

    if (window == NULL) {
        fake.faults++;
        return 0;
    }
    if (window->read == NULL || !window->read(pa - window->pa, bytes, &value)) {
        value = load(window, pa - window->pa, bytes);
    }
    return value;
}

void hosted_mmio_write(uint64_t pa, unsigned bytes, uint64_t value)
{
    struct window *window = window_at(pa, bytes);

    log_write((struct fake_write){.is_mmio = true, .pa = pa, .bytes = bytes, .value = value});
    if (window == NULL) {
        fake.faults++;
    } else if (window->write == NULL || !window->write(pa - window->pa, bytes, value)) {
        store(window, pa - window->pa, bytes, value);
    }
}

uint32_t fake_mmio32(uint64_t pa)
{
    const struct window *window = window_at(pa, 4);

    if (window == NULL) {
        abort();
    }
    return (uint32_t)load(window, pa - window->pa, sizeof(uint32_t));
}

void fake_set_mmio32(uint64_t pa, uint32_t value)
{
    struct window *window = window_at(pa, 4);

    if (window == NULL) {
        abort();
    }
    store(window, pa - window->pa, sizeof value, value);
}

uint32_t fake_barriers(enum fake_barrier which)
{
    return fake.barriers[which];
}

void arch_isb(void)
{
    fake.barriers[FAKE_ISB]++;
}

void arch_dsb_sy(void)
{
    fake.barriers[FAKE_DSB_SY]++;
}

void arch_dsb_ishst(void)
{
    fake.barriers[FAKE_DSB_ISHST]++;
}

void arch_wfi(void)
{
    fake.barriers[FAKE_WFI]++;
    if (fake.wfi_hook != NULL) {
        fake.wfi_hook();
    }
}

void fake_hook_wfi(void (*hook)(void))
{
    fake.wfi_hook = hook;
}

void arch_wfe(void)
{
    fake.barriers[FAKE_WFE]++;
}

void arch_sev(void)
{
    fake.barriers[FAKE_SEV]++;
}

void arch_tlbi_local_all(void)
{
    fake.barriers[FAKE_TLBI_LOCAL_ALL]++;
}

void arch_tlbi_local_el2(uintptr_t address)
{
    (void)address;
    fake.barriers[FAKE_TLBI_LOCAL_EL2]++;
}

void arch_icache_invalidate_local(void)
{
    fake.barriers[FAKE_ICACHE_INVALIDATE_LOCAL]++;
}

void arch_dcache_clean_invalidate_line(uintptr_t address)
{
    (void)address;
    fake.barriers[FAKE_DCACHE_LINE]++;
}

void arch_fp_clear(void)
{
    fake.barriers[FAKE_FP_CLEAR]++;
}
