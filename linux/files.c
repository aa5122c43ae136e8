/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Each write is one change, applied as a whole: if any part is invalid, all of it is refused. Reading shows
 * the settings requested last; `status` says whether they are in force.
 */
#include "files.h"
#include "cpus.h"
#include "regulation.h"
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define MAX_TEXT_BYTES 1024u
#define READ_WRITE     0600
#define READ_ONLY      0400

static struct dentry *directory;

struct wanted {
    const struct settings_key *key; /* NULL: text of words `name=text` */
    char *text;
};

static int change(struct settings *settings, void *argument)
{
    const struct wanted *wanted = argument;

    return wanted->key != NULL ? settings_parse_key(settings, wanted->key, wanted->text)
                               : settings_parse(settings, wanted->text);
}

static ssize_t write_settings(const struct settings_key *key, const char __user *from, size_t bytes)
{
    struct wanted wanted = {.key = key};
    int error;

    if (bytes > MAX_TEXT_BYTES) {
        return -EINVAL;
    }
    wanted.text = memdup_user_nul(from, bytes);
    if (IS_ERR(wanted.text)) {
        return PTR_ERR(wanted.text);
    }
    error = strlen(wanted.text) == bytes ? regulation_change(change, &wanted) : -EINVAL;
    kfree(wanted.text);
    return error != 0 ? error : (ssize_t)bytes;
}

static int show_parameter(struct seq_file *file, void *unused)
{
    struct settings settings;

    regulation_settings(&settings);
    settings_print_key(file, &settings, file->private);
    seq_putc(file, '\n');
    return 0;
}

static int open_parameter(struct inode *inode, struct file *file)
{
    return single_open(file, show_parameter, inode->i_private);
}

static ssize_t write_parameter(struct file *file, const char __user *from, size_t bytes, loff_t *position)
{
    const struct seq_file *text = file->private_data;

    return write_settings(text->private, from, bytes);
}

static const struct file_operations parameter_file = {
    .owner = THIS_MODULE,
    .open = open_parameter,
    .read = seq_read,
    .write = write_parameter,
    .llseek = seq_lseek,
    .release = single_release,
};

static int show_parameters(struct seq_file *file, void *unused)
{
    const struct settings_key *key;
    struct settings settings;

    regulation_settings(&settings);
    for (u32 i = 0; (key = settings_key_at(i)) != NULL; i++) {
        seq_printf(file, "%s=", settings_key_name(key));
        settings_print_key(file, &settings, key);
        seq_putc(file, '\n');
    }
    return 0;
}

static int open_parameters(struct inode *inode, struct file *file)
{
    return single_open(file, show_parameters, NULL);
}

static ssize_t write_parameters(struct file *file, const char __user *from, size_t bytes, loff_t *position)
{
    return write_settings(NULL, from, bytes);
}

static const struct file_operations parameters_file = {
    .owner = THIS_MODULE,
    .open = open_parameters,
    .read = seq_read,
    .write = write_parameters,
    .llseek = seq_lseek,
    .release = single_release,
};

static void show_cpu(struct seq_file *file, unsigned int cpu)
{
    struct cpus_statistics statistics;
    const struct reservation_statistics *from = &statistics.reservation;

    if (!cpus_statistics(cpu, &statistics)) {
        return;
    }
    seq_printf(file, "cpu%u.online=%u\n", cpu, statistics.started);
    seq_printf(file, "cpu%u.throttled=%u\n", cpu, statistics.throttled);
    if (statistics.limit_events == RESERVATION_UNLIMITED) {
        seq_printf(file, "cpu%u.limit_events=unlimited\n", cpu);
    } else {
        seq_printf(file, "cpu%u.limit_events=%llu\n", cpu, statistics.limit_events);
    }
    seq_printf(file, "cpu%u.events=%llu\n", cpu, from->events);
    seq_printf(file, "cpu%u.periods=%llu\n", cpu, from->periods);
    seq_printf(file, "cpu%u.late_periods=%llu\n", cpu, from->late_periods);
    seq_printf(file, "cpu%u.throttled_periods=%llu\n", cpu, from->throttled_periods);
    seq_printf(file, "cpu%u.throttled_ns=%llu\n", cpu, from->throttled_ticks);
    seq_printf(file, "cpu%u.period_max_events=%llu\n", cpu, from->period_max_events);
    seq_printf(file, "cpu%u.overshoot_periods=%llu\n", cpu, from->overshoot_periods);
    seq_printf(file, "cpu%u.overshoot_events=%llu\n", cpu, from->overshoot_events);
    seq_printf(file, "cpu%u.overshoot_max_events=%llu\n", cpu, from->overshoot_max_events);
    seq_printf(file, "cpu%u.held_events=%llu\n", cpu, statistics.held_events);
    seq_printf(file, "cpu%u.gave_way=%llu\n", cpu, statistics.gave_way);
    seq_printf(file, "cpu%u.uncounted=%llu\n", cpu, statistics.uncounted);
}

static int status_show(struct seq_file *file, void *unused)
{
    struct regulation_statistics statistics;

    regulation_statistics(&statistics);
    seq_printf(file, "change_waits=%u\n", statistics.waits);
    seq_printf(file, "changes=%llu\n", statistics.steps.changes);
    seq_printf(file, "intervals=%llu\n", statistics.steps.samples);
    seq_printf(file, "missed=%llu\n", statistics.steps.missed);
    seq_printf(file, "given_up=%llu\n", statistics.given_up);
    seq_printf(file, "unusable=%llu\n", statistics.steps.unusable);
    seq_printf(file, "global_events=%llu\n", statistics.global_events);
    seq_printf(file, "load_permille=%u\n", (u32)((u64)statistics.load * 1000 >> 16));
    for (unsigned int cpu = 0; cpu < REGULATOR_MAX_CORES; cpu++) {
        show_cpu(file, cpu);
    }
    return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

void files_init(void)
{
    const struct settings_key *key;

    directory = debugfs_create_dir("bulkhead", NULL);
    for (u32 i = 0; (key = settings_key_at(i)) != NULL; i++) {
        debugfs_create_file(settings_key_name(key), READ_WRITE, directory, (void *)(uintptr_t)key,
                            &parameter_file);
    }
    debugfs_create_file("parameters", READ_WRITE, directory, NULL, &parameters_file);
    debugfs_create_file("status", READ_ONLY, directory, NULL, &status_fops);
    debugfs_create_file("samples", READ_ONLY, directory, NULL, &samples_file);
}

void files_exit(void)
{
    debugfs_remove(directory);
}
