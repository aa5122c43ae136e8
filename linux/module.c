/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Load and unload of the module: its parameters, the order in which its parts start, and the opposite order
 * in which they end. On each CPU, budgets are enforced from cpus_online() to cpus_release() or
 * cpus_offline().
 */
#include "cpus.h"
#include "files.h"
#include "regulation.h"
#include "throttle.h"
#include "utilization_source.h"
#include <linux/bitmap.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#define MAX_BACKUP_EVENTS 1000000u

static char *cpus = "";
module_param(cpus, charp, 0444);
MODULE_PARM_DESC(cpus, "list of CPUs that count and can be limited, of 0 to 7; all by default");
static char *events = "0x17";
module_param(events, charp, 0444);
MODULE_PARM_DESC(events, "raw code of the counted event, or two codes with a comma to count their sum");
static uint backup_events;
module_param(backup_events, uint, 0444);
MODULE_PARM_DESC(backup_events, "a second counter overflows so many events later, for an emulator; 0: none");
#define MOST_SLACK (-1)
static int slack_events = MOST_SLACK;
module_param(slack_events, int, 0444);
MODULE_PARM_DESC(
    slack_events,
    "events by which a budget of a sum may be exceeded, for fewer interrupts: at most 1/32 of it, "
    "which is the default (-1)");
static bool keep_running;
module_param(keep_running, bool, 0444);
MODULE_PARM_DESC(keep_running, "count events but never stop a CPU, to measure the cost of regulation");
static char *parameters = "";
module_param(parameters, charp, 0444);
MODULE_PARM_DESC(parameters, "words name=value, as the file of that name in debugfs");

static enum cpuhp_state hotplug_state;

static int parse_cpus(u32 *members)
{
    DECLARE_BITMAP(mask, REGULATOR_MAX_CORES);

    bitmap_zero(mask, REGULATOR_MAX_CORES);
    if (*cpus == '\0') {
        if (nr_cpu_ids > REGULATOR_MAX_CORES) {
            pr_err("cpus: there are %u, name at most %u of them\n", nr_cpu_ids, REGULATOR_MAX_CORES);
            return -EINVAL;
        }
        bitmap_copy(mask, cpumask_bits(cpu_possible_mask), nr_cpu_ids);
    } else if (bitmap_parselist(cpus, mask, REGULATOR_MAX_CORES) != 0) {
        pr_err("cpus: '%s' is not a list of CPUs from 0 to %u\n", cpus, REGULATOR_MAX_CORES - 1);
        return -EINVAL;
    }
    *members = (u32)mask[0];
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        if ((*members >> i & 1) != 0 && (i >= nr_cpu_ids || !cpu_possible(i))) {
            pr_err("cpus: there is no CPU %u\n", i);
            return -EINVAL;
        }
    }
    return *members != 0 ? 0 : -EINVAL;
}

static int parse_event(const char *text, u32 *event)
{
    return kstrtou32(text, 0, event) == 0 && *event <= COUNTERS_MAX_EVENT ? 0 : -EINVAL;
}

static int parse_counters(struct counters_choice *choice)
{
    char text[32];
    char *second = text;
    const char *first;

    *choice = (struct counters_choice){.count = 1, .backup_events = backup_events};
    if (strscpy(text, events, sizeof(text)) < 0) {
        return -EINVAL;
    }
    first = strsep(&second, ",");
    if (second != NULL) {
        choice->count = 2;
        if (parse_event(second, &choice->events[1]) != 0) {
            return -EINVAL;
        }
    }
    if (parse_event(first, &choice->events[0]) != 0 || backup_events > MAX_BACKUP_EVENTS ||
        (choice->count > 1 && backup_events != 0)) {
        return -EINVAL;
    }
    return 0;
}

static int parse_settings(u32 members, struct settings *settings)
{
    char *text = kstrdup(parameters, GFP_KERNEL);
    int error;

    if (text == NULL) {
        return -ENOMEM;
    }
    settings_default(settings, members);
    error = settings_parse(settings, text);
    kfree(text);
    if (error != 0) {
        pr_err("parameters: '%s' has an invalid word\n", parameters);
    }
    return error;
}

/* Fills in the slack of a sum. It must fit each budget that is given at load; later ones reduce it where it
 * does not (core/reservation.h). */
static int parse_slack(const struct settings *settings, struct cpus_choice *choice)
{
    choice->slack_events = slack_events == MOST_SLACK ? REGULATOR_MAX_EVENTS : (u64)slack_events;
    if (slack_events == MOST_SLACK) {
        return 0;
    }
    if (slack_events < 0) {
        pr_err("slack_events: %d is negative (allowed: 0 or more, or -1 for 1/%u of each budget)\n",
               slack_events, RESERVATION_SLACK_PART);
        return -EINVAL;
    }
    if (choice->counters.count < 2 && slack_events != 0) {
        pr_err("slack_events: only the sum of two events has a slack, and events is '%s'\n", events);
        return -EINVAL;
    }
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        u64 budget = min_t(u64, settings->budget_events[i], REGULATOR_MAX_EVENTS);

        if ((choice->members >> i & 1) != 0 && choice->slack_events > reservation_most_slack(budget)) {
            pr_err("slack_events: %d is more than 1/%u of CPU %u's budget, at most %llu events (allowed: "
                   "%llu)\n",
                   slack_events, RESERVATION_SLACK_PART, i, budget, reservation_most_slack(budget));
            return -EINVAL;
        }
    }
    return 0;
}

static int start_cpus(void)
{
    int state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "bulkhead:online", cpus_online, cpus_offline);

    if (state < 0) {
        return state;
    }
    hotplug_state = (enum cpuhp_state)state;
    return 0;
}

static int start(const struct cpus_choice *choice, const struct settings *settings)
{
    int error = regulation_init(settings);

    if (error != 0) {
        return error;
    }
    error = cpus_init(choice);
    if (error != 0) {
        return error;
    }
    error = throttle_init();
    if (error == 0) {
        error = start_cpus();
        if (error != 0) {
            throttle_exit();
        }
    }
    if (error != 0) {
        cpus_exit();
    }
    return error;
}

static int __init bulkhead_init(void)
{
    struct cpus_choice choice = {.keep_running = keep_running};
    struct settings settings;
    int error = parse_cpus(&choice.members);

    if (error != 0) {
        return error;
    }
    if (parse_counters(&choice.counters) != 0) {
        pr_err("events: '%s', or backup_events, is out of range\n", events);
        return -EINVAL;
    }
    error = parse_settings(choice.members, &settings);
    if (error == 0) {
        error = parse_slack(&settings, &choice);
    }
    if (error != 0) {
        return error;
    }
    error = utilization_source_open();
    if (error != 0) {
        return error;
    }
    error = start(&choice, &settings);
    if (error != 0) {
        utilization_source_close();
        return error;
    }
    files_init();
    return 0;
}

static void __exit bulkhead_exit(void)
{
    files_exit();
    cpus_release();
    cpuhp_remove_state(hotplug_state);
    throttle_exit();
    cpus_exit();
    utilization_source_close();
}

module_init(bulkhead_init);
module_exit(bulkhead_exit);
MODULE_DESCRIPTION("Memory bandwidth of CPUs: budgets, and regulators by load of the memory");
MODULE_LICENSE("GPL");
