/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with the unchanged hypervisor (the linker's --wrap), for the test of interrupt latency: how long
 * after a timer's deadline EL2 executes its first instruction, where the interrupt takes the core from a
 * guest and where it ends EL2's own wait. The most frequent of many values is logged: others are later
 * because EL2 was busy, or earlier because another interrupt took the core just before the deadline.
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
    uint64_t late_ticks[LOOKS];
};

static struct seen from_guest[BH_MAX_CORES];
static struct seen from_wait[BH_MAX_CORES];

static uint64_t most_frequent(const struct seen *one)
{
    uint64_t found = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < LOOKS; i++) {
        uint32_t times = 0;

        for (uint32_t j = 0; j < LOOKS; j++) {
            times += one->late_ticks[j] == one->late_ticks[i] ? 1 : 0;
        }
        if (times > most) {
            most = times;
            found = one->late_ticks[i];
        }
    }
    return found;
}

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
    if (one->times == LOOKS) {
        return;
    }
    one->late_ticks[one->times++] = now - deadline;
    if (one->times == LOOKS) {
        console_log("%s on core %u: %lu ticks late", where, this_cpu()->index, most_frequent(one));
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
