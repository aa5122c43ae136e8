/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the board's SMMU: an SMMUv3 (IHI 0070) or an SMMUv2 (IHI 0062), by the files that the program
 * has. A stream of a domain's device is translated by stage 2 with the domain's own tables, those of its
 * VCPUs, while the domain runs; otherwise its accesses are aborted. Every other stream is always aborted. The
 * SMMU reports refused accesses; the console core counts them for the domain. On a board or system without an
 * SMMU the functions do nothing. no_smmu.c has the stubs for programs without a driver.
 * docs/design/devices.md has the design.
 */
#ifndef BULKHEAD_SMMU_H
#define BULKHEAD_SMMU_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;
struct domain;

/* Aborts the accesses of all devices behind the SMMU, whatever a boot loader has set up. Called on the first
 * core with the MMU off, before anything is loaded. False if the SMMU does not answer in time, or is of
 * another version than the driver. */
bool smmu_silence(const struct manifest_header *manifest);

/* Compares the SMMU with the manifest, gives it queues and a stream table in the pool and enables it; every
 * stream is aborted. Called on the first core, after the domains' tables are built and before the pool is
 * sealed. BH_MANIFEST_ERROR_NONE, also without an SMMU; BH_MANIFEST_ERROR_POOL_EXHAUSTED;
 * BH_MANIFEST_ERROR_IOMMU if the SMMU lacks something or does not answer in time, which is logged. EL2 must
 * not go on after an error. */
enum bh_manifest_error smmu_init(void);

/* Enables the SMMU's interrupts. Called on the console core `cpu`, when it takes interrupts. */
void smmu_start(const struct cpu *cpu);

/* The domain starts: its streams are translated as soon as the SMMU has executed the commands. Does not
 * wait. */
void smmu_domain_start(const struct domain *domain);

/* The domain does not run any more: its streams are aborted. Does not wait: memory of the domain may be
 * written by its devices until smmu_domain_is_quiet(). */
void smmu_domain_stop(const struct domain *domain);

/* Whether no access of the domain's streams can reach memory any more, and smmu_domain_is_unmapped(). Does
 * not wait: if the answer is false, RARE_ALARM_QUIET interrupts this core when it should ask again. False for
 * ever if the SMMU never answers. Called only on the core of the domain's first VCPU. */
bool smmu_domain_is_quiet(const struct domain *domain);

/* Entries of the domain's stage-2 tables have become invalid, and smmu_domain_is_unmapped() is true. Does not
 * wait: devices may use the entries until it is true again. */
void smmu_domain_unmapped(const struct domain *domain);

/* Whether devices use no entry that was invalid at the last smmu_domain_unmapped(). Does not wait: if the
 * answer is false, RARE_ALARM_QUIET interrupts this core when it should ask again. False for ever if the SMMU
 * never answers. */
bool smmu_domain_is_unmapped(const struct domain *domain);

/* Handles interrupt `intid` if it is the SMMU's: sets RARE_ALARM_SMMU, which does the work. False if it is
 * not. Called on the console core. */
bool smmu_interrupt(uint32_t intid);

/* RARE_ALARM_SMMU is due: handles global errors and a bounded number of events. Called on the console
 * core. */
void smmu_alarm(void);

/* At the end of a run: handles the remaining events and logs how many accesses of each domain were refused.
 * Called on the console core. */
void smmu_end(void);

#ifdef __cplusplus
}
#endif

#endif
