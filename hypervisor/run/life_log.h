/* SPDX-License-Identifier: Apache-2.0
 *
 * What the log says of a domain's life: that it restarts, that a manager has stopped it. The core where it
 * happens may be one that VCPUs share, and to format a line takes longer than all else that they can make EL2
 * do there. So that core only leaves a note, and the console core writes the line.
 */
#ifndef BULKHEAD_LIFE_LOG_H
#define BULKHEAD_LIFE_LOG_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the line that the domain is writing and adds one to the log: why its life has ended, and whether it
 * restarts. If there were too many such lines of late, a later line has their number. The registers of its
 * crash, if there are any, follow. Any core. */
void life_log_add(struct domain *domain, enum bh_domain_end end, bool restarts);

/* Writes the domain's oldest line that waits. False: there is none. On the console core. */
bool life_log_print_next(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
