/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps the door through windows of each core that stay open.
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

static struct {
    const struct domain *broker;
    paddr_t pages[BROKER_DOOR_PAGES];
    bool by_event;
    _Atomic uint32_t opening; /* number of openings; 0: the door was never open */
    _Atomic uint32_t kept;    /* number of the last opening whose broker's progress was saved */
    _Atomic bool open;
    struct door_progress progress[BH_MAX_DOMAINS]; /* progress of the last broker that has ended */
} place;

void door_init(void)
{
    memset(&place, 0, sizeof(place));
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        cpu_at(i)->flow.view.opening = 0;
    }
}

static uint64_t ticks_per_mebibyte(uint64_t bytes_per_s)
{
    return bytes_per_s == 0 ? 0 : ((1ull << 20) * clock_hz() + bytes_per_s - 1) / bytes_per_s;
}

static void fill(struct broker_map *map)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_broker *broker = &manifest->broker;
    const struct flow_costs *costs = manifest_costs(manifest);

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
    for (uint32_t i = 0; i < domain_count(); i++) {
        const struct manifest_domain *config = domain_at(i)->config;
        struct socket_reach reach = socket_reach_of(manifest, config);

        map->domains[i].cid = config->socket_cid;
        map->domains[i].first_segment = reach.first_segment;
        map->domains[i].segment_count = config->socket_cid != 0 ? reach.segment_count : 0;
    }
    memcpy(map->color_sets, manifest_color_sets(manifest),
           manifest->color_sets.count * sizeof(map->color_sets[0]));
    memcpy(map->segments, manifest_segments(manifest), manifest->segments.count * sizeof(map->segments[0]));
}

/* Finds the physical pages of the door, which must be whole pages of the broker's own memory. */
static bool find_pages(const struct domain *broker, uint64_t at)
{
    struct segment_map map = placement_map(system_manifest(), broker->config);

    if (at % BH_PAGE_BYTES != 0 || !segment_map_owns(&map, at, (uint64_t)BROKER_DOOR_PAGES * BH_PAGE_BYTES)) {
        return false;
    }
    for (uint32_t i = 0; i < BROKER_DOOR_PAGES; i++) {
        place.pages[i] = segment_map_at(&map, at + (uint64_t)i * BH_PAGE_BYTES, 1).pa;
    }
    return true;
}

static struct door_view *view(void)
{
    struct door_view *own = &this_cpu()->flow.view;
    uint32_t opening = atomic_load(&place.opening);

    if (own->opening != opening) {
        own->door = window_open(this_cpu()->index, WINDOW_DOOR, place.pages[0]);
        own->reply = window_open(this_cpu()->index, WINDOW_REPLY, place.pages[1]);
        own->opening = opening;
    }
    return own;
}

bool door_open(const struct domain *broker, uint64_t at, bool by_event)
{
    struct broker_map *map;

    if (atomic_load(&place.open) || !find_pages(broker, at)) {
        return false;
    }
    place.broker = broker;
    place.by_event = by_event;
    map = window_open(this_cpu()->index, WINDOW_DESTINATION, place.pages[2]);
    fill(map);
    window_close(this_cpu()->index, WINDOW_DESTINATION);
    atomic_fetch_add(&place.opening, 1);
    memset(view()->door, 0, sizeof(struct broker_door));
    memcpy(view()->reply->progress, place.progress, sizeof(place.progress));
    atomic_store(&place.open, true);
    return true;
}

void door_close(void)
{
    atomic_store(&place.open, false);
}

const struct broker_reply *door_keep_progress(void)
{
    const struct broker_reply *reply;

    if (atomic_load(&place.opening) == atomic_load(&place.kept)) {
        return NULL;
    }
    reply = view()->reply;
    memcpy(place.progress, reply->progress, sizeof(place.progress));
    atomic_store(&place.kept, atomic_load(&place.opening));
    return reply;
}

struct broker_door *door_here(void)
{
    return atomic_load(&place.open) ? view()->door : NULL;
}

const struct broker_reply *door_reply_here(void)
{
    return atomic_load(&place.open) ? view()->reply : NULL;
}

/* Either this core sees that the broker waits, or the broker sees the earlier stores when it checks a last
 * time before it waits. */
void door_wake(struct broker_door *door)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (__atomic_load_n(&view()->reply->waits, __ATOMIC_RELAXED) == 0) {
        return;
    }
    if (__atomic_exchange_n(&door->woken, 1, __ATOMIC_RELEASE) != 0) {
        return; /* already woken: one event or interrupt for each time that the broker waits */
    }
    if (place.by_event) {
        arch_sev();
    } else {
        vgic_set_spi_level(domain_at(place.broker->index), place.broker->config->socket_irq, true);
    }
}

void door_heard(void)
{
    if (!place.by_event) {
        vgic_set_spi_level(domain_at(place.broker->index), place.broker->config->socket_irq, false);
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

void door_ring(struct broker_door *door, uint32_t device, uint32_t bells)
{
    struct door_device *to = &door->devices[device];

    if ((bells & 1u << VSOCK_QUEUE_TX) != 0 && !has_sent_bell(to)) {
        __atomic_store_n(&to->notified_at, clock_now(), __ATOMIC_RELAXED);
    }
    __atomic_fetch_or(&to->bells, bells, __ATOMIC_RELEASE);
    door_wake(door);
}
