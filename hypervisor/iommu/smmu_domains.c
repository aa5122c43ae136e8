/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams of domains, whatever the SMMU: its start, when they are translated, and which work of the SMMU a
 * domain waits for. Each driver gives a ticket for its work (smmu_driver.h).
 */
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmu_driver.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include <stdatomic.h>
#include <string.h>

/* Shortest and longest time between two checks whether the SMMU has done its work. */
#define FIRST_LOOK_NS 50000u
#define LAST_LOOK_NS  100000000u

/* Work of the SMMU that a core waits for. */
struct execution {
    _Atomic uint64_t ticket; /* cores ask without a lock */
    _Atomic uint64_t begun_ticks;
    _Atomic bool late; /* counted: the SMMU has not done it in time */
};

static struct {
    bool has_streams[BH_MAX_DOMAINS];
    struct execution stops[BH_MAX_DOMAINS];      /* of a domain's last stop, */
    struct execution unmappings[BH_MAX_DOMAINS]; /* and of the last unmapping in its tables */
    struct status_smmu *status;
} domains;

struct status_smmu *smmu_status(void)
{
    return domains.status;
}

uint32_t smmu_address_bits(uint32_t size)
{
    static const uint8_t bits[] = {32, 36, 40, 42, 44, 48};

    return bits[size < sizeof bits ? size : sizeof bits - 1];
}

bool smmu_reaches_memory(uint32_t size)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_ram *ram = manifest_ram_ranges(manifest);

    for (uint32_t i = 0; i < manifest->ram.count; i++) {
        if ((ram[i].pa + ram[i].bytes - 1) >> smmu_address_bits(size) != 0) {
            return false;
        }
    }
    return true;
}

bool smmu_wait(paddr_t address, uint32_t mask, uint32_t value, uint64_t most_ns)
{
    uint64_t deadline = clock_now() + clock_ticks(most_ns);

    while ((mmio_read32(address) & mask) != value) {
        if (clock_now() > deadline) {
            return false;
        }
    }
    return true;
}

static bool make_status(void)
{
    domains.status = pool_allocate_bytes(system_pool(), sizeof *domains.status);
    if (domains.status == NULL) {
        return false;
    }
    system_status()->smmu_frame = pool_frame_number(system_pool(), domains.status);
    return true;
}

enum bh_manifest_error smmu_init(void)
{
    const struct manifest_header *manifest = system_manifest();
    const char *lacks;

    memset(&domains, 0, sizeof domains);
    smmu_refusals_init();
    if (manifest->smmu.pa == 0) {
        return BH_MANIFEST_ERROR_NONE;
    }
    lacks = smmu_missing();
    if (lacks != NULL) {
        console_log("SMMU: %s", lacks);
        return BH_MANIFEST_ERROR_IOMMU;
    }
    if (!make_status() || !smmu_build()) {
        return BH_MANIFEST_ERROR_POOL_EXHAUSTED;
    }
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        domains.has_streams[manifest_streams(manifest)[i].domain] = true;
    }
    if (!smmu_enable()) {
        console_log("SMMU: it does not answer");
        return BH_MANIFEST_ERROR_IOMMU;
    }
    console_log("SMMU: %u stream%s of domains, all others are refused", manifest->streams.count,
                manifest->streams.count == 1 ? "" : "s");
    return BH_MANIFEST_ERROR_NONE;
}

static void begin(struct execution *execution, uint64_t ticket)
{
    atomic_store(&execution->late, false);
    atomic_store(&execution->begun_ticks, clock_now());
    atomic_store(&execution->ticket, ticket);
}

/* Nobody waits: until the SMMU has done it, accesses of the devices are aborted. */
void smmu_domain_start(const struct domain *domain)
{
    if (domains.has_streams[domain->index]) {
        (void)smmu_route(domain, true);
    }
}

void smmu_domain_stop(const struct domain *domain)
{
    if (domains.has_streams[domain->index]) {
        begin(&domains.stops[domain->index], smmu_route(domain, false));
    }
}

/* The core looks again after as long as the SMMU has taken so far, within limits, or earlier if it does so
 * for another domain. */
static void look_later(uint64_t taken_ticks)
{
    uint64_t first = clock_ticks(FIRST_LOOK_NS);
    uint64_t last = clock_ticks(LAST_LOOK_NS);
    uint64_t wait = taken_ticks < first ? first : taken_ticks > last ? last : taken_ticks;
    uint64_t look = clock_now() + wait;
    uint64_t earlier = this_cpu()->rare_alarms[RARE_ALARM_QUIET];

    if (earlier == 0 || earlier > look) {
        rare_alarm_set(RARE_ALARM_QUIET, look);
    }
}

/* Whether the work is done. If not, this core looks again later. `*late` is set at the first call that finds
 * that its time has passed. */
static bool is_over(struct execution *execution, bool *late)
{
    uint64_t taken_ticks;

    *late = false;
    if (smmu_is_done(atomic_load(&execution->ticket))) {
        return true;
    }
    taken_ticks = clock_now() - atomic_load(&execution->begun_ticks);
    if (taken_ticks > clock_ticks(SMMU_RUN_WAIT_NS) && !atomic_exchange(&execution->late, true)) {
        *late = true;
        __atomic_fetch_add(&smmu_status()->unanswered, 1, __ATOMIC_RELAXED);
    }
    look_later(taken_ticks);
    return false;
}

void smmu_domain_unmapped(const struct domain *domain)
{
    if (domains.has_streams[domain->index]) {
        begin(&domains.unmappings[domain->index], smmu_forget(domain));
    }
}

/* Not logged: a guest can cause this again and again. */
bool smmu_domain_is_unmapped(const struct domain *domain)
{
    bool late;

    return !domains.has_streams[domain->index] || is_over(&domains.unmappings[domain->index], &late);
}

/* A VCPU may have hidden its flash after the stop, before it saw the stop: the next life must not begin with
 * an unmapping under way. */
bool smmu_domain_is_quiet(const struct domain *domain)
{
    bool late = false;
    bool quiet = !domains.has_streams[domain->index] ||
                 (is_over(&domains.stops[domain->index], &late) && smmu_domain_is_unmapped(domain));

    if (late) {
        console_log("SMMU: it does not answer, '%s' cannot be restarted before it does",
                    domain->config->name);
    }
    return quiet;
}
