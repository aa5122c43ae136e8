/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine as a whole: manifest, statistics, start and end.
 */
#include "vm/system.h"
#include "base/image.h"
#include "memory/table_memory.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include <arch/barrier.h>
#include <arch/smc.h>
#include <stdatomic.h>

#define PSCI_SYSTEM_OFF 0x84000008u

_Static_assert(sizeof(struct status_system) <= BH_PAGE_BYTES && sizeof(struct status_core) <= BH_PAGE_BYTES,
               "a page of statistics for the system, and one for each core");

static struct {
    const struct manifest_header *manifest;
    struct pool pool;
    _Atomic uint32_t ending; /* enum bh_end_reason */
} system;

const struct manifest_header *system_manifest(void)
{
    return system.manifest;
}

struct pool *system_pool(void)
{
    return &system.pool;
}

struct status_system *system_status(void)
{
    return (struct status_system *)(void *)status_pages;
}

struct status_core *system_core_status(uint32_t core)
{
    return (struct status_core *)(void *)(status_pages + (core + 1) * (size_t)BH_PAGE_BYTES);
}

void system_init(const struct boot_handover *handover)
{
    char *linear = image_start;
    struct status_system *status = system_status();

    atomic_store(&system.ending, (uint32_t)BH_END_REASON_NONE);
    system.manifest =
        (const struct manifest_header *)(void *)(linear + handover->manifest_frame * BH_PAGE_BYTES);
    system.pool = (struct pool){
        .range = manifest_pool_range(system.manifest),
        .frames = system.manifest->hypervisor.pool_bytes / BH_PAGE_BYTES,
        .used = handover->pool_used,
        .linear = linear,
    };
    atomic_store(&system.ending, BH_END_REASON_NONE);
    status->magic = BH_STATUS_MAGIC;
    status->version = BH_LAYOUT_VERSION;
    status->core_count = system.manifest->cpus.count;
    status->domain_count = system.manifest->domains.count;
    status->counter_hz = clock_hz();
    status->ttbr0_el2 = handover->ttbr0;
    status->pool_frames = system.pool.frames;
    for (uint32_t core = 0; core < system.manifest->cpus.count; core++) {
        system_core_status(core)->magic = BH_STATUS_MAGIC;
        system_core_status(core)->core = core;
        system_core_status(core)->domain = BH_ALL_DOMAINS;
    }
}

void system_started(void)
{
    struct status_system *status = system_status();

    table_memory_seal();
    status->pool_used = system.pool.used;
    status->started_at = clock_now();
    clock_set_start(status->started_at);
    arch_dsb_ishst();
    *(volatile uint32_t *)&status->phase = BH_PHASE_STARTED;
}

void system_end(enum bh_end_reason reason)
{
    uint32_t none = BH_END_REASON_NONE;

    if (atomic_compare_exchange_strong(&system.ending, &none, (uint32_t)reason)) {
        cpu_send_request(cpu_at(system.manifest->hypervisor.console_core), CPU_REQUEST_CONSOLE);
    }
}

bool system_is_ending(void)
{
    return atomic_load(&system.ending) != BH_END_REASON_NONE;
}

void system_ended(void)
{
    system_status()->end_reason = atomic_load(&system.ending);
    system_status()->ended_at = clock_now();
}

_Noreturn void system_power_off(void)
{
    arch_dsb_sy();
    arch_smc(PSCI_SYSTEM_OFF, 0, 0, 0);
    for (;;) {
        arch_wfi();
    }
}
