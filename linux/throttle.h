/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Keeps all other tasks off a CPU whose budget is spent: a thread on each CPU with the highest real-time
 * priority. The CPU's driver wakes it and tells it whether to hold the CPU (cpus.h, regulated_cpu.h).
 */
#ifndef BULKHEAD_LINUX_THROTTLE_H
#define BULKHEAD_LINUX_THROTTLE_H

#include <linux/types.h>

/* Makes threads for all CPUs, present and future. May sleep. */
int throttle_init(void);
void throttle_exit(void);

/* The CPU was throttled: wakes its thread. Called on the CPU, in hard interrupt context. */
void throttle_wake(unsigned int cpu);

#endif
