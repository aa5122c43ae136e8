/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap), for the test of interrupt latency: how long
 * after a timer's deadline EL2 executes its first instruction, where the interrupt takes the core from a
 * guest and where it ends EL2's own wait. The minimum of many is logged: the others are late because EL2 was
 * busy.
 */
#include "console/console.h"
#include "trap/trap.h"
#include "vm/cpu.h"
#include <arch/barrier.h>
#include <arch/sysreg.h>

#define EXPIRED 5u /* of a timer's control register: ISTATUS and ENABLE */
#define MASKED  2u
#define LOOKS   40u

bool __real_trap_irq_short(void);
bool __wrap_trap_irq_short(void);
void __real_arch_wfi(void);
void __wrap_arch_wfi(void);

struct seen {
    uint32_t times;
    uint64_t least; /* ticks */
};

static struct seen from_guest[BH_MAX_CORES];
static struct seen from_wait[BH_MAX_CORES];

static bool has_expired(uint64_t control)
{
    return (control & (EXPIRED | MASKED)) == EXPIRED;
}

static void note(struct seen *one, const char *where, uint64_t now)
{
    uint64_t deadline;

    if (has_expired(sysreg_read(CNTHP_CTL_EL2))) {
        deadline = sysreg_read(CNTHP_CVAL_EL2);
    } else if (has_expired(sysreg_read(CNTV_CTL_EL0))) {
        deadline = sysreg_read(CNTV_CVAL_EL0) + sysreg_read(CNTVOFF_EL2);
    } else {
        return;
    }
    one->least = one->times == 0 || now - deadline < one->least ? now - deadline : one->least;
    one->times++;
    if (one->times == LOOKS) {
        console_log("%s on core %u: %lu ticks late", where, this_cpu()->index, one->least);
    }
}

bool __wrap_trap_irq_short(void)
{
    uint64_t now = sysreg_read(CNTPCT_EL0);

    note(&from_guest[this_cpu()->index], "guest", now);
    return __real_trap_irq_short();
}

void __wrap_arch_wfi(void)
{
    __real_arch_wfi();
    note(&from_wait[this_cpu()->index], "wait", sysreg_read(CNTPCT_EL0));
}
