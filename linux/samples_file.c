/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The file `samples`: a line for each interval of each CPU, from the oldest stored one on, and a line where
 * samples were overwritten before they were read. Each open file has its own position; at the end a read
 * returns nothing until there are new samples, as with a log.
 */
#include "core/regulator_share.h"
#include "cpus.h"
#include "files.h"
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define LINE_BYTES 256u
#define TEXT_BYTES 4096u

static const char heading[] =
    "# cpu interval time_ns periods events limit_events throttled_ns global_events load_permille carried\n";

struct reading {
    struct mutex lock;
    u32 cpu; /* CPU whose samples are read next */
    bool begun;
    bool there[REGULATOR_MAX_CORES];
    struct sample_reader readers[REGULATOR_MAX_CORES];
    char text[TEXT_BYTES];
    size_t bytes; /* length of the text */
    size_t given; /* bytes of the text already given to the reader */
};

static int open_samples(struct inode *inode, struct file *file)
{
    struct reading *reading = kzalloc(sizeof(*reading), GFP_KERNEL);

    if (reading == NULL) {
        return -ENOMEM;
    }
    mutex_init(&reading->lock);
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        reading->there[i] = cpus_samples(i, &reading->readers[i]);
    }
    file->private_data = reading;
    return stream_open(inode, file);
}

static int release_samples(struct inode *inode, struct file *file)
{
    kfree(file->private_data);
    return 0;
}

static void put_sample(struct reading *reading, u32 cpu, const struct sample *sample)
{
    char *to = reading->text + reading->bytes;
    size_t bytes;

    bytes = scnprintf(to, LINE_BYTES, "%u %llu %llu %llu %llu ", cpu, sample->number, sample->time_ns,
                      sample->periods, sample->events);
    if (sample->limit_events == RESERVATION_UNLIMITED) {
        bytes += scnprintf(to + bytes, LINE_BYTES - bytes, "unlimited");
    } else {
        bytes += scnprintf(to + bytes, LINE_BYTES - bytes, "%llu", sample->limit_events);
    }
    bytes += scnprintf(to + bytes, LINE_BYTES - bytes, " %llu %llu %u %d\n", sample->throttled_ns,
                       sample->global_events, sample->load * 1000 >> 16, sample->carried);
    reading->bytes += bytes;
}

/* Adds lines of one CPU while there are samples and room. */
static void put_samples(struct reading *reading, u32 cpu)
{
    struct sample_reader *reader = &reading->readers[cpu];
    u64 dropped = reader->dropped;
    struct sample sample;

    while (reading->bytes + 2 * LINE_BYTES <= TEXT_BYTES && sample_read(reader, (u64 *)&sample)) {
        if (reader->dropped != dropped) {
            reading->bytes += scnprintf(reading->text + reading->bytes, LINE_BYTES, "# cpu %u dropped %llu\n",
                                        cpu, reader->dropped - dropped);
            dropped = reader->dropped;
        }
        put_sample(reading, cpu, &sample);
    }
}

static void refill(struct reading *reading)
{
    reading->bytes = 0;
    reading->given = 0;
    if (!reading->begun) {
        reading->begun = true;
        reading->bytes = strscpy(reading->text, heading, TEXT_BYTES);
    }
    for (u32 i = 0; i < REGULATOR_MAX_CORES; i++) {
        u32 cpu = (reading->cpu + i) % REGULATOR_MAX_CORES;

        if (reading->there[cpu]) {
            put_samples(reading, cpu);
        }
    }
    reading->cpu = (reading->cpu + 1) % REGULATOR_MAX_CORES; /* rotates, so that no CPU is always last */
}

static ssize_t copy_out(struct reading *reading, char __user *to, size_t bytes)
{
    size_t part;

    if (reading->given == reading->bytes) {
        refill(reading);
    }
    part = min(bytes, reading->bytes - reading->given);
    if (copy_to_user(to, reading->text + reading->given, part) != 0) {
        return -EFAULT;
    }
    reading->given += part;
    return (ssize_t)part;
}

static ssize_t read_samples(struct file *file, char __user *to, size_t bytes, loff_t *position)
{
    struct reading *reading = file->private_data;
    ssize_t given;

    if (mutex_lock_interruptible(&reading->lock) != 0) {
        return -EINTR;
    }
    given = copy_out(reading, to, bytes);
    mutex_unlock(&reading->lock);
    return given;
}

const struct file_operations samples_file = {
    .owner = THIS_MODULE,
    .open = open_samples,
    .read = read_samples,
    .llseek = noop_llseek,
    .release = release_samples,
};
