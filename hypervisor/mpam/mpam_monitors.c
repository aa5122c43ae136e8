/* SPDX-License-Identifier: Apache-2.0
 *
 * Monitors: one for storage and one for bandwidth for each PARTID of the hypervisor and of domains, as long
 * as an instance has monitors left. Each monitor is configured once and never reset; a read changes only the
 * selection. Bandwidth values are accumulated in 64 bits, so a counter may wrap once between two reads.
 */
#include "core/manifest_mpam.h"
#include "mpam/mpam_registers.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <stddef.h>

#define HYPERVISOR 0xFFFFu
#define LONG_TRIES 3u /* attempts to read a long value; its upper half rarely changes between two */
#define NO_MONITOR 0xFFFFFFFFu
#define UPPER_HALF 4u

struct monitor {
    uint16_t number;
    uint64_t value; /* bandwidth: value of the counter at the last read */
};

static struct {
    struct monitor monitors[BH_MAX_MPAM_MONITORS];
    uint32_t next; /* index of the monitor that is read next */
} own;

_Static_assert(BH_MAX_MPAM_PARTID <= UINT16_MAX && BH_MAX_DOMAINS < HYPERVISOR,
               "PARTIDs and owners must fit into 16 bits of status_mpam_monitor");

static const struct mpam_component *component_of(const struct status_mpam_monitor *monitor)
{
    return mpam_component_at(monitor->component);
}

static uint32_t value_bits(const struct status_mpam_monitor *monitor)
{
    return component_of(monitor)->instances[monitor->instance].bandwidth_value_bits;
}

static void select_monitor(const struct status_mpam_monitor *monitor, uint32_t number)
{
    mpam_write(component_of(monitor), MSMON_CFG_MON_SEL,
               (uint32_t)monitor->instance << MPAM_SEL_RIS_SHIFT | number);
}

/* Disables the monitor, sets its filter, and enables it again. */
static void configure(const struct status_mpam_monitor *monitor, uint32_t number)
{
    const struct mpam_component *component = component_of(monitor);

    select_monitor(monitor, number);
    if (monitor->kind == BH_MPAM_MONITOR_KIND_STORAGE) {
        mpam_write(component, MSMON_CFG_CSU_CTL, MSMON_CTL_TYPE_CSU);
        mpam_write(component, MSMON_CFG_CSU_FLT, monitor->partid);
        mpam_write(component, MSMON_CFG_CSU_CTL, MSMON_CTL_TYPE_CSU | MSMON_CTL_MATCH_PARTID | MSMON_CTL_EN);
        return;
    }
    mpam_write(component, MSMON_CFG_MBWU_CTL, MSMON_CTL_TYPE_MBWU);
    mpam_write(component, MSMON_CFG_MBWU_FLT, monitor->partid);
    if (value_bits(monitor) > 31) {
        mpam_write(component, MSMON_MBWU_L, 0);
        mpam_write(component, MSMON_MBWU_L + UPPER_HALF, 0);
    } else {
        mpam_write(component, MSMON_MBWU, 0);
    }
    mpam_write(component, MSMON_CFG_MBWU_CTL, MSMON_CTL_TYPE_MBWU | MSMON_CTL_MATCH_PARTID | MSMON_CTL_EN);
}

static void add(uint32_t component, uint32_t instance, uint32_t kind, uint32_t number, uint32_t partid,
                uint32_t owner)
{
    struct status_mpam *status = mpam_status();
    uint32_t place = status->monitor_count;

    if (place == BH_MAX_MPAM_MONITORS || number == NO_MONITOR) {
        status->without_monitor++;
        return;
    }
    status->monitors[place] = (struct status_mpam_monitor){
        .component = (uint8_t)component,
        .instance = (uint8_t)instance,
        .kind = (uint8_t)kind,
        .flags = BH_MPAM_MONITOR_FLAG_NEVER_READ,
        .partid = (uint16_t)partid,
        .owner = (uint16_t)owner,
    };
    own.monitors[place] = (struct monitor){.number = (uint16_t)number};
    status->monitor_count++;
    configure(&status->monitors[place], number);
}

/* Assigns the monitors of one kind: to the hypervisor first, then to domains in their order. */
static void add_all(uint32_t component, uint32_t instance, uint32_t kind, uint32_t count)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t number = 0;

    if (count == 0) {
        return;
    }
    add(component, instance, kind, number++, manifest->mpam.partid, HYPERVISOR);
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        for (uint32_t j = 0; j < manifest_mpam_count(domain); j++) {
            add(component, instance, kind, number < count ? number : NO_MONITOR, domain->mpam_partid + j, i);
            number++;
        }
    }
}

void mpam_monitors_init(void)
{
    own.next = 0;
    for (uint32_t i = 0; i < mpam_component_count(); i++) {
        const struct mpam_component *component = mpam_component_at(i);

        for (uint32_t j = 0; j < component->config->instance_count; j++) {
            add_all(i, j, BH_MPAM_MONITOR_KIND_STORAGE, component->instances[j].storage_monitors);
            add_all(i, j, BH_MPAM_MONITOR_KIND_BANDWIDTH, component->instances[j].bandwidth_monitors);
        }
    }
}

/* False if the monitor is not ready. */
static bool read_short(const struct mpam_component *component, uint32_t offset, uint64_t *value)
{
    uint32_t read = mpam_read(component, offset);

    *value = read & MSMON_VALUE;
    return (read & MSMON_NRDY) == 0;
}

/* Reads the upper half before and after the lower one: the halves belong together if the upper one is the
 * same. False if the monitor is not ready, or the upper half changed LONG_TRIES times. */
static bool read_long(const struct mpam_component *component, uint64_t *value)
{
    uint32_t upper = mpam_read(component, MSMON_MBWU_L + UPPER_HALF);

    for (uint32_t i = 0; i < LONG_TRIES; i++) {
        uint32_t lower = mpam_read(component, MSMON_MBWU_L);
        uint32_t again = mpam_read(component, MSMON_MBWU_L + UPPER_HALF);

        *value = ((uint64_t)upper << 32 | lower) & ~MSMON_L_NRDY;
        if (again == upper) {
            return ((uint64_t)upper << 32 & MSMON_L_NRDY) == 0;
        }
        upper = again;
    }
    return false;
}

static void set_flag(struct status_mpam_monitor *monitor, uint32_t flag, bool on)
{
    monitor->flags = (uint8_t)(on ? monitor->flags | flag : monitor->flags & ~flag);
}

/* Bytes that were counted since the last read, if the counter wrapped at most once. */
static uint64_t difference(struct status_mpam_monitor *monitor, uint64_t before, uint64_t now)
{
    if (now < before) {
        set_flag(monitor, BH_MPAM_MONITOR_FLAG_WRAPPED, true);
    }
    return (now - before) & ((1ull << value_bits(monitor)) - 1);
}

static void publish(struct status_mpam_monitor *monitor, struct monitor *kept, uint64_t value)
{
    uint64_t bytes = value;

    set_flag(monitor, BH_MPAM_MONITOR_FLAG_NEVER_READ, false);
    if (monitor->kind == BH_MPAM_MONITOR_KIND_STORAGE) {
        monitor->bytes = value;
    } else {
        bytes = difference(monitor, kept->value, value);
        monitor->bytes += bytes;
        kept->value = value;
    }
    monitor->most_bytes = bytes > monitor->most_bytes ? bytes : monitor->most_bytes;
}

static void read_one(uint32_t place)
{
    struct status_mpam *status = mpam_status();
    struct status_mpam_monitor *monitor = &status->monitors[place];
    const struct mpam_component *component = component_of(monitor);
    uint64_t began = clock_now();
    uint64_t ticks;
    uint64_t value;
    bool ready;

    select_monitor(monitor, own.monitors[place].number);
    if (monitor->kind == BH_MPAM_MONITOR_KIND_STORAGE) {
        ready = read_short(component, MSMON_CSU, &value);
    } else {
        ready = value_bits(monitor) > 31 ? read_long(component, &value)
                                         : read_short(component, MSMON_MBWU, &value);
    }
    set_flag(monitor, BH_MPAM_MONITOR_FLAG_NOT_READY, !ready);
    if (ready) {
        publish(monitor, &own.monitors[place], value);
    }
    ticks = clock_now() - began;
    status->reads++;
    status->read_sum_ticks += ticks;
    status->read_max_ticks = ticks > status->read_max_ticks ? ticks : status->read_max_ticks;
}

void mpam_monitors_read_next(void)
{
    uint32_t count = mpam_status()->monitor_count;

    if (count != 0) {
        own.next = own.next < count ? own.next : 0;
        read_one(own.next++);
    }
}

void mpam_monitors_read_all(void)
{
    for (uint32_t i = 0; i < mpam_status()->monitor_count; i++) {
        read_one(i);
    }
}
