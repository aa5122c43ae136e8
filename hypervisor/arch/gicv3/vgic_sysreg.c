/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the CPU interface that hardware does not virtualize (IHI 0069, chapter 12.2): generation of
 * software-generated interrupts, and selection of the interface.
 */
#include "base/syndrome.h"
#include "vgic/vgic.h"
#include "vgic/vgic_internal.h"
#include "vgic/vgic_model.h"

#include <arch/vgic_frames.h>

#define ICC_SGI1R  SYSREG_ENCODING(3u, 0u, 12u, 11u, 5u)
#define ICC_ASGI1R SYSREG_ENCODING(3u, 0u, 12u, 11u, 6u)
#define ICC_SGI0R  SYSREG_ENCODING(3u, 0u, 12u, 11u, 7u)
#define ICC_SRE    SYSREG_ENCODING(3u, 0u, 12u, 12u, 5u)

#define ICC_SRE_ONLY 0x7u /* the system-register interface is always enabled */

#define SGI1R_TARGETS(value) ((uint32_t)(value)&0xFFFF)
#define SGI1R_INTID(value)   ((uint32_t)((value) >> 24) & 0xF)
#define SGI1R_RANGE(value)   ((uint32_t)((value) >> 44) & 0xF)
#define SGI1R_ALL_OTHERS     (UINT64_C(1) << 40)
#define SGI1R_AFFINITY_3_2_1 UINT64_C(0x00FF00FF00FF0000)

void vgic_sgi1r_write(struct vcpu *vcpu, uint64_t value)
{
    uint32_t targets = 0;

    if ((value & SGI1R_ALL_OTHERS) != 0) {
        targets = ~(1u << vcpu->index);
    } else if ((value & SGI1R_AFFINITY_3_2_1) == 0 && SGI1R_RANGE(value) < 2) {
        targets = SGI1R_TARGETS(value) << 16 * SGI1R_RANGE(value); /* affinity 0 is the index of the VCPU */
    }
    vgic_send_sgi(vcpu, SGI1R_INTID(value), targets);
}

bool vgic_sysreg_access(struct vcpu *vcpu, uint32_t encoding, bool write, uint64_t *value)
{
    if (encoding == ICC_SGI1R && write) {
        cpu_count_exit(vcpu->cpu, BH_EXIT_REASON_SGI_REGISTER);
        vgic_sgi1r_write(vcpu, *value);
        return true;
    }
    if ((encoding == ICC_ASGI1R || encoding == ICC_SGI0R) && write) {
        /* A guest has neither Group 0 nor another security state: writes have no effect. */
        cpu_count_exit(vcpu->cpu, BH_EXIT_REASON_SGI_REGISTER);
        return true;
    }
    if (encoding == ICC_SRE) {
        cpu_count_exit(vcpu->cpu, BH_EXIT_REASON_OTHER_REGISTER);
        *value = ICC_SRE_ONLY;
        return true;
    }
    return false;
}
