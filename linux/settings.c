/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * One table of names with their ranges. Ranges that core/ checks are not checked again here; in addition,
 * values are refused that would make the host unusable.
 */
#include "settings.h"
#include "core/regulator_policy.h"
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#define PERMILLE          1000u
#define MIN_INTERVAL_NS   100000u     /* each interval costs an interrupt of some microseconds on each CPU */
#define MAX_INTERVAL_NS   1000000000u /* longest time for which a CPU can be stopped */
#define DEFAULT_INTERVAL  1000000u
#define DEFAULT_PERMILLE  800u
#define DEFAULT_FLOOR     16u
#define DEFAULT_HORIZON   100u
#define PS_PER_NS         1000u
#define DEFAULT_BANDWIDTH 14844u /* 950 MB/s of 64 bytes in 1 ms */

static const char *const hold_names[] = {"keep", "decrease"};
static const char *const switch_names[] = {"off", "on"};

/* A parameter: a number with a range, one of several names, or text with its own parse and print
 * functions. */
struct settings_key {
    const char *name;
    size_t offset; /* of the field: u64 for a number, u32 for a name */
    u64 least;
    u64 most;
    const char *const *names;
    size_t name_count;
    int (*parse)(struct settings *settings, char *text);
    void (*print)(struct seq_file *file, const struct settings *settings);
};

#define FIELD(field) .offset = offsetof(struct settings, field)
#define NUMBER(field, low, top)                                                                              \
    {                                                                                                        \
        .name = #field, FIELD(field), .least = (low), .most = (top)                                          \
    }
#define NAME(field, list)                                                                                    \
    {                                                                                                        \
        .name = #field, FIELD(field), .names = (list), .name_count = ARRAY_SIZE(list)                        \
    }

static int parse_number(const char *text, u64 least, u64 most, u64 *value)
{
    u64 found;

    if (kstrtou64(text, 0, &found) != 0 || found < least || found > most) {
        return -EINVAL;
    }
    *value = found;
    return 0;
}

static int parse_name(const char *text, const char *const names[], size_t count, u32 *value)
{
    int found = match_string(names, count, text);

    if (found < 0) {
        return -EINVAL;
    }
    *value = (u32)found;
    return 0;
}

static int parse_policy(struct settings *settings, char *text)
{
    if (strcmp(text, "none") == 0) {
        settings->policy = SETTINGS_NONE;
        return 0;
    }
    for (u32 i = 0; i < REGULATOR_POLICY_COUNT; i++) {
        if (strcmp(text, regulator_policy_at(i)->name) == 0) {
            settings->policy = i;
            return 0;
        }
    }
    return -EINVAL;
}

static void print_policy(struct seq_file *file, const struct settings *settings)
{
    const struct regulator_policy *policy = regulator_policy_at(settings->policy);

    seq_puts(file, policy != NULL ? policy->name : "none");
}

static int parse_regulated(struct settings *settings, char *text)
{
    DECLARE_BITMAP(cpus, REGULATOR_MAX_CORES);

    if (bitmap_parselist(text, cpus, REGULATOR_MAX_CORES) != 0 ||
        (cpus[0] & ~(unsigned long)settings->members) != 0) {
        return -EINVAL;
    }
    settings->regulated = (u32)cpus[0];
    return 0;
}

static void print_regulated(struct seq_file *file, const struct settings *settings)
{
    unsigned long cpus[1] = {settings->regulated};

    seq_printf(file, "%*pbl", (int)REGULATOR_MAX_CORES, cpus);
}

/* `cpu:events` or `cpu:unlimited`. 0 is refused: it would stop a CPU for good that the kernel needs too. */
static int parse_budget(u32 members, u64 budget_events[REGULATOR_MAX_CORES], char *text)
{
    char *events = text;
    const char *number = strsep(&events, ":");
    u64 cpu;

    if (events == NULL || parse_number(number, 0, REGULATOR_MAX_CORES - 1, &cpu) != 0 ||
        (members >> cpu & 1) == 0) {
        return -EINVAL;
    }
    if (strcmp(events, "unlimited") == 0) {
        budget_events[cpu] = REGULATOR_UNLIMITED;
        return 0;
    }
    return parse_number(events, 1, REGULATOR_MAX_EVENTS, &budget_events[cpu]);
}

/* `cpu:ps`; values of CPUs that are not named are unchanged. */
static int parse_delays(struct settings *settings, char *text)
{
    u64 delays_ps[REGULATOR_MAX_CORES];
    char *part;

    memcpy(delays_ps, settings->delays_ps, sizeof(delays_ps));
    while ((part = strsep(&text, ",")) != NULL) {
        const char *number = strsep(&part, ":");
        u64 cpu;

        if (part == NULL || parse_number(number, 0, REGULATOR_MAX_CORES - 1, &cpu) != 0 ||
            (settings->members >> cpu & 1) == 0 || parse_number(part, 0, U32_MAX, &delays_ps[cpu]) != 0) {
            return -EINVAL;
        }
    }
    memcpy(settings->delays_ps, delays_ps, sizeof(delays_ps));
    return 0;
}

static void print_delays(struct seq_file *file, const struct settings *settings)
{
    const char *before = "";

    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        if ((settings->members >> i & 1) != 0) {
            seq_printf(file, "%s%u:%llu", before, i, settings->delays_ps[i]);
            before = ",";
        }
    }
}

/* Values of CPUs that are not named are unchanged. */
static int parse_budgets(struct settings *settings, char *text)
{
    u64 budget_events[REGULATOR_MAX_CORES];
    char *part;

    memcpy(budget_events, settings->budget_events, sizeof(budget_events));
    while ((part = strsep(&text, ",")) != NULL) {
        if (parse_budget(settings->members, budget_events, part) != 0) {
            return -EINVAL;
        }
    }
    memcpy(settings->budget_events, budget_events, sizeof(budget_events));
    return 0;
}

static void print_budgets(struct seq_file *file, const struct settings *settings)
{
    const char *before = "";

    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        if ((settings->members >> i & 1) == 0) {
            continue;
        }
        if (settings->budget_events[i] == REGULATOR_UNLIMITED) {
            seq_printf(file, "%s%u:unlimited", before, i);
        } else {
            seq_printf(file, "%s%u:%llu", before, i, settings->budget_events[i]);
        }
        before = ",";
    }
}

static const struct settings_key keys[] = {
    {.name = "policy", .parse = parse_policy, .print = print_policy},
    NUMBER(threshold_permille, 1, 2 * PERMILLE),
    NUMBER(bandwidth_threshold_events, 1, TRAFFIC_MAX_EVENTS),
    NUMBER(step_permille, 0, PERMILLE - 1),
    NAME(hold, hold_names),
    NUMBER(interval_ns, MIN_INTERVAL_NS, MAX_INTERVAL_NS),
    NUMBER(floor_events, 1, REGULATOR_MAX_EVENTS),
    NUMBER(ceiling_events, 1, REGULATOR_MAX_EVENTS),
    NUMBER(saturation_events, 0, U64_MAX - 1),
    {.name = "regulated", .parse = parse_regulated, .print = print_regulated},
    {.name = "budgets", .parse = parse_budgets, .print = print_budgets},
    NUMBER(horizon_intervals, 1, REGULATOR_MAX_HORIZON),
    {.name = "delays_ps", .parse = parse_delays, .print = print_delays},
    NAME(store_samples, switch_names),
};

void settings_default(struct settings *settings, u32 members)
{
    *settings = (struct settings){
        .policy = SETTINGS_NONE,
        .hold = REGULATOR_HOLD_KEEP,
        .threshold_permille = DEFAULT_PERMILLE,
        .bandwidth_threshold_events = DEFAULT_BANDWIDTH,
        .interval_ns = DEFAULT_INTERVAL,
        .horizon_intervals = DEFAULT_HORIZON,
        .floor_events = DEFAULT_FLOOR,
        .ceiling_events = REGULATOR_MAX_EVENTS,
        .members = members,
        .store_samples = 1,
    };
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        settings->budget_events[i] = REGULATOR_UNLIMITED;
    }
}

const struct settings_key *settings_key_at(u32 index)
{
    return index < ARRAY_SIZE(keys) ? &keys[index] : NULL;
}

const char *settings_key_name(const struct settings_key *key)
{
    return key->name;
}

int settings_parse_key(struct settings *settings, const struct settings_key *key, char *text)
{
    void *field = (char *)settings + key->offset;

    text = strim(text);
    if (key->parse != NULL) {
        return key->parse(settings, text);
    }
    return key->names != NULL ? parse_name(text, key->names, key->name_count, field)
                              : parse_number(text, key->least, key->most, field);
}

static const struct settings_key *find(const char *name)
{
    for (u32 i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

int settings_parse(struct settings *settings, char *text)
{
    unsigned long seen = 0;
    char *word;

    while ((word = strsep(&text, " \t\r\n")) != NULL) {
        const struct settings_key *key;
        char *value = word;

        if (*word == '\0') {
            continue;
        }
        key = find(strsep(&value, "="));
        if (key == NULL || value == NULL || (seen >> (key - keys) & 1) != 0 ||
            settings_parse_key(settings, key, value) != 0) {
            return -EINVAL;
        }
        seen |= 1ul << (key - keys);
    }
    return 0;
}

void settings_print_key(struct seq_file *file, const struct settings *settings,
                        const struct settings_key *key)
{
    const void *field = (const char *)settings + key->offset;

    if (key->print != NULL) {
        key->print(file, settings);
    } else if (key->names != NULL) {
        seq_puts(file, key->names[*(const u32 *)field]);
    } else {
        seq_printf(file, "%llu", *(const u64 *)field);
    }
}

static u32 fraction_of(u64 permille)
{
    return (u32)((permille * UTILIZATION_ONE + PERMILLE / 2) / PERMILLE);
}

void settings_regulator(const struct settings *settings, struct regulator_parameters *parameters)
{
    bool none = settings->policy == SETTINGS_NONE;
    u32 policy = none ? REGULATOR_STATIC : settings->policy;

    *parameters = (struct regulator_parameters){
        .policy = policy,
        .hold = (enum regulator_hold)settings->hold,
        .threshold = fraction_of(settings->threshold_permille),
        .step = fraction_of(settings->step_permille),
        .bandwidth_threshold_events = settings->bandwidth_threshold_events,
        .interval_ticks = settings->interval_ns,
        .horizon_intervals = (u32)settings->horizon_intervals,
        .regulated = policy != REGULATOR_STATIC ? settings->regulated : 0,
        .floor_events = settings->floor_events,
        .ceiling_events = settings->ceiling_events,
        .saturation_events = none ? 0 : settings->saturation_events,
        .store_samples = settings->store_samples != 0,
    };
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        u64 wanted = none ? REGULATOR_UNLIMITED : settings->budget_events[i];

        parameters->budget_events[i] = (settings->members >> i & 1) != 0 ? wanted : 0;
        parameters->event_delays[i] =
            regulator_event_delay(settings->delays_ps[i], settings->interval_ns * PS_PER_NS);
    }
}
