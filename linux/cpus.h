/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * All CPUs of the module: bringing them online and offline, and queries of one of them by its number. Used by
 * module.c, throttle.c (the thread that holds a throttled CPU) and the files in debugfs.
 */
#ifndef BULKHEAD_LINUX_CPUS_H
#define BULKHEAD_LINUX_CPUS_H

#include "regulated_cpu.h"

/* Settings that all CPUs share. */
struct cpus_choice {
    u32 members; /* mask */
    struct counters_choice counters;
    /* Slack of a sum; each budget has at most its reservation_most_slack(). */
    u64 slack_events;
    bool keep_running;
};

struct cpus_statistics {
    struct reservation_statistics reservation;
    u64 limit_events; /* present limit */
    u64 gave_way;
    u64 held_events; /* of the overshoot: while the thread held the CPU */
    u64 uncounted;
    bool started;
    bool throttled;
};

/* Call it after regulation_init(). -ENOMEM. May sleep. */
int cpus_init(const struct cpus_choice *choice);

/* Ends counting and limiting on all CPUs at once, permanently. No CPU needs to run a thread for this: a CPU
 * whose budget is too small would not run it. Each CPU must still go offline. May sleep. */
void cpus_release(void);

/* Frees everything; call it when no CPU is started. May sleep. */
void cpus_exit(void);

/* Begin and end counting and limiting of a CPU. Called on it, in a thread, by CPU hotplug. -ENOENT, -EBUSY:
 * see counters_open(). For CPUs that are not members they do nothing. */
int cpus_online(unsigned int cpu);
int cpus_offline(unsigned int cpu);

/* Returns the state of a member; NULL if the CPU is not a member. */
struct regulated_cpu *cpus_at(unsigned int cpu);

/* For readers on any CPU: each number has its present value, but the numbers are not a consistent set. False
 * if the CPU is not a member. */
bool cpus_statistics(unsigned int cpu, struct cpus_statistics *statistics);
bool cpus_samples(unsigned int cpu, struct sample_reader *reader);

#endif
