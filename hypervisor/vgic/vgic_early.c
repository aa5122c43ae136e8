/* SPDX-License-Identifier: Apache-2.0
 *
 * Level interrupts that come again before the guest's handler is done. A handler may end its interrupt first
 * and tell the device then. On the bare board the core takes nothing before the handler returns, and until
 * then the line has fallen. Here the physical interrupt comes as soon as it is deactivated, and what is in a
 * list register stays pending when the line falls. So the interrupt waits at the physical controller,
 * disabled, while the guest masks interrupts and does not wait for one itself (its WFI and WFE trap
 * meanwhile), and the line is high. EL2 looks after 5 us, then each time after twice as long, and gives up
 * after nine looks: then it may come twice. So what the device does assert again comes late: after the guest
 * has unmasked interrupts at most as long as the guest had masked them, and 5 us.
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

static void look_later(struct cpu *cpu, uint32_t wait_ns)
{
    cpu->early.wait_ns = wait_ns;
    rare_alarm_set(RARE_ALARM_EARLY, clock_now() + clock_ticks(wait_ns));
}

/* Of a core that VCPUs share WFI always traps. */
static void trap_waiting(const struct cpu *cpu, bool trap)
{
    if (cpu->shared == NULL) {
        uint64_t hcr = sysreg_read(HCR_EL2);

        sysreg_write(HCR_EL2, trap ? hcr | HCR_WAITS : hcr & ~HCR_WAITS);
    }
}

/* The physical controller may send it, if the guest still wants it. */
static void let_come(struct cpu *cpu)
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

/* One at a time for each core: a second one is delivered at once. */
bool vgic_comes_early(struct vcpu *vcpu, const struct vgic_bank *bank, uint32_t intid)
{
    struct cpu *cpu = vcpu->cpu;

    if (cpu->early.passes == intid) {
        cpu->early.passes = 0;
        return false;
    }
    /* Its list register was not looked at since it was written: the guest has just ended it. */
    if ((bank->resident & ~bank->edge & vgic_bit(intid)) == 0 || cpu->early.domain != NULL ||
        !guest_masks()) {
        return false;
    }
    gic_disable(intid);
    gic_deactivate(intid);
    cpu->early.domain = vcpu->domain;
    cpu->early.intid = intid;
    trap_waiting(cpu, true);
    look_later(cpu, FIRST_LOOK_NS);
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
        let_come(cpu);
    } else if (cpu->early.wait_ns < LAST_LOOK_NS) {
        look_later(cpu, cpu->early.wait_ns * 2);
    } else {
        vgic_guest_waits(cpu);
    }
}

void vgic_guest_waits(struct cpu *cpu)
{
    if (cpu->early.domain != NULL) {
        cpu->early.passes = cpu->early.intid;
        let_come(cpu);
    }
}
