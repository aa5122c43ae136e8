/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines about a domain's life: that it restarts, or that a manager has stopped it. The core where this
 * happens may be shared by VCPUs, and formatting a line takes longer than any other work that they can make
 * EL2 do there. That core therefore only queues a note, and the console core writes the line.
 */
#ifndef BULKHEAD_LIFE_LOG_H
#define BULKHEAD_LIFE_LOG_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the line that the domain is writing and queues a line for the log: why the domain's life has ended,
 * and whether it restarts. If there were too many of these lines recently, the line is left out, and a later
 * line states how many were. The registers of a crash follow, if there are any. May be called on any core. */
void life_log_add(struct domain *domain, enum bh_domain_end end, bool restarts);

/* Writes the domain's oldest queued line. Returns false if there is none. Called on the console core. */
bool life_log_print_next(struct domain *domain);

#ifdef __cplusplus
}
#endif

#endif
