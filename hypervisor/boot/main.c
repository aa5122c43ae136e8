/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of each core between its first instruction at a virtual address and its first guest.
 */
#include "boot/boot.h"
#include "boot/refuse.h"
#include "console/console.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "its/its.h"
#include "memory/stage2.h"
#include "memory/table_memory.h"
#include "memory/window.h"
#include "mpam/mpam_components.h"
#include "mpam/mpam_labels.h"
#include "pci/pci.h"
#include "run/crash.h"
#include "run/domain_life.h"
#include "run/guest_state.h"
#include "run/shared_core.h"
#include "run/vcpu_run.h"
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/device_regulators.h"
#include "time/regulation.h"
#include "time/statistics.h"
#include "vgic/vgic.h"
#include "vm/branch_predictors.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <arch/smc.h>

#define PSCI_CPU_ON_64 0xC4000003u
/* Limit on the time from CPU_ON until a core is ready. */
#define CORE_START_NS  1000000000ull

static _Atomic uint32_t cores_ready;
static _Atomic uint32_t released;

/* Called by the entry code, on the first core and on the others. */
uint32_t cpu_find_index(void);
void cpu_main(uint32_t index, struct guest_regs *regs);

/* The first core does not know its index: it takes over the manifest and looks itself up. */
uint32_t cpu_find_index(void)
{
    uint32_t index;

    system_init(&boot_handover);
    index = cpu_find(sysreg_read(MPIDR_EL1));
    if (index == BH_MAX_CORES) {
        refuse(BH_MANIFEST_ERROR_CPU, offsetof(struct manifest_header, cpus));
    }
    return index;
}

/* Contradictions to the manifest are logged, and the log is written before EL2 refuses to start. */
static void init_mpam(void)
{
    enum bh_manifest_error error;

    mpam_detect();
    error = mpam_label_domains() ? mpam_components_init() : BH_MANIFEST_ERROR_MPAM;
    if (error != BH_MANIFEST_ERROR_NONE) {
        console_flush();
        refuse(error, offsetof(struct manifest_header, mpam));
    }
}

static void init_device_regulators(void)
{
    uint32_t offset = device_regulators_init();

    if (offset != 0) {
        console_flush();
        refuse(BH_MANIFEST_ERROR_HARDWARE, offset);
    }
}

static void init_smmu(void)
{
    enum bh_manifest_error error = smmu_init();

    if (error != BH_MANIFEST_ERROR_NONE) {
        console_flush();
        refuse(error, offsetof(struct manifest_header, smmu));
    }
}

static void init_pci(void)
{
    enum bh_manifest_error error = pci_init();

    if (error != BH_MANIFEST_ERROR_NONE) {
        console_flush();
        refuse(error, offsetof(struct manifest_header, functions));
    }
}

static void init_its(void)
{
    enum bh_manifest_error error = its_init();

    if (error != BH_MANIFEST_ERROR_NONE) {
        console_flush();
        refuse(error, offsetof(struct manifest_header, its));
    }
}

static void init_machine(void)
{
    const struct manifest_header *manifest = system_manifest();

    window_init(system_pool(), paddr(system_status()->ttbr0_el2));
    table_memory_init(system_pool(), manifest);
    cpu_init_all();
    console_init(&manifest->platform, manifest->hypervisor.console_core, manifest->hypervisor.console_domain);
    crash_init();
    gic_init(&manifest->platform);
    regulation_init();
    init_device_regulators();
    if (!domain_init_all() || !flows_init_all() || !statistics_init_all()) {
        refuse(BH_MANIFEST_ERROR_POOL_EXHAUSTED, offsetof(struct manifest_header, hypervisor));
    }
    init_mpam();
    init_smmu();
    init_pci();
    init_its();
}

static void init_core(struct cpu *cpu)
{
    uint64_t monitors;

    sysreg_write(TPIDR_EL2, (uintptr_t)cpu);
    if (!gic_cpu_init(cpu->index, cpu->mpidr)) {
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, platform.gicr_pa));
    }
    if (!its_cpu_init(cpu)) {
        console_flush();
        refuse(BH_MANIFEST_ERROR_ITS, offsetof(struct manifest_header, its));
    }
    if (!vgic_core_suffices()) {
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, cpus));
    }
    if (system_manifest()->platform.s2fwb != 0 && !stage2_core_can_force()) {
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, platform.s2fwb));
    }
    if (!mpam_core_init()) {
        refuse(BH_MANIFEST_ERROR_HARDWARE, offsetof(struct manifest_header, mpam));
    }
    if (!branch_predictors_init(cpu)) {
        console_log("core %u: guests can train its predictors, and its firmware has no workaround",
                    cpu->index);
    }
    cpu_take_early_requests(cpu);
    if (!bandwidth_init(cpu, &monitors)) {
        refuse(BH_MANIFEST_ERROR_COUNTER_MISSING, offsetof(struct manifest_header, cpus));
    }
    guest_traps_init(monitors,
                     guest_hcr(cpu->pinned != NULL ? cpu->pinned->domain : NULL, cpu->shared != NULL));
    clock_enable_alarms(cpu);
    if (cpu->index == system_manifest()->hypervisor.console_core) {
        console_start();
        mpam_components_start(cpu);
        smmu_start(cpu);
    }
}

static void start_other_cores(const struct cpu *self)
{
    uint32_t count = system_manifest()->cpus.count;
    uint64_t deadline;

    for (uint32_t i = 0; i < count; i++) {
        if (i != self->index &&
            arch_smc(PSCI_CPU_ON_64, cpu_at(i)->mpidr, boot_handover.trampoline.value, i) != 0) {
            refuse(BH_MANIFEST_ERROR_CORE_MISSING, system_manifest()->cpus.offset);
        }
    }
    deadline = clock_now() + clock_ticks(CORE_START_NS);
    while (atomic_load(&cores_ready) < count) {
        if (clock_now() > deadline) {
            refuse(BH_MANIFEST_ERROR_CORE_MISSING, system_manifest()->cpus.offset);
        }
    }
}

static void announce(void)
{
    const struct manifest_header *manifest = system_manifest();

    console_log("%u domain%s on %u core%s, %u colors, memory %lu of %lu KiB", domain_count(),
                domain_count() == 1 ? "" : "s", manifest->cpus.count, manifest->cpus.count == 1 ? "" : "s",
                color_count(manifest_color_space(manifest)), system_pool()->used * BH_PAGE_BYTES / 1024,
                system_pool()->frames * BH_PAGE_BYTES / 1024);
}

/* The console core enforces the run limit and turns the machine off. */
static void arm_run_limit(const struct cpu *cpu)
{
    const struct manifest_hypervisor *hypervisor = &system_manifest()->hypervisor;

    if (hypervisor->run_for_ns != 0 && cpu->index == hypervisor->console_core) {
        rare_alarm_set(RARE_ALARM_RUN_LIMIT,
                       system_status()->started_at + clock_ticks(hypervisor->run_for_ns));
    }
}

void cpu_main(uint32_t index, struct guest_regs *regs)
{
    static _Atomic bool first_core_taken;
    bool is_first = !atomic_exchange(&first_core_taken, true);
    struct cpu *cpu = cpu_at(index);

    if (is_first) {
        init_machine();
    }
    init_core(cpu);
    atomic_fetch_add(&cores_ready, 1);
    if (is_first) {
        start_other_cores(cpu);
        announce();
        console_write_start(); /* in the boot's own time: the domains' begins next */
        system_started();
        bandwidth_update_init_all(system_status()->started_at);
        domain_start_all();
        atomic_store_explicit(&released, 1, memory_order_release);
        arch_sev();
    }
    while (atomic_load_explicit(&released, memory_order_acquire) == 0) {
        arch_wfe();
    }
    arm_run_limit(cpu);
    if (cpu->shared != NULL) {
        shared_core_begin(cpu, system_status()->started_at);
    } else {
        bandwidth_set_epoch(cpu, system_status()->started_at);
    }
    vcpu_wait(cpu, regs);
}
