/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical interrupts. For a guest's interrupts, EL2 only drops the priority, and the guest's deactivation
 * through the list register deactivates them; EL2's own are completed here.
 */
#include "run/irq.h"
#include "console/console.h"
#include "core/path_costs.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "mpam/mpam_components.h"
#include "run/domain_life.h"
#include "run/shared_core.h"
#include "run/system_end.h"
#include "run/vcpu_run.h"
#include "time/bandwidth.h"
#include "time/guest_pmu.h"
#include "vgic/vgic.h"
#include "vgic/vgic_its.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include "vm/system.h"
#include "vm/vcpu.h"
#include <arch/gic.h>

#define EL2_SGI 0u

static void complete(uint32_t intid)
{
    gic_end(intid);
    gic_deactivate(intid);
}

/* Handles a request for a shared core; it does not say which VCPU it is for. Not inlined, so that other cores
 * do not pay for it. */
static __attribute__((noinline)) void handle_shared_request(struct cpu *cpu, uint32_t requests)
{
    shared_core_reschedule(cpu);
    if ((requests & (CPU_REQUEST_VGIC | CPU_REQUEST_SGI)) != 0 && cpu->vcpu != NULL) {
        vgic_handle_request(cpu->vcpu);
    }
}

/* Work of the console, of MPAM's monitors or of the SMMU serves all domains, so it is not charged to the VCPU
 * that has this core. */
static void serve_all(struct cpu *cpu, void (*serve)(void))
{
    bool paused = bandwidth_pause(cpu);

    serve();
    bandwidth_resume(cpu, paused);
}

static void handle_requests(struct cpu *cpu)
{
    uint32_t requests = atomic_exchange_explicit(&cpu->requests, 0, memory_order_acq_rel);

    if ((requests & CPU_REQUEST_VGIC) != 0 && cpu->pinned != NULL) {
        vgic_handle_request(cpu->pinned);
    } else if ((requests & CPU_REQUEST_SGI) != 0 && cpu->pinned != NULL) {
        vgic_handle_sgis(cpu->pinned);
    } else if (cpu->shared != NULL) {
        handle_shared_request(cpu, requests);
    }
    if ((requests & CPU_REQUEST_CONSOLE) != 0) {
        serve_all(cpu, console_handle);
        system_finish_if_ending();
    }
    if ((requests & CPU_REQUEST_BUDGETS) != 0) {
        bandwidth_published(cpu);
    }
    if ((requests & CPU_REQUEST_END) != 0) {
        system_end_core();
    }
    /* CPU_REQUEST_VCPU_POWER needs no work here: the caller checks the VCPU's state next. */
}

/* A device's interrupt is injected into the domain that has the device. The broker's engine, MPAM's
 * components and the SMMU belong to EL2. */
static void handle_shared(struct cpu *cpu, uint32_t intid)
{
    gic_end(intid);
    if (intid >= BH_FIRST_LPI) {
        cpu_count_exit(cpu,
                       vgic_its_message(intid) ? BH_EXIT_REASON_IRQ_DEVICE : BH_EXIT_REASON_IRQ_UNEXPECTED);
        return;
    }
    if (cpu->pinned != NULL ? vgic_inject_spi_hw(cpu->pinned->domain, intid)
                            : cpu->shared != NULL && shared_core_inject_spi(cpu, intid)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_DEVICE);
        return;
    }
    if (flows_engine_interrupt(intid) || mpam_components_interrupt(intid) || smmu_interrupt(intid)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_DEVICE);
        gic_deactivate(intid);
        return;
    }
    gic_disable(intid);
    gic_deactivate(intid);
    cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_UNEXPECTED);
}

static void handle_rare_alarm(struct cpu *cpu)
{
    uint32_t due = rare_alarm_take();

    if ((due & 1u << RARE_ALARM_RUN_LIMIT) != 0) {
        system_end(BH_END_REASON_RUN_LIMIT);
    }
    if ((due & 1u << RARE_ALARM_MONITORS) != 0) {
        serve_all(cpu, mpam_components_alarm);
    }
    if ((due & 1u << RARE_ALARM_SMMU) != 0) {
        serve_all(cpu, smmu_alarm);
    }
    if ((due & 1u << RARE_ALARM_EARLY) != 0) {
        vgic_look_again(cpu);
    }
    if ((due & 1u << RARE_ALARM_QUIET) != 0) {
        domain_ask_engine();
    }
}

static void handle_alarms(struct cpu *cpu)
{
    uint32_t due = clock_take_alarms();

    if (cpu->shared != NULL) {
        shared_core_reschedule(cpu);
    }
    if ((due & 1u << CLOCK_ALARM_RARE) != 0) {
        handle_rare_alarm(cpu);
    }
    if ((due & 1u << CLOCK_ALARM_CONSOLE) != 0) {
        serve_all(cpu, console_handle);
    }
    if ((due & 1u << CLOCK_ALARM_PERIOD) != 0 && cpu->shared == NULL) {
        bandwidth_period(cpu);
    }
}

/* The interrupt is completed first, so that a request that arrives during the handling interrupts again. */
static void take_requests(struct cpu *cpu)
{
    cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_IPI);
    complete(EL2_SGI);
    handle_requests(cpu);
}

/* Handles an acknowledged interrupt. Returns false if the budget of the core's VCPU is spent, or if another
 * VCPU may have to run. */
static bool handle(struct cpu *cpu, uint32_t intid)
{
    const struct manifest_platform *platform = &system_manifest()->platform;

    if (intid == EL2_SGI) {
        take_requests(cpu);
    } else if ((intid == platform->cntv_irq || intid == platform->cntp_irq) && cpu->vcpu != NULL) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_TIMER);
        gic_end(intid);
        vgic_inject_private_hw(cpu->vcpu, intid);
    } else if (intid == platform->maintenance_irq && cpu->vcpu != NULL) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_MAINTENANCE);
        vgic_maintenance(cpu->vcpu);
        complete(intid);
    } else if (intid == platform->uart_irq) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_CONSOLE);
        if (cpu->shared != NULL) {
            shared_core_reschedule(cpu);
        }
        serve_all(cpu, console_handle);
        complete(intid);
        return cpu->hold == 0;
    } else if (intid == platform->cnthp_irq) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_HYPERVISOR_TIMER);
        handle_alarms(cpu);
        complete(intid);
        return cpu->hold == 0;
    } else if (intid == cpu->bandwidth.irq) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_OVERFLOW);
        if (cpu->shared != NULL) {
            shared_core_overflow(cpu);
        } else {
            bandwidth_overflow(cpu);
        }
        if (cpu->vcpu != NULL) {
            guest_pmu_overflow(cpu->vcpu);
        }
        complete(intid);
        return cpu->hold == 0;
    } else if (intid >= GIC_PRIVATE_COUNT) {
        handle_shared(cpu, intid);
    } else {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_UNEXPECTED);
        gic_end(intid);
        gic_disable(intid);
        gic_deactivate(intid);
    }
    return true;
}

/* Whether the interrupt is for EL2's own work, and not for a guest. */
static bool is_own(const struct cpu *cpu, uint32_t intid)
{
    const struct manifest_platform *platform = &system_manifest()->platform;

    if (intid == EL2_SGI) {
        return (atomic_load(&cpu->requests) & (CPU_REQUEST_CONSOLE | CPU_REQUEST_BUDGETS)) != 0;
    }
    return intid == platform->uart_irq || intid == platform->cnthp_irq || intid == cpu->bandwidth.irq;
}

static __attribute__((noinline)) bool handle_measured(struct cpu *cpu, uint32_t intid)
{
    struct path_mark mark = path_begin();
    bool own = is_own(cpu, intid);
    bool goes_on = handle(cpu, intid);

    if (own) {
        path_end(&mark, BH_PATH_PART_INTERRUPT);
    }
    return goes_on;
}

static bool dispatch(struct cpu *cpu, uint32_t intid)
{
    return path_recorder_here() != NULL ? handle_measured(cpu, intid) : handle(cpu, intid);
}

/* Handles the most urgent interrupt; further ones interrupt again. */
bool trap_irq_short(void)
{
    struct cpu *cpu = this_cpu();
    uint32_t intid = gic_acknowledge();

    if (vgic_timer_repeats(&cpu->vcpu->vgic, intid)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_TIMER);
        cpu->status->injected++;
        gic_end(intid);
        vgic_repeat_timer(&cpu->vcpu->vgic);
        return true;
    }
    if (gic_is_special(intid)) {
        cpu_count_exit(cpu, BH_EXIT_REASON_IRQ_SPURIOUS);
        return true;
    }
    if (intid == EL2_SGI) { /* a core that stops a VCPU of another core sends this request */
        (void)dispatch(cpu, intid);
        return vcpu_may_run(cpu->vcpu) && cpu->hold == 0;
    }
    return dispatch(cpu, intid);
}

bool irq_handle_one(struct cpu *cpu)
{
    uint32_t intid = gic_acknowledge();

    if (gic_is_special(intid)) {
        return false;
    }
    (void)dispatch(cpu, intid);
    return true;
}
