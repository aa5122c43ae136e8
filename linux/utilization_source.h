/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Source of the memory's utilization (B5): counters of the memory controller. Called by regulation.c; support
 * for another controller would be another file with these functions.
 */
#ifndef BULKHEAD_LINUX_UTILIZATION_SOURCE_H
#define BULKHEAD_LINUX_UTILIZATION_SOURCE_H

#include "core/utilization.h"

/* Maps and starts the counters, if a module parameter gives their address. -ENOMEM, -EINVAL. */
int utilization_source_open(void);
void utilization_source_close(void);

/* Whether there is a source. */
bool utilization_source_is_there(void);

/* Utilization since the last call, in 1/65536. False if there is none. By one CPU at a time, in any context.
 */
bool utilization_source_measure(u32 *utilization);

#endif
