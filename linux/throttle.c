/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * A thread waits for interrupts, not an interrupt handler: interrupts, IPIs and deferred work are served as
 * on an idle CPU, the scheduler sees a running thread, and the stop class (migration, CPU hotplug, patching
 * of text) can still preempt it. It does not use the kernel's idle injection (play_idle_precise), which idles
 * for a time fixed at its beginning, while a budget can be refilled earlier. RCU and the scheduler request
 * the CPU by need_resched, as from any thread in the kernel.
 */
#include "throttle.h"
#include "cpus.h"
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/smpboot.h>
#include <uapi/linux/sched/types.h>

static DEFINE_PER_CPU(struct task_struct *, threads);

/* Waits for the next interrupt, which is taken when the caller unmasks interrupts. Called and left with
 * interrupts masked. If interrupts are masked by priority (pseudo-NMIs), WFI would not wake up for them. */
static void wait_for_interrupt(void)
{
    if (system_uses_irq_prio_masking()) {
        cpu_relax();
    } else {
        dsb(sy);
        wfi();
    }
}

/* Lets other tasks run for a moment. The request comes from a class above real-time
 * threads, or from the kernel's limit of real-time threads (kernel.sched_rt_runtime_us). */
static void give_way(struct regulated_cpu *own)
{
    unsigned long before = current->nivcsw;

    local_irq_disable();
    regulated_cpu_give_way(own);
    local_irq_enable();
    preempt_enable();
    cond_resched();
    preempt_disable();
    own->gave_way += current->nivcsw != before;
}

static void hold(unsigned int cpu)
{
    struct regulated_cpu *own = cpus_at(cpu);
    bool holds = true;

    preempt_disable();
    while (holds) {
        local_irq_disable();
        holds = regulated_cpu_hold(own);
        if (holds && !need_resched()) {
            wait_for_interrupt();
        }
        local_irq_enable();
        if (holds && need_resched()) {
            give_way(own);
        }
    }
    preempt_enable();
}

static int should_hold(unsigned int cpu)
{
    const struct regulated_cpu *own = cpus_at(cpu);

    return own != NULL && READ_ONCE(own->throttled);
}

/* Called in the thread when it begins. */
static void raise_priority(unsigned int cpu)
{
    struct sched_attr attributes = {
        .size = sizeof(attributes),
        .sched_policy = SCHED_FIFO,
        .sched_priority = MAX_RT_PRIO - 1,
    };

    if (sched_setattr_nocheck(current, &attributes) != 0) {
        pr_warn("CPU %u: its thread could not be made real-time\n", cpu);
    }
}

static struct smp_hotplug_thread description = {
    .store = &threads,
    .thread_should_run = should_hold,
    .thread_fn = hold,
    .setup = raise_priority,
    .thread_comm = "bulkhead/%u",
};

int throttle_init(void)
{
    return smpboot_register_percpu_thread(&description);
}

void throttle_exit(void)
{
    smpboot_unregister_percpu_thread(&description);
}

void throttle_wake(unsigned int cpu)
{
    struct task_struct *thread = per_cpu(threads, cpu);

    if (thread != NULL) {
        wake_up_process(thread);
    }
}
