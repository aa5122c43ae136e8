/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Keeps everything else off a CPU whose budget is spent: a thread on each CPU, of the highest real-time
 * priority. The CPU's driver wakes it, and answers its questions (cpus.h, regulated_cpu.h).
 */
#ifndef BULKHEAD_LINUX_THROTTLE_H
#define BULKHEAD_LINUX_THROTTLE_H

#include <linux/types.h>

/* Threads for all CPUs, of now and later. May sleep. */
int throttle_init(void);
void throttle_exit(void);

/* The CPU was throttled. Called on it, in hard interrupt context. */
void throttle_wake(unsigned int cpu);

#endif
