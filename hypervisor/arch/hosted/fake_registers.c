/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers and windows behind the hosted accessors, for unit tests only. State that grows is in
 * fake_storage.c, so that the state in this file can be copied and restored.
 */
#include "fake_registers.h"
#include "fake_storage.h"

#include <arch/barrier.h>
#include <arch/fp.h>
#include <arch/maintenance.h>
#include <arch/mpam.h>
#include <arch/physical.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WINDOWS   16u
#define WINDOWS_PAGES 1536u /* of all windows together */

/* Address and state of EL2 when it takes an asynchronous abort of its own. */
#define EL2_ADDRESS 0x4000001000ull
#define EL2_STATE   0x2C9ull

struct window {
    uint64_t pa;
    size_t bytes;
    size_t first; /* first of its pages in fake.pages */
    fake_mmio_read_hook read;
    fake_mmio_write_hook write;
};

static struct fake {
    uint64_t registers[FAKE_CORES][SYSREG_ID_COUNT];
    uint32_t core;
    fake_sysreg_read_hook read;
    fake_sysreg_write_hook write;
    fake_sysreg_read_hook read_monitors;
    fake_sysreg_write_hook write_monitors;
    struct window windows[MAX_WINDOWS];
    size_t window_count;
    size_t window_last;            /* window of the last access: the next access is mostly in the same one */
    uint16_t pages[WINDOWS_PAGES]; /* in storage, assigned at the first write, so that booting takes
                                      microseconds */
    uint32_t faults;
    size_t pages_mapped;
    size_t sysreg_accesses;
    uint32_t barriers[FAKE_BARRIER_COUNT];
    fake_barrier_hook barrier_hook;
    void (*wfi_hook)(void);
    bool serror[FAKE_CORES];
    bool mpam_undefined;
    struct fake_tlbi tlbi;
    fake_translation_hook translation;
} fake;

void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake_storage_reset();
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

void fake_hook_monitors(fake_sysreg_read_hook read, fake_sysreg_write_hook write)
{
    fake.read_monitors = read;
    fake.write_monitors = write;
}

static void log_write(struct fake_write entry)
{
    entry.core = fake.core;
    fake_storage_log(entry);
}

void fake_forget_writes(void)
{
    fake_storage_forget_log();
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
    if (fake.read_monitors != NULL && fake.read_monitors(id, &value)) {
        return value;
    }
    return fake.registers[fake.core][id];
}

void hosted_sysreg_write(enum sysreg_id id, uint64_t value)
{
    fake.sysreg_accesses++;
    log_write((struct fake_write){.id = id, .bytes = 8, .value = value});
    if (fake.write != NULL && fake.write(id, value)) {
        return;
    }
    if (fake.write_monitors == NULL || !fake.write_monitors(id, value)) {
        fake.registers[fake.core][id] = value;
    }
}

void fake_map(uint64_t pa, size_t bytes, fake_mmio_read_hook read, fake_mmio_write_hook write)
{
    size_t pages = (bytes + FAKE_PAGE_BYTES - 1) / FAKE_PAGE_BYTES;

    if (fake.window_count == MAX_WINDOWS || WINDOWS_PAGES - fake.pages_mapped < pages) {
        abort();
    }
    fake.windows[fake.window_count++] =
        (struct window){.pa = pa, .bytes = bytes, .first = fake.pages_mapped, .read = read, .write = write};
    fake.pages_mapped += pages;
}

uint32_t fake_faults(void)
{
    return fake.faults;
}

static bool is_in(const struct window *window, uint64_t pa, unsigned bytes)
{
    return range_within(pa, bytes, window->pa, window->bytes) && (pa & (bytes - 1)) == 0;
}

static const struct window *window_at(uint64_t pa, unsigned bytes)
{
    if (is_in(&fake.windows[fake.window_last], pa, bytes)) {
        return &fake.windows[fake.window_last];
    }
    for (size_t i = 0; i < fake.window_count; i++) {
        if (is_in(&fake.windows[i], pa, bytes)) {
            fake.window_last = i;
            return &fake.windows[i];
        }
    }
    return NULL;
}

/* Aligned accesses do not cross pages. */
static uint64_t load(const struct window *window, uint64_t offset, unsigned bytes)
{
    uint16_t page = fake.pages[window->first + offset / FAKE_PAGE_BYTES];
    uint64_t value = 0;

    if (page != FAKE_NO_PAGE) {
        memcpy(&value, fake_storage_page(page) + offset % FAKE_PAGE_BYTES, bytes);
    }
    return value;
}

static void store(const struct window *window, uint64_t offset, unsigned bytes, uint64_t value)
{
    uint16_t *page = &fake.pages[window->first + offset / FAKE_PAGE_BYTES];

    if (*page == FAKE_NO_PAGE) {
        *page = fake_storage_add();
    }
    memcpy(fake_storage_page(*page) + offset % FAKE_PAGE_BYTES, &value, bytes);
}

uint64_t hosted_mmio_read(uint64_t pa, unsigned bytes)
{
    const struct window *window = window_at(pa, bytes);
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
    const struct window *window = window_at(pa, bytes);

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
    const struct window *window = window_at(pa, 4);

    if (window == NULL) {
        abort();
    }
    store(window, pa - window->pa, sizeof value, value);
}

uint32_t fake_barriers(enum fake_barrier which)
{
    return fake.barriers[which];
}

static void count(enum fake_barrier which, bool everywhere, uint64_t address)
{
    fake.barriers[which]++;
    if (fake.barrier_hook != NULL) {
        fake.barrier_hook(which, everywhere, address);
    }
}

void fake_hook_barriers(fake_barrier_hook hook)
{
    fake.barrier_hook = hook;
}

void arch_isb(void)
{
    count(FAKE_ISB, false, 0);
}

void arch_dsb_sy(void)
{
    count(FAKE_DSB_SY, false, 0);
}

void arch_dsb_ishst(void)
{
    count(FAKE_DSB_ISHST, false, 0);
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

void fake_pend_serror(bool pending)
{
    fake.serror[fake.core] = pending;
}

bool fake_serror_is_pending(void)
{
    return fake.serror[fake.core];
}

bool arch_take_serror(void)
{
    bool pending = fake.serror[fake.core];

    fake.serror[fake.core] = false;
    if (pending) { /* an exception of EL2 itself overwrites the guest's values in these registers */
        fake_set_sysreg(SYSREG_ID_ELR_EL2, EL2_ADDRESS);
        fake_set_sysreg(SYSREG_ID_SPSR_EL2, EL2_STATE);
    }
    return pending;
}

void fake_undefine_mpam(bool undefined)
{
    fake.mpam_undefined = undefined;
}

bool arch_mpam_probe(void)
{
    return !fake.mpam_undefined;
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

void arch_tlbi_el2_page(bool everywhere, uintptr_t address)
{
    count(FAKE_TLBI_EL2_PAGE, everywhere, address);
}

void arch_tlbi_stage2_page(bool everywhere, uint64_t ipa)
{
    count(FAKE_TLBI_STAGE2_PAGE, everywhere, ipa);
}

void arch_tlbi_stage1_all(bool everywhere)
{
    count(FAKE_TLBI_STAGE1_ALL, everywhere, 0);
}

void arch_tlbi_guest_all(bool everywhere)
{
    count(FAKE_TLBI_GUEST_ALL, everywhere, 0);
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

void arch_tlbi(enum tlbi_form form, bool everywhere, uint64_t operand)
{
    fake.tlbi = (struct fake_tlbi){fake.tlbi.count + 1, form, everywhere, operand};
}

struct fake_tlbi fake_last_tlbi(void)
{
    return fake.tlbi;
}

void arch_icache_invalidate(bool everywhere)
{
    fake.barriers[everywhere ? FAKE_ICACHE_INVALIDATE_EVERYWHERE : FAKE_ICACHE_INVALIDATE]++;
}

void arch_icache_invalidate_line(uintptr_t address)
{
    (void)address;
    fake.barriers[FAKE_ICACHE_LINE]++;
}

void arch_dcache_clean_line_to_unification(uintptr_t address)
{
    (void)address;
    fake.barriers[FAKE_DCACHE_CLEAN_LINE]++;
}

void fake_hook_translation(fake_translation_hook hook)
{
    fake.translation = hook;
}

uint64_t arch_translate_guest(uint64_t address, bool user)
{
    const uint64_t write_back = 0xFFull << 56;

    return fake.translation != NULL ? fake.translation(address, user)
                                    : write_back | (address & 0xFFFFFFFFF000ull);
}

void arch_fp_clear(void)
{
    fake.barriers[FAKE_FP_CLEAR]++;
}

void arch_fp_save(uint64_t words[ARCH_FP_WORDS])
{
    memset(words, 0, ARCH_FP_WORDS * sizeof words[0]);
    fake.barriers[FAKE_FP_SAVE]++;
}

void arch_fp_load(const uint64_t words[ARCH_FP_WORDS])
{
    (void)words;
    fake.barriers[FAKE_FP_LOAD]++;
}

/* In tests, physical addresses are addresses of the test's own objects. */
void *hosted_phys_pointer(paddr_t pa)
{
    return (void *)(uintptr_t)pa.value;
}
