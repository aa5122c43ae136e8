/* SPDX-License-Identifier: Apache-2.0
 *
 * Level-triggered interrupts that are signalled again before the guest's handler has finished. A handler may
 * end its interrupt first and clear the device's request afterwards. On real hardware, the core takes no
 * interrupt before the handler returns, and by then the line has fallen. Under EL2, the physical interrupt is
 * signalled as soon as it is deactivated, and an interrupt in a list register stays pending when the line
 * falls. Therefore EL2 disables the interrupt, so that it waits at the physical controller, while the line is
 * high, the guest masks interrupts, and the guest does not wait for one (its WFI and WFE trap meanwhile). EL2
 * checks this after 5 us and then after twice the previous time. After nine checks it delivers the interrupt,
 * which may then be spurious. If the device does assert its interrupt again, delivery is delayed: after the
 * guest has unmasked interrupts, by at most the time for which they were masked, and 5 us.
 */
#include "vgic/vgic_internal.h"
#include "vm/clock.h"
#include "vm/rare_alarm.h"

#include <arch/gic.h>
#include <arch/sysreg.h>

#define FIRST_LOOK_NS 5000u
#define LAST_LOOK_NS  (FIRST_LOOK_NS << 8)

#define SPSR_IRQ_MASKED (1u << 7)
#define HCR_WAITS       (3ull << 13) /* TWI, TWE */

static bool guest_masks(void)
{
    return (sysreg_read(SPSR_EL2) & SPSR_IRQ_MASKED) != 0;
}

static void check_later(struct cpu *cpu, uint32_t wait_ns)
{
    cpu->early.wait_ns = wait_ns;
    rare_alarm_set(RARE_ALARM_EARLY, clock_now() + clock_ticks(wait_ns));
}

/* On a core that VCPUs share, WFI always traps. */
static void trap_waiting(const struct cpu *cpu, bool trap)
{
    if (cpu->shared == NULL) {
        uint64_t hcr = sysreg_read(HCR_EL2);

        sysreg_write(HCR_EL2, trap ? hcr | HCR_WAITS : hcr & ~HCR_WAITS);
    }
}

/* Enables the interrupt at the physical controller again, if the guest has it enabled. */
static void enable_again(struct cpu *cpu)
{
    struct domain *domain = cpu->early.domain;
    uint32_t intid = cpu->early.intid;
    const struct vgic_bank *bank = &domain->vgic.spis[intid / 32 - 1];
    uint32_t target;

    cpu->early.domain = NULL;
    trap_waiting(cpu, false);
    spin_lock(&domain->vgic.lock);
    target = domain->vgic.target[intid - GIC_PRIVATE_COUNT];
    if ((bank->enabled & vgic_bit(intid)) != 0 && target < domain->vcpu_count && vgic_domain_runs(domain)) {
        gic_enable(intid, domain->vcpus[target].cpu->mpidr);
    }
    spin_unlock(&domain->vgic.lock);
}

/* Each core delays one interrupt at a time; a second one is delivered at once. */
bool vgic_comes_early(struct vcpu *vcpu, const struct vgic_bank *bank, uint32_t intid)
{
    struct cpu *cpu = vcpu->cpu;

    if (cpu->early.passes == intid) {
        cpu->early.passes = 0;
        return false;
    }
    /* It is resident because its list register was not read back since it was written: the guest has just
     * ended it. */
    if ((bank->resident & ~bank->edge & vgic_bit(intid)) == 0 || cpu->early.domain != NULL ||
        !guest_masks()) {
        return false;
    }
    gic_disable(intid);
    gic_deactivate(intid);
    cpu->early.domain = vcpu->domain;
    cpu->early.intid = intid;
    trap_waiting(cpu, true);
    check_later(cpu, FIRST_LOOK_NS);
    return true;
}

void vgic_look_again(struct cpu *cpu)
{
    const struct domain *domain = cpu->early.domain;
    uint32_t intid = cpu->early.intid;

    if (domain == NULL) {
        return;
    }
    if (cpu->vcpu == NULL || cpu->vcpu->domain != domain || !guest_masks() ||
        (gic_pending_word(intid / 32) & vgic_bit(intid)) == 0) {
        enable_again(cpu);
    } else if (cpu->early.wait_ns < LAST_LOOK_NS) {
        check_later(cpu, cpu->early.wait_ns * 2);
    } else {
        vgic_guest_waits(cpu);
    }
}

void vgic_guest_waits(struct cpu *cpu)
{
    if (cpu->early.domain != NULL) {
        cpu->early.passes = cpu->early.intid;
        enable_again(cpu);
    }
}
