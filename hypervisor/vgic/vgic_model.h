/* SPDX-License-Identifier: Apache-2.0
 *
 * What a guest sees of its interrupt controller, as far as it depends on the GIC's version: which frames are
 * emulated, where, and which system registers. Trap handlers call it, without knowing the version; it is
 * implemented once in each arch/gicv*, and one of them is linked in.
 */
#ifndef BULKHEAD_VGIC_MODEL_H
#define BULKHEAD_VGIC_MODEL_H

#include "base/mmio_access.h"
#include "memory/pool.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct domain;
struct stage2;
struct vcpu;

enum vgic_frame {
    VGIC_FRAME_NONE,
    VGIC_FRAME_DISTRIBUTOR,
    VGIC_FRAME_REDISTRIBUTOR,
};

/* The emulated frame at a guest-physical address, and the address's distance from the frame's start. */
enum vgic_frame vgic_frame_at(const struct domain *domain, uint64_t ipa, uint64_t *offset);

/* An access of the executing VCPU. Registers that do not exist read as zero and ignore writes; false: a width
 * that the register does not have, or a place outside of the domain's frames. */
bool vgic_frame_access(struct vcpu *vcpu, enum vgic_frame frame, struct mmio_access *access);

/* The distributor's register at `offset`, a multiple of 4, if its 32 bits can be read without the domain's
 * lock: the short way of vgic_frame_access(). Returns false for all others. */
bool vgic_dist_read_unlocked(const struct domain *domain, uint64_t offset, uint64_t *value);

/* 32 bits are written to the distributor's register at `offset` that sends software-generated interrupts,
 * where it has one: the short way of vgic_frame_access(). Returns false for all others. */
bool vgic_dist_send_sgi(struct vcpu *vcpu, uint64_t offset, uint32_t value);

/* MRS or MSR of the executing VCPU, encoded as in SYSREG_ENCODING(). Returns false if the guest's interrupt
 * controller has no such register; else counts the exit. */
bool vgic_sysreg_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value);

/* Gives a domain the registers of the interrupt controller that it uses without traps. When its stage 2 is
 * built; false when the pool is exhausted. */
bool vgic_map_registers(const struct stage2 *stage2);

#ifdef __cplusplus
}
#endif

#endif
