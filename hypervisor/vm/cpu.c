/* SPDX-License-Identifier: Apache-2.0
 *
 * The array of cores, and requests between them.
 */
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/gic.h>
#include <stddef.h>

#define EL2_SGI        0u
#define MPIDR_AFFINITY 0xFF00FFFFFFull

static struct cpu cpus[BH_MAX_CORES];

struct cpu *cpu_at(uint32_t index)
{
    return &cpus[index];
}

void cpu_init_all(void)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        cpus[i].index = i;
        cpus[i].vcpu = NULL;
        cpus[i].pinned = NULL;
        cpus[i].shared = NULL;
        atomic_store(&cpus[i].requests, 0);
        cpus[i].mpidr = manifest_cpus(manifest)[i].mpidr;
        cpus[i].status = system_core_status(i);
    }
}

uint32_t cpu_find(uint64_t mpidr)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        if (manifest_cpus(manifest)[i].mpidr == (mpidr & MPIDR_AFFINITY)) {
            return i;
        }
    }
    return BH_MAX_CORES;
}

void cpu_take_early_requests(const struct cpu *self)
{
    gic_send_sgi(self->mpidr, EL2_SGI);
}

void cpu_send_request(struct cpu *target, uint32_t request)
{
    uint32_t before = atomic_fetch_or_explicit(&target->requests, request, memory_order_acq_rel);

    /* The target clears all bits at once after the interrupt, so one interrupt is enough for all of them. */
    if (before == 0) {
        gic_send_sgi(target->mpidr, EL2_SGI);
    }
}
