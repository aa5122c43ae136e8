/* SPDX-License-Identifier: Apache-2.0
 *
 * Stand-in for hardware in unit tests: system registers of several cores as plain storage, device registers
 * as mapped windows, a log of every write, and counts of barriers. One host thread plays all cores in turn.
 * Models (fake_gic.h) attach through hooks. Of the hypervisor, it uses only the accessor headers.
 */
#ifndef BULKHEAD_FAKE_REGISTERS_H
#define BULKHEAD_FAKE_REGISTERS_H

#include <arch/maintenance.h>
#include <arch/mmio.h>
#include <arch/sysreg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_CORES 8u

/* Sets the state after power-on: registers zero, no windows, no hooks, empty log, core 0 executing. */
void fake_reset(void);

/* Selects the core that executes from now on. */
void fake_switch_core(uint32_t core);
uint32_t fake_current_core(void);

/* A system register of the executing core, accessed without hooks and log. */
uint64_t fake_sysreg(enum sysreg_id id);
void fake_set_sysreg(enum sysreg_id id, uint64_t value);
/* A system register of any core, accessed without hooks and log. */
uint64_t fake_core_sysreg(uint32_t core, enum sysreg_id id);
void fake_set_core_sysreg(uint32_t core, enum sysreg_id id, uint64_t value);

/* A hook returns true if it has handled the access; otherwise the access goes to the storage. */
typedef bool (*fake_sysreg_read_hook)(enum sysreg_id id, uint64_t *value);
typedef bool (*fake_sysreg_write_hook)(enum sysreg_id id, uint64_t value);
void fake_hook_sysregs(fake_sysreg_read_hook read, fake_sysreg_write_hook write);
/* Hooks for the performance monitors (fake_pmu.h), called after the hooks above. */
void fake_hook_monitors(fake_sysreg_read_hook read, fake_sysreg_write_hook write);

/* Maps a window of device registers, initially zero. `offset` in hooks counts from `pa`. An access outside
 * all windows counts as a fault (fake_faults()) and reads as zero. */
typedef bool (*fake_mmio_read_hook)(uint64_t offset, unsigned bytes, uint64_t *value);
typedef bool (*fake_mmio_write_hook)(uint64_t offset, unsigned bytes, uint64_t value);
void fake_map(uint64_t pa, size_t bytes, fake_mmio_read_hook read, fake_mmio_write_hook write);
uint32_t fake_faults(void);

/* Device registers, accessed without hooks and log. The address must be in a window. */
uint32_t fake_mmio32(uint64_t pa);
void fake_set_mmio32(uint64_t pa, uint32_t value);

/* The log: every write of the code under test, in order. */
struct fake_write {
    uint32_t core;
    bool is_mmio;
    enum sysreg_id id; /* system register */
    uint64_t pa;       /* device register */
    unsigned bytes;
    uint64_t value;
};
size_t fake_write_count(void);
const struct fake_write *fake_write_at(size_t index);
void fake_forget_writes(void);

/* Number of system-register accesses, including reads, since fake_forget_writes(). */
size_t fake_sysreg_access_count(void);

enum fake_barrier {
    FAKE_ISB,
    FAKE_DSB_SY,
    FAKE_DSB_ISHST,
    FAKE_WFI,
    FAKE_WFE,
    FAKE_SEV,
    FAKE_TLBI_LOCAL_ALL,
    FAKE_TLBI_EL2_PAGE,
    FAKE_TLBI_STAGE2_PAGE,
    FAKE_TLBI_STAGE1_ALL,
    FAKE_TLBI_GUEST_ALL,
    FAKE_ICACHE_INVALIDATE_LOCAL,
    FAKE_DCACHE_LINE,
    FAKE_FP_CLEAR,
    FAKE_FP_SAVE,
    FAKE_FP_LOAD,
    FAKE_ICACHE_INVALIDATE, /* executed for a guest: on this core; on all cores */
    FAKE_ICACHE_INVALIDATE_EVERYWHERE,
    FAKE_ICACHE_LINE,
    FAKE_DCACHE_CLEAN_LINE,
    FAKE_BARRIER_COUNT,
};
uint32_t fake_barriers(enum fake_barrier which);

/* Called when the code under test executes ISB, a DSB or a TLBI of its own tables, so that a test can check
 * their order and the memory's content at that time. `everywhere` and `address` are those of the TLBI. */
typedef void (*fake_barrier_hook)(enum fake_barrier which, bool everywhere, uint64_t address);
void fake_hook_barriers(fake_barrier_hook hook);

/* Sets whether the executing core has an asynchronous abort that EL2 has not taken. */
void fake_pend_serror(bool pending);
bool fake_serror_is_pending(void);

/* Sets whether firmware keeps MPAM's registers to itself. */
void fake_undefine_mpam(bool undefined);

/* The last TLBI that EL2 has executed for a guest. */
struct fake_tlbi {
    uint32_t count; /* number of all such TLBIs */
    enum tlbi_form form;
    bool everywhere;
    uint64_t operand;
};
struct fake_tlbi fake_last_tlbi(void);

/* Value of PAR_EL1 for an address of the executing core's guest. Without a hook: normal memory at the same
 * address. */
typedef uint64_t (*fake_translation_hook)(uint64_t address, bool user);
void fake_hook_translation(fake_translation_hook hook);

/* Called when the code under test waits for an interrupt, instead of waiting. The hook may leave by
 * longjmp. */
void fake_hook_wfi(void (*hook)(void));

#ifdef __cplusplus
}
#endif

#endif
