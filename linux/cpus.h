/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * All CPUs of the module: their life, and questions about one of them by its number. Used by module.c (life),
 * throttle.c (the thread that holds a throttled CPU) and the files in debugfs.
 */
#ifndef BULKHEAD_LINUX_CPUS_H
#define BULKHEAD_LINUX_CPUS_H

#include "regulated_cpu.h"

/* What they have in common. */
struct cpus_choice {
    u32 members; /* mask */
    struct counters_choice counters;
    u64 slack_events; /* of a sum */
    bool keep_running;
};

struct cpus_statistics {
    struct reservation_statistics reservation;
    u64 limit_events; /* of now */
    u64 gave_way;
    u64 uncounted;
    bool started;
    bool throttled;
};

/* After regulation_init(). -ENOMEM. May sleep. */
int cpus_init(const struct cpus_choice *choice);

/* Ends counting and limiting on all CPUs at once, for good, without any of them having to run a thread: one
 * whose budget is too small for that would not. Each is still to go offline. May sleep. */
void cpus_release(void);

/* When no CPU is started: nothing of them is used any more. May sleep. */
void cpus_exit(void);

/* Counting and limiting of a CPU begin and end. Called on it, in a thread, as CPU hotplug does. -ENOENT,
 * -EBUSY: counters_open(). Nothing is to do for CPUs that are no members. */
int cpus_online(unsigned int cpu);
int cpus_offline(unsigned int cpu);

/* A member; NULL if the CPU is none. */
struct regulated_cpu *cpus_at(unsigned int cpu);

/* For readers on any CPU: numbers as they are at the moment, each for itself. False if the CPU is no member.
 */
bool cpus_statistics(unsigned int cpu, struct cpus_statistics *statistics);
bool cpus_samples(unsigned int cpu, struct sample_reader *reader);

#endif
