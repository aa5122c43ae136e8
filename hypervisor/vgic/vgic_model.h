/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of a guest's interrupt controller that depends on the GIC's version: which frames are emulated at
 * which addresses, and which system registers exist. Trap handlers call it without knowing the version. Each
 * arch/gicv* has an implementation; one of them is linked in.
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

/* The emulated frame at guest-physical address `ipa`; `*offset` is the address's offset within the frame. */
enum vgic_frame vgic_frame_at(const struct domain *domain, uint64_t ipa, uint64_t *offset);

/* Handles an access of the executing VCPU. Registers that do not exist read as zero and ignore writes.
 * Returns false if the register does not have this access width, or if the offset is outside the domain's
 * frames. */
bool vgic_frame_access(struct vcpu *vcpu, enum vgic_frame frame, struct mmio_access *access);

/* Fast path of vgic_frame_access() for reads of 32 bits that need no lock. `offset` is a multiple of 4 in the
 * distributor. Returns false for registers that need the lock. */
bool vgic_dist_read_unlocked(const struct domain *domain, uint64_t offset, uint64_t *value);

/* Fast path of vgic_frame_access() for a write of 32 bits to the distributor's register that sends
 * software-generated interrupts, if the version has one. Returns false for all other registers. */
bool vgic_dist_send_sgi(struct vcpu *vcpu, uint64_t offset, uint32_t value);

/* Handles an MRS or MSR of the executing VCPU; `encoding` as of SYSREG_ENCODING(). Returns false if the
 * guest's interrupt controller has no such register; otherwise counts the exit. */
bool vgic_sysreg_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value);

/* Maps the registers of the interrupt controller that a domain uses without traps. Called when its stage 2 is
 * built. Returns false if the pool is exhausted. */
bool vgic_map_registers(const struct stage2 *stage2);

#ifdef __cplusplus
}
#endif

#endif
