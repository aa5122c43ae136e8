/* SPDX-License-Identifier: Apache-2.0
 *
 * Alarms that are rare and that few cores have. They share one alarm of the core's clock (CLOCK_ALARM_RARE),
 * so that handling the budgets' alarms does not take longer. Each core has its own set.
 */
#ifndef BULKHEAD_RARE_ALARM_H
#define BULKHEAD_RARE_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rare_alarm {
    RARE_ALARM_RUN_LIMIT, /* end of a run with a time limit; console core only */
    RARE_ALARM_MONITORS,  /* read of an MPAM monitor; console core only */
    RARE_ALARM_SMMU,      /* events and errors of the SMMU; console core only */
    RARE_ALARM_QUIET,     /* ends the core's wait, so that it asks again what the SMMU has done */
    RARE_ALARM_RESET,     /* ends the core's wait, so that it asks pci_domain_is_reset() again */
    RARE_ALARM_EARLY,     /* check of an interrupt that arrived too early (vgic/vgic_early.c) */
    RARE_ALARM_COUNT,
};

/* Sets this core's alarm to counter value `deadline`; 0 cancels it. */
void rare_alarm_set(enum rare_alarm alarm, uint64_t deadline);

/* Called when CLOCK_ALARM_RARE is due. Cancels this core's rare alarms that are due and returns them (1 <<
 * rare_alarm). */
uint32_t rare_alarm_take(void);

#ifdef __cplusplus
}
#endif

#endif
