/* SPDX-License-Identifier: Apache-2.0
 *
 * PSCI 1.1 for guests, and the calls of SMCCC 1.1 (DEN0028) for discovery and workarounds.
 */
#include "trap/psci.h"
#include "run/domain_life.h"
#include "run/shared_core.h"
#include "trap/firmware.h"
#include "vgic/vgic.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include <arch/barrier.h>
#include <arch/speculation.h>

#define PSCI_CPU_SUSPEND       0x84000001u
#define PSCI_CPU_OFF           0x84000002u
#define PSCI_CPU_ON            0x84000003u
#define PSCI_AFFINITY_INFO     0x84000004u
#define PSCI_MIGRATE_INFO_TYPE 0x84000006u
#define PSCI_SYSTEM_OFF        0x84000008u
#define PSCI_SYSTEM_RESET      0x84000009u
#define PSCI_FEATURES          0x8400000Au
#define SMCCC_ARCH_FEATURES    0x80000001u
#define SMC64                  0x40000000u

#define NO_TRUSTED_OS       2u
#define AFFINITY_ON         0u
#define AFFINITY_OFF        1u
#define AFFINITY_ON_PENDING 2u

#define SUCCESS            0ll
#define NOT_SUPPORTED      (-1ll)
#define INVALID_PARAMETERS (-2ll)
#define ALREADY_ON         (-4ll)
#define ON_PENDING         (-5ll)
#define INVALID_ADDRESS    (-9ll)

/* The VCPU with this affinity as the guest sees it: affinity 0 is the index, all other bits are zero. NULL if
 * there is none. */
static struct vcpu *find(const struct domain *domain, uint64_t affinity)
{
    if (affinity >= domain->vcpu_count) {
        return NULL;
    }
    return &domain->vcpus[affinity & arch_index_mask(affinity, domain->vcpu_count)];
}

static int64_t cpu_on(struct vcpu *caller, uint64_t affinity, uint64_t entry, uint64_t context)
{
    struct vcpu *target = find(caller->domain, affinity);
    uint32_t expected = VCPU_OFF;

    if (target == NULL) {
        return INVALID_PARAMETERS;
    }
    if (entry % 4 != 0 || !stage2_owns(&caller->domain->stage2, ipaddr(entry))) {
        return INVALID_ADDRESS;
    }
    /* VCPU_CLAIMED keeps other callers out while the entry point is written. */
    if (!atomic_compare_exchange_strong(&target->power, &expected, VCPU_CLAIMED)) {
        return expected == VCPU_ON || expected == VCPU_STOPPING ? ALREADY_ON : ON_PENDING;
    }
    target->entry = ipaddr(entry);
    target->boot_argument = context;
    atomic_store_explicit(&target->power, VCPU_STARTING, memory_order_release);
    cpu_send_request(target->cpu, CPU_REQUEST_VCPU_POWER);
    return SUCCESS;
}

static int64_t affinity_info(const struct vcpu *caller, uint64_t affinity, uint64_t lowest_level)
{
    const struct vcpu *target = find(caller->domain, affinity);

    if (target == NULL || lowest_level != 0) {
        return INVALID_PARAMETERS;
    }
    switch (atomic_load(&target->power)) {
    case VCPU_OFF:
        return AFFINITY_OFF;
    case VCPU_ON:
    case VCPU_STOPPING:
        return AFFINITY_ON;
    default:
        return AFFINITY_ON_PENDING;
    }
}

static int64_t features(uint32_t function)
{
    switch (function & ~SMC64) {
    case PSCI_VERSION:
    case PSCI_CPU_SUSPEND:
    case PSCI_CPU_OFF:
    case PSCI_CPU_ON:
    case PSCI_AFFINITY_INFO:
    case PSCI_MIGRATE_INFO_TYPE:
    case PSCI_SYSTEM_OFF:
    case PSCI_SYSTEM_RESET:
    case PSCI_FEATURES:
    case SMCCC_VERSION:
        return SUCCESS;
    default:
        return NOT_SUPPORTED;
    }
}

/* Workarounds are those of the VCPU's core. */
static int64_t arch_features(const struct vcpu *vcpu, uint32_t function)
{
    switch (function) {
    case SMCCC_VERSION:
    case SMCCC_ARCH_FEATURES:
        return SUCCESS;
    case SMCCC_ARCH_WORKAROUND_1:
        return vcpu->cpu->predictors.workaround_1;
    case SMCCC_ARCH_WORKAROUND_2:
        return vcpu->cpu->predictors.workaround_2;
    case SMCCC_ARCH_WORKAROUND_3:
        return vcpu->cpu->predictors.workaround_3;
    default:
        return NOT_SUPPORTED;
    }
}

/* Suspending is a wait for an interrupt, executed at EL2 for the guest. A virtual interrupt pending in a list
 * register would end the guest's WFI at once but does not end EL2's, so it is checked before. PSCI allows
 * every power-down request to be handled as standby. */
static int64_t cpu_suspend(struct vcpu *vcpu)
{
    if (vcpu->cpu->shared != NULL) {
        shared_core_wait_for_interrupt(vcpu->cpu);
    } else if (!vgic_is_pending(vcpu)) {
        arch_wfi();
    }
    return SUCCESS;
}

void psci_call(struct vcpu *vcpu, uint64_t x[31])
{
    uint32_t function = (uint32_t)x[0];
    bool wide = (function & SMC64) != 0;
    uint64_t mask = wide ? ~0ull : 0xFFFFFFFFull;
    int64_t result = NOT_SUPPORTED;

    if (psci_is_version(function)) {
        x[0] = PSCI_VERSION_1_1;
        return;
    }
    switch (function) {
    case PSCI_FEATURES:
        result = features((uint32_t)x[1]);
        break;
    case SMCCC_ARCH_FEATURES:
        result = arch_features(vcpu, (uint32_t)x[1]);
        break;
    case SMCCC_ARCH_WORKAROUND_1: /* the workaround was executed at the entry to EL2 */
    case SMCCC_ARCH_WORKAROUND_2:
    case SMCCC_ARCH_WORKAROUND_3:
        result = arch_features(vcpu, function) == NOT_SUPPORTED ? NOT_SUPPORTED : SUCCESS;
        break;
    case PSCI_CPU_SUSPEND:
    case PSCI_CPU_SUSPEND | SMC64:
        result = cpu_suspend(vcpu);
        break;
    case PSCI_CPU_OFF:
        atomic_store(&vcpu->power, VCPU_STOPPING);
        break;
    case PSCI_CPU_ON:
    case PSCI_CPU_ON | SMC64:
        result = cpu_on(vcpu, x[1] & mask, x[2] & mask, x[3] & mask);
        break;
    case PSCI_AFFINITY_INFO:
    case PSCI_AFFINITY_INFO | SMC64:
        result = affinity_info(vcpu, x[1] & mask, x[2] & mask);
        break;
    case PSCI_MIGRATE_INFO_TYPE:
        result = NO_TRUSTED_OS;
        break;
    case PSCI_SYSTEM_OFF:
        (void)domain_end(vcpu->domain, BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_OFF);
        break;
    case PSCI_SYSTEM_RESET:
        if (!domain_restart(vcpu->domain, BH_DOMAIN_END_SYSTEM_RESET)) {
            (void)domain_end(vcpu->domain, BH_DOMAIN_STATE_STOPPED, BH_DOMAIN_END_SYSTEM_RESET);
        }
        break;
    default:
        if (firmware_call(vcpu, x)) {
            return;
        }
        break;
    }
    x[0] = (uint64_t)result;
}
