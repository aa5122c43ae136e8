/* SPDX-License-Identifier: Apache-2.0
 *
 * Level interrupts that come again before the guest's handler is done. A handler may end its interrupt first
 * and tell the device then. On the bare board the core takes nothing before the handler returns, and until
 * then the line has fallen. Here the physical interrupt comes as soon as it is deactivated, and what is in a
 * list register stays pending when the line falls. So the interrupt waits at the physical controller,
 * disabled, as long as the guest masks interrupts and the line is high. EL2 looks after 5 us, and then each
 * time after twice as long, 1 ms at most. So what the device does assert again comes late: after the guest
 * has unmasked interrupts at most as long as the guest had masked them, and 5 us.
 */
#include "vgic/vgic_internal.h"
#include "vm/clock.h"

#include <arch/gic.h>
#include <arch/sysreg.h>

#define FIRST_LOOK_NS 5000u
#define LAST_LOOK_NS  1000000u

#define SPSR_IRQ_MASKED (1u << 7)

static bool guest_masks(void)
{
    return (sysreg_read(SPSR_EL2) & SPSR_IRQ_MASKED) != 0;
}

static void look_later(struct cpu *cpu, uint32_t wait_ns)
{
    cpu->early.wait_ns = wait_ns;
    clock_set_alarm(CLOCK_ALARM_EARLY, clock_now() + clock_ticks(wait_ns));
}

/* One at a time for each core: a second one is delivered at once. */
bool vgic_comes_early(struct vcpu *vcpu, const struct vgic_bank *bank, uint32_t intid)
{
    struct cpu *cpu = vcpu->cpu;

    /* Its list register was not looked at since it was written: the guest has just ended it. */
    if ((bank->resident & ~bank->edge & vgic_bit(intid)) == 0 || cpu->early.domain != NULL ||
        !guest_masks()) {
        return false;
    }
    gic_disable(intid);
    gic_deactivate(intid);
    cpu->early.domain = vcpu->domain;
    cpu->early.intid = intid;
    look_later(cpu, FIRST_LOOK_NS);
    return true;
}

void vgic_look_again(struct cpu *cpu)
{
    struct domain *domain = cpu->early.domain;
    uint32_t intid = cpu->early.intid;
    const struct vgic_bank *bank;
    uint32_t target;

    if (domain == NULL) {
        return;
    }
    if (cpu->vcpu != NULL && cpu->vcpu->domain == domain && guest_masks() &&
        (gic_pending_word(intid / 32) & vgic_bit(intid)) != 0) {
        look_later(cpu, cpu->early.wait_ns < LAST_LOOK_NS / 2 ? cpu->early.wait_ns * 2 : LAST_LOOK_NS);
        return;
    }
    cpu->early.domain = NULL;
    spin_lock(&domain->vgic.lock);
    bank = &domain->vgic.spis[intid / 32 - 1];
    target = domain->vgic.target[intid - GIC_PRIVATE_COUNT];
    if ((bank->enabled & vgic_bit(intid)) != 0 && target < domain->vcpu_count && vgic_domain_runs(domain)) {
        gic_enable(intid, domain->vcpus[target].cpu->mpidr);
    }
    spin_unlock(&domain->vgic.lock);
}
