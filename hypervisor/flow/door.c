/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps the doors through windows of each core that stay open.
 */
#include "flow/door.h"
#include "core/socket_reach.h"
#include "flow/path_stamps.h"
#include "memory/placement.h"
#include "memory/window.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <stdatomic.h>
#include <string.h>

struct place {
    const struct domain *domain; /* the broker's own */
    paddr_t pages[BROKER_DOOR_PAGES];
    bool by_event;
    _Atomic uint32_t opening; /* number of openings; 0: the door was never open */
    _Atomic uint32_t kept;    /* number of the last opening whose broker's progress was saved */
    _Atomic bool open;
    struct door_progress progress[BH_MAX_DOMAINS]; /* progress of the last broker that has ended */
};

static struct place places[BH_MAX_BROKERS];

void door_init(void)
{
    memset(places, 0, sizeof(places));
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        memset(cpu_at(i)->flow.views, 0, sizeof(cpu_at(i)->flow.views));
    }
}

static uint64_t ticks_per_mebibyte(uint64_t bytes_per_s)
{
    return bytes_per_s == 0 ? 0 : ((1ull << 20) * clock_hz() + bytes_per_s - 1) / bytes_per_s;
}

/* What a broker is told about the domains that it serves. It learns nothing about the memory of others. */
static void fill_domains(struct broker_map *map, uint32_t number)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct manifest_domain *config = domain_at(i)->config;
        struct socket_reach reach = socket_reach_of(manifest, config);

        if (config->socket_cid == 0 || config->socket_broker != number) {
            continue;
        }
        map->domains[i].cid = config->socket_cid;
        map->domains[i].first_segment = reach.first_segment;
        map->domains[i].segment_count = reach.segment_count;
        memcpy(&map->segments[reach.first_segment], manifest_segments(manifest) + reach.first_segment,
               reach.segment_count * sizeof(map->segments[0]));
    }
}

static void fill(struct broker_map *map, uint32_t number)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_broker *broker = manifest_broker_at(manifest, number);
    const struct flow_costs *costs = manifest_costs(broker);

    *map = (struct broker_map){
        .chunk_bytes = broker->chunk_bytes,
        .copied_bytes = broker->engine == BH_BROKER_ENGINE_CPU_COPY ? UINT32_MAX : costs->copied_bytes,
        .counter_hz = clock_hz(),
        .patience_ticks = clock_ticks(broker->patience_ns),
        .look_back_ticks = clock_ticks(flow_look_back_ns(costs)),
        .ticks_per_mebibyte = ticks_per_mebibyte(broker->bytes_per_s),
        .color_bits = manifest_color_space(manifest).bits,
        .stamps = broker->stamps,
        .costs = *costs,
        .run_bytes = broker->run_bytes,
        .bytes_per_s = broker->bytes_per_s,
    };
    fill_domains(map, number);
    memcpy(map->color_sets, manifest_color_sets(manifest),
           manifest->color_sets.count * sizeof(map->color_sets[0]));
}

/* Finds the physical pages of the door, which must be whole pages of the broker's own memory. */
static bool find_pages(struct place *place, const struct domain *domain, uint64_t at)
{
    struct segment_map map = placement_map(system_manifest(), domain->config);

    if (at % BH_PAGE_BYTES != 0 || !segment_map_owns(&map, at, (uint64_t)BROKER_DOOR_PAGES * BH_PAGE_BYTES)) {
        return false;
    }
    for (uint32_t i = 0; i < BROKER_DOOR_PAGES; i++) {
        place->pages[i] = segment_map_at(&map, at + (uint64_t)i * BH_PAGE_BYTES, 1).pa;
    }
    return true;
}

static enum window window_of(uint32_t broker, enum window first)
{
    return (enum window)((uint32_t)first + broker * (WINDOW_SECOND_DOOR - WINDOW_DOOR));
}

static struct door_view *view(uint32_t broker)
{
    struct door_view *own = &this_cpu()->flow.views[broker];
    uint32_t opening = atomic_load(&places[broker].opening);

    if (own->opening != opening) {
        const struct place *place = &places[broker];

        own->door = window_open(this_cpu()->index, window_of(broker, WINDOW_DOOR), place->pages[0]);
        own->reply = window_open(this_cpu()->index, window_of(broker, WINDOW_REPLY), place->pages[1]);
        own->opening = opening;
    }
    return own;
}

uint32_t door_opening(uint32_t broker)
{
    return atomic_load(&places[broker].opening);
}

bool door_open(uint32_t broker, const struct domain *domain, uint64_t at, bool by_event)
{
    struct place *place = &places[broker];
    struct broker_map *map;

    if (atomic_load(&place->open) || !find_pages(place, domain, at)) {
        return false;
    }
    place->domain = domain;
    place->by_event = by_event;
    map = window_open(this_cpu()->index, WINDOW_DESTINATION, place->pages[2]);
    fill(map, broker);
    window_close(this_cpu()->index, WINDOW_DESTINATION);
    atomic_fetch_add(&place->opening, 1);
    memset(view(broker)->door, 0, sizeof(struct broker_door));
    memcpy(view(broker)->reply->progress, place->progress, sizeof(place->progress));
    atomic_store(&place->open, true);
    return true;
}

void door_close(uint32_t broker)
{
    atomic_store(&places[broker].open, false);
}

const struct broker_reply *door_keep_progress(uint32_t broker)
{
    struct place *place = &places[broker];
    const struct broker_reply *reply;

    if (atomic_load(&place->opening) == atomic_load(&place->kept)) {
        return NULL;
    }
    reply = view(broker)->reply;
    memcpy(place->progress, reply->progress, sizeof(place->progress));
    atomic_store(&place->kept, atomic_load(&place->opening));
    return reply;
}

struct broker_door *door_here(uint32_t broker)
{
    return atomic_load(&places[broker].open) ? view(broker)->door : NULL;
}

const struct broker_reply *door_reply_here(uint32_t broker)
{
    return atomic_load(&places[broker].open) ? view(broker)->reply : NULL;
}

/* Sets the interrupt line of a broker that waits for interrupts. */
static void set_line(const struct place *place, bool level)
{
    vgic_set_spi_level(domain_at(place->domain->index), place->domain->config->socket_irq, level);
}

/* Either this core sees that the broker waits, or the broker sees the earlier stores when it checks a last
 * time before it waits. */
void door_wake(uint32_t broker, struct broker_door *door)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (__atomic_load_n(&view(broker)->reply->waits, __ATOMIC_RELAXED) == 0) {
        return;
    }
    if (__atomic_exchange_n(&door->woken, 1, __ATOMIC_RELEASE) != 0) {
        return; /* already woken: one event or interrupt for each time that the broker waits */
    }
    if (places[broker].by_event) {
        arch_sev();
    } else {
        set_line(&places[broker], true);
    }
}

void door_heard(uint32_t broker)
{
    if (!places[broker].by_event) {
        set_line(&places[broker], false);
    }
}

static bool has_sent_bell(const struct door_device *device)
{
    return (__atomic_load_n(&device->bells, __ATOMIC_ACQUIRE) & 1u << VSOCK_QUEUE_TX) != 0;
}

uint64_t door_unheard_since(const struct broker_door *door, uint32_t device)
{
    const struct door_device *from = &door->devices[device];

    return has_sent_bell(from) ? __atomic_load_n(&from->notified_at, __ATOMIC_RELAXED) : 0;
}

void door_ring(uint32_t broker, struct broker_door *door, uint32_t device, uint32_t bells)
{
    struct door_device *to = &door->devices[device];

    if ((bells & 1u << VSOCK_QUEUE_TX) != 0 && !has_sent_bell(to)) {
        __atomic_store_n(&to->notified_at, clock_now(), __ATOMIC_RELAXED);
    }
    __atomic_fetch_or(&to->bells, bells, __ATOMIC_RELEASE);
    door_wake(broker, door);
}
