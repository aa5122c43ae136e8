/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of an SMMUv3 that the driver uses (IHI 0070, chapter 6), and what its files share.
 */
#ifndef BULKHEAD_SMMUV3_REGISTERS_H
#define BULKHEAD_SMMUV3_REGISTERS_H

#include "iommu/smmu_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SMMU_IDR0            0x00u
#define SMMU_IDR1            0x04u
#define SMMU_IDR3            0x0Cu
#define SMMU_IDR5            0x14u
#define SMMU_CR0             0x20u
#define SMMU_CR0ACK          0x24u
#define SMMU_CR1             0x28u
#define SMMU_CR2             0x2Cu
#define SMMU_GBPA            0x44u
#define SMMU_IRQ_CTRL        0x50u
#define SMMU_IRQ_CTRLACK     0x54u
#define SMMU_GERROR          0x60u
#define SMMU_GERROR_IRQ_CFG0 0x68u
#define SMMU_EVENTQ_IRQ_CFG0 0xB0u
#define SMMU_GERRORN         0x64u
#define SMMU_STRTAB_BASE     0x80u
#define SMMU_STRTAB_BASE_CFG 0x88u
#define SMMU_CMDQ_BASE       0x90u
#define SMMU_CMDQ_PROD       0x98u
#define SMMU_CMDQ_CONS       0x9Cu
#define SMMU_EVENTQ_BASE     0xA0u
#define SMMU_EVENTQ_PROD     0x100A8u
#define SMMU_EVENTQ_CONS     0x100ACu

#define IDR0_S2P              (1u << 0)
#define IDR0_TTF_AARCH32      (1u << 2)
#define IDR0_TTF_AARCH64      (1u << 3)
#define IDR0_ATS              (1u << 10)
#define IDR0_COHACC           (1u << 4)
#define IDR0_TTENDIAN_BIG     (3u << 21)
#define IDR0_STALL_FORCED     (2u << 24)
#define IDR0_STALL_MASK       (3u << 24)
#define IDR0_ST_LEVEL_2       (1u << 27)
#define IDR1_SIDSIZE(idr1)    ((idr1)&0x3Fu)
#define IDR1_EVENTQS(idr1)    ((idr1) >> 16 & 0x1Fu)
#define IDR1_CMDQS(idr1)      ((idr1) >> 21 & 0x1Fu)
#define IDR1_PRESET           (3u << 29) /* of tables, of queues: their places are fixed */
#define IDR3_FWB              (1u << 8)
#define IDR5_OAS(idr5)        ((idr5)&7u)
#define IDR5_GRAN4K           (1u << 4)
#define CR0_SMMUEN            (1u << 0)
#define CR0_EVENTQEN          (1u << 2)
#define CR0_ATSCHK            (1u << 4) /* accesses that a device calls translated are checked, too */
#define CR0_CMDQEN            (1u << 3)
#define CR1_COHERENT          0xD75u     /* tables and queues: inner shareable, write-back */
#define CR2_RECINVSID         (1u << 1)  /* accesses of streams beyond the table are events, too */
#define CR2_PTM               (1u << 2)  /* cores' broadcast TLB maintenance has no effect here */
#define GBPA_ABORT            (1u << 20) /* of all accesses while the SMMU is disabled */
#define GBPA_UPDATE           (1u << 31)
#define IRQ_GERROR            (1u << 0)
#define IRQ_EVENTQ            (1u << 2)
#define GERROR_CMDQ_ERR       (1u << 0)
#define GERROR_EVENTQ_ABT_ERR (1u << 2)
#define GERROR_SFM_ERR        (1u << 8)
#define STRTAB_FORMAT_2LEVEL  (1u << 16)
#define STRTAB_SPLIT_SHIFT    6
#define BASE_ALLOCATE         (1ull << 62) /* hint: the SMMU's accesses allocate in caches */
#define EVENTQ_OVERFLOW       (1u << 31)   /* toggles when events are lost; CONS has the acknowledged value */

/* Queues of a page each: it is aligned and contiguous also in a colored pool. */
#define SMMU_COMMANDS_LOG2 8u
#define SMMU_EVENTS_LOG2   7u

/* smmuv3_commands.c: the command queue. Commands of all cores are serialized by a lock. */
/* Allocates the queue; false if the pool is exhausted. */
bool smmu_commands_init(void);
/* Places the queue in the SMMU's registers, whose CR0.CMDQEN is 0. */
void smmu_commands_place(void);
/* Makes the SMMU forget all configuration and translations that it has cached. Returns a ticket. */
uint64_t smmu_commands_forget_all(void);
/* The stream table's entries of the domain have changed. `translations`: its translations must be forgotten,
 * too. Returns a ticket. */
uint64_t smmu_commands_domain(const struct domain *domain, bool translations);
/* Waits until smmu_is_done(ticket), for `most_ns` nanoseconds at most; false after that time. */
bool smmu_commands_wait(uint64_t ticket, uint64_t most_ns);

/* smmuv3_events.c: the event queue and global errors. */
bool smmu_events_init(void);
void smmu_events_place(void);

#ifdef __cplusplus
}
#endif

#endif
