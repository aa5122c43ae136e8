/* SPDX-License-Identifier: Apache-2.0
 *
 * Refused accesses and global errors, whatever the SMMU, on the console core. An interrupt only disables the
 * SMMU's interrupts and sets an alarm. The alarm handles a bounded number of events. If some are left, it
 * comes again after the same time; otherwise it enables the interrupts. So devices that are refused all the
 * time cost the core one bounded step in each interval, whatever they do.
 */
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmu_driver.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/rare_alarm.h"
#include <arch/gic.h>
#include <string.h>

#define EVENTS_OF_A_STEP 16u

static struct {
    bool logged_nobody;
    /* A refusal of that stream of the manifest has been logged; after the last stream: of others. */
    bool logged[BH_MAX_STREAMS + 1];
} refusals;

void smmu_refusals_init(void)
{
    memset(&refusals, 0, sizeof refusals);
}

/* The stream's row in the manifest; the number of rows if no domain has it. */
static uint32_t row_of(uint32_t stream)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t row = 0;

    while (row < manifest->streams.count && manifest_streams(manifest)[row].stream != stream) {
        row++;
    }
    return row;
}

void smmu_count(const struct smmu_refusal *refusal)
{
    const struct manifest_header *manifest = system_manifest();
    struct status_smmu *status = smmu_status();
    uint32_t row = row_of(refusal->stream);
    uint32_t domain = refusal->domain;

    status->last_type = refusal->type;
    status->last_stream = refusal->stream;
    status->last_address = refusal->address;
    if (domain == SMMU_OF_STREAM && row == manifest->streams.count) {
        status->nobody++;
        if (!refusals.logged_nobody) {
            refusals.logged_nobody = true;
            console_log("SMMU: stream %x, which no domain has, is refused (event %x); counted from now on",
                        refusal->stream, refusal->type);
        }
        return;
    }
    domain = domain == SMMU_OF_STREAM ? manifest_streams(manifest)[row].domain : domain;
    if (refusal->reason == NULL) {
        status->other++;
    } else {
        status->refused[domain]++;
    }
    if (!refusals.logged[row]) {
        refusals.logged[row] = true;
        console_log("SMMU: stream %x of '%s': %s of %lx is refused, %s (event %x); counted from now on",
                    refusal->stream, manifest_domains(manifest)[domain].name,
                    refusal->read ? "read" : "write", refusal->address,
                    refusal->reason != NULL ? refusal->reason : "it could not be translated", refusal->type);
    }
}

static void set_alarm(void)
{
    rare_alarm_set(RARE_ALARM_SMMU, clock_now() + clock_ticks(BH_SMMU_STEP_INTERVAL_NS));
}

static void enable_interrupts(uint64_t mpidr)
{
    gic_enable(system_manifest()->smmu.event_irq, mpidr);
    gic_enable(system_manifest()->smmu.error_irq, mpidr);
}

/* What came before the interrupts were enabled is found by the first alarm. */
void smmu_start(const struct cpu *cpu)
{
    const struct manifest_smmu *config = &system_manifest()->smmu;
    bool edge = false;

    if (config->pa == 0) {
        return;
    }
    if (!smmu_listen(&edge)) {
        __atomic_fetch_add(&smmu_status()->unanswered, 1, __ATOMIC_RELAXED);
        console_log("SMMU: it does not answer, refused accesses may go unnoticed");
    }
    gic_set_edge(config->event_irq, edge);
    gic_set_edge(config->error_irq, edge);
    enable_interrupts(cpu->mpidr);
    set_alarm();
}

bool smmu_interrupt(uint32_t intid)
{
    const struct manifest_smmu *config = &system_manifest()->smmu;

    if (config->pa == 0 || (intid != config->event_irq && intid != config->error_irq)) {
        return false;
    }
    gic_disable(config->event_irq);
    gic_disable(config->error_irq);
    smmu_status()->interrupts++;
    set_alarm();
    return true;
}

/* An event that comes after the last look makes the interrupt pending. */
void smmu_alarm(void)
{
    if (smmu_take(EVENTS_OF_A_STEP)) {
        set_alarm();
    } else {
        enable_interrupts(this_cpu()->mpidr);
    }
}

void smmu_end(void)
{
    const struct manifest_header *manifest = system_manifest();

    if (smmu_status() == NULL) {
        return;
    }
    (void)smmu_take(UINT32_MAX);
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (smmu_status()->refused[i] != 0) {
            console_log("SMMU: %lu accesses of devices of '%s' were refused, or more if events were lost",
                        smmu_status()->refused[i], manifest_domains(manifest)[i].name);
        }
    }
}
