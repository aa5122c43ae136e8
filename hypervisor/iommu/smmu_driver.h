/* SPDX-License-Identifier: Apache-2.0
 *
 * What a driver of an SMMU offers beside smmu_silence(), and what it can use: smmu_domains.c knows which
 * streams may be translated, smmu_refusals.c counts what was refused. Other rooms use smmu.h.
 */
#ifndef BULKHEAD_SMMU_DRIVER_H
#define BULKHEAD_SMMU_DRIVER_H

#include "core/manifest.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;

/* Longest times to wait for an answer. */
#define SMMU_START_WAIT_NS 100000000ull
#define SMMU_RUN_WAIT_NS   100000ull

/* The tables of domains are of stage 2, whose permissions mean something else in stage 1. So without stage 2
 * devices cannot be confined, and the platform file must not say that EL2 drives the SMMU. */
#define SMMU_NO_STAGE2 "no stage 2; the platform file must say driven: false"

#define VTTBR_VMID(vttbr) ((vttbr) >> 48)
#define VTTBR_ROOT        0xFFFFFFFFFFFFull

static inline paddr_t smmu_register(uint32_t offset)
{
    return paddr(system_manifest()->smmu.pa + offset);
}

static inline uint32_t smmu_read(uint32_t offset)
{
    return mmio_read32(smmu_register(offset));
}

static inline void smmu_write(uint32_t offset, uint32_t value)
{
    mmio_write32(smmu_register(offset), value);
}

/* Of the driver, at the start. Why it cannot use this SMMU; NULL: it can. */
const char *smmu_missing(void);
/* Allocates what the SMMU needs of the pool; false if the pool is exhausted. */
bool smmu_build(void);
/* Enables the SMMU; every stream is aborted. False if the SMMU does not answer in time. */
bool smmu_enable(void);
/* Makes the SMMU interrupt for refusals and errors. `*edge`: its interrupts are edges. False if it does not
 * answer. */
bool smmu_listen(bool *edge);

/* Of the driver, later. None of these functions waits. */
/* The domain's streams are translated (`on`) or aborted from now on. In the second case its translations are
 * forgotten, too. Returns a ticket. */
uint64_t smmu_route(const struct domain *domain, bool on);
/* The domain's translations must be forgotten. Returns a ticket. */
uint64_t smmu_forget(const struct domain *domain);
/* Whether the SMMU has done what the ticket is for, and all accesses that began before are complete. */
bool smmu_is_done(uint64_t ticket);
/* Handles global errors, and then at most `most` events. Returns whether events are left for which there
 * may be no further interrupt. */
bool smmu_take(uint32_t most);

/* smmu_domains.c. The status page. */
struct status_smmu *smmu_status(void);
/* Waits until the register's bits in `mask` are `value`; false after `most_ns` nanoseconds. */
bool smmu_wait(paddr_t address, uint32_t mask, uint32_t value, uint64_t most_ns);

/* Number of address bits by their code in ID registers, the same in both architectures; of codes for more
 * than 48 bits, 48. */
uint32_t smmu_address_bits(uint32_t size);
/* Whether the SMMU, whose output size has this code, can read all tables, and its translations reach all
 * memory. */
bool smmu_reaches_memory(uint32_t size);

/* smmu_refusals.c. Forgets what has been logged. */
void smmu_refusals_init(void);
/* An access was refused, for `type`, which is what the SMMU's manual numbers. `domain`: whose access it was;
 * SMMU_OF_STREAM: the stream tells. `reason` is NULL if neither the device nor its domain is to blame. Counts
 * and logs it. */
#define SMMU_OF_STREAM UINT32_MAX
struct smmu_refusal {
    uint32_t type;
    uint32_t stream;
    uint32_t domain;
    uint64_t address;
    bool read;
    const char *reason;
};
void smmu_count(const struct smmu_refusal *refusal);

#ifdef __cplusplus
}
#endif

#endif
