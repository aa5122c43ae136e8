/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The parameters for administrators (B8): names, text format, and conversion to core/'s parameters. Called at
 * load and by the files in debugfs; it knows no CPU and changes nothing that is in force.
 */
#ifndef BULKHEAD_LINUX_SETTINGS_H
#define BULKHEAD_LINUX_SETTINGS_H

#include "core/regulator.h"
#include <linux/seq_file.h>

#define SETTINGS_NONE ((u32)REGULATOR_POLICY_COUNT) /* count only, without limits */

struct settings {
    u32 policy;        /* enum regulator_policy_number, or SETTINGS_NONE */
    u32 hold;          /* enum regulator_hold */
    u32 store_samples; /* bool */
    u64 threshold_permille;
    u64 step_permille; /* 0: adaptive; for dynamic-bandwidth, 50 */
    u64 bandwidth_threshold_events;
    u64 interval_ns;
    u64 floor_events;
    u64 ceiling_events;
    u64 saturation_events;
    u64 horizon_intervals;
    u64 delays_ps[REGULATOR_MAX_CORES];     /* by regulated CPU: delay of an event of the others */
    u32 members;                            /* mask: CPUs of the module */
    u32 regulated;                          /* mask, of those */
    u64 budget_events[REGULATOR_MAX_CORES]; /* per interval, or REGULATOR_UNLIMITED */
};

/* One parameter, by its name. */
struct settings_key;

/* Default settings for the CPUs in the mask. */
void settings_default(struct settings *settings, u32 members);

/* The parameter with this index; NULL after the last one. */
const struct settings_key *settings_key_at(u32 index);
const char *settings_key_name(const struct settings_key *key);

/* Parses the text of one parameter; the text is modified. -EINVAL, with `settings` unchanged, if it is
 * invalid. */
int settings_parse_key(struct settings *settings, const struct settings_key *key, char *text);

/* Parses words `name=text`, each name at most once. -EINVAL if one of them is invalid; `settings` are
 * undefined then. */
int settings_parse(struct settings *settings, char *text);

/* Prints the text of one parameter, in the form that settings_parse_key() reads. */
void settings_print_key(struct seq_file *file, const struct settings *settings,
                        const struct settings_key *key);

/* Converts to core/'s parameters; a tick is a nanosecond. regulator_check() checks their consistency. */
void settings_regulator(const struct settings *settings, struct regulator_parameters *parameters);

#endif
