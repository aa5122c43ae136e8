/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The parameters that an administrator sees (B8): their names, their text, and what core/ is told of them.
 * Called at load and by the files in debugfs; it knows no CPU and changes nothing that is in force.
 */
#ifndef BULKHEAD_LINUX_SETTINGS_H
#define BULKHEAD_LINUX_SETTINGS_H

#include "core/regulator.h"
#include <linux/seq_file.h>

#define SETTINGS_NONE ((u32)REGULATOR_POLICY_COUNT) /* count, and limit nobody */

struct settings {
    u32 policy;        /* enum regulator_policy_number, or SETTINGS_NONE */
    u32 hold;          /* enum regulator_hold */
    u32 store_samples; /* bool */
    u64 threshold_permille;
    u64 step_permille; /* 0: adaptive, or 50 of dynamic-bandwidth */
    u64 bandwidth_threshold_events;
    u64 interval_ns;
    u64 floor_events;
    u64 ceiling_events;
    u64 saturation_events;
    u64 horizon_intervals;
    u64 delays_ps[REGULATOR_MAX_CORES];     /* of an event of the others, by regulated CPU */
    u32 members;                            /* mask: CPUs of the module */
    u32 regulated;                          /* mask, of those */
    u64 budget_events[REGULATOR_MAX_CORES]; /* per interval, or REGULATOR_UNLIMITED */
};

/* One of them by its name. */
struct settings_key;

/* What holds without any other word, for the CPUs of the mask. */
void settings_default(struct settings *settings, u32 members);

/* All there are: the index-th one; NULL behind the last. */
const struct settings_key *settings_key_at(u32 index);
const char *settings_key_name(const struct settings_key *key);

/* Reads one from its text, which is torn up. -EINVAL, and `settings` as they were, if it is none. */
int settings_parse_key(struct settings *settings, const struct settings_key *key, char *text);

/* Reads words `name=text`, each name once. -EINVAL if one of them is wrong; `settings` are of no use then. */
int settings_parse(struct settings *settings, char *text);

/* The text of one, as it would be read. */
void settings_print_key(struct seq_file *file, const struct settings *settings,
                        const struct settings_key *key);

/* In core/'s terms; a tick is a nanosecond. Whether they fit together is regulator_check()'s to say. */
void settings_regulator(const struct settings *settings, struct regulator_parameters *parameters);

#endif
