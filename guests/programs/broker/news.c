// SPDX-License-Identifier: Apache-2.0
//
// Reads the door's words, and passes their meaning to the exchange.
#include "guests/programs/broker/news.h"
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/costs.h"
#include "guests/programs/broker/memory.h"
#include "guests/programs/broker/rehearsal.h"
#include "guests/runtime/timer.h"

static struct {
    struct vsock_device devices[BH_MAX_DOMAINS];
    uint32_t lives[BH_MAX_DOMAINS]; // life of each device, as last reported by EL2
    uint32_t begun[BH_MAX_DOMAINS][VSOCK_QUEUES];
    uint32_t
        leaving; // devices, 1 << index, with an earlier life that is over, which EL2 has not yet been told of
    uint32_t flow_changes;
    uint32_t changes[BH_MAX_FLOWS]; // change counter of each flow, as last reported by EL2
    uint64_t ending; // flows, 1 << number, with no packet left, which EL2 has not yet been told of
} news;

// A copy of a device's registers.
struct registers {
    uint32_t life;
    struct virtio_device virtio;
    uint32_t begun[VSOCK_QUEUES];
};

void news_init(struct flow_path paths[])
{
    const struct broker_map *map = &broker.pages.map;
    struct flow_exchange *exchange = &broker.exchange;

    rehearse(exchange, news.devices, paths);
    exchange->paths = paths;
    exchange->counter_hz = map->counter_hz;
    exchange->chunk_bytes = map->chunk_bytes;
    exchange->patience_ticks = map->patience_ticks;
    exchange->ticks_per_mebibyte = map->ticks_per_mebibyte;
    exchange->copied_bytes = map->copied_bytes;
    for (uint32_t i = 0; i < BH_MAX_DOMAINS; i++) {
        if (map->domains[i].cid != 0) {
            vsock_device_init(&news.devices[i], memory_of(map, i), i, map->domains[i].cid,
                              broker.pages.reply.progress[i].queues);
            exchange->devices[i] = &news.devices[i];
        }
    }
    flow_exchange_init(exchange);
}

// Returns false if EL2 is writing; EL2 rings the bell when it has finished.
static bool read_registers(const struct door_device *from, struct registers *to)
{
    uint32_t version = __atomic_load_n(&from->version, __ATOMIC_ACQUIRE);

    virtio_device_init(&to->virtio, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
    to->life = from->life;
    to->virtio.status = from->status;
    to->virtio.accepted = from->accepted;
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        const struct door_queue *queue = &from->queues[i];

        to->virtio.queues[i].descriptors = queue->descriptors;
        to->virtio.queues[i].available = queue->available;
        to->virtio.queues[i].used = queue->used;
        to->virtio.queues[i].entries = (uint16_t)queue->entries;
        to->virtio.queues[i].ready = queue->entries != 0;
        to->begun[i] = queue->begun;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return version % 2 == 0 && version == __atomic_load_n(&from->version, __ATOMIC_RELAXED);
}

// Starts queues that are ready, and those that an earlier life of the broker had started.
static void follow_device(uint32_t index, uint64_t now)
{
    struct door_progress *progress = &broker.pages.reply.progress[index];
    struct registers registers;
    uint32_t anew = 0;
    uint32_t resumed = 0;

    if (!read_registers(&broker.pages.door.devices[index], &registers))
        return;
    if (registers.life != news.lives[index]) {
        flow_exchange_lose(&broker.exchange, index, now);
        news.lives[index] = registers.life;
        news.leaving |= flow_device_set(index);
    }
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        uint32_t changed = registers.begun[i] != news.begun[index][i] ? 1u << i : 0;
        bool is_known = registers.begun[i] == progress->begun[i];

        anew |= is_known ? 0 : changed;
        resumed |= is_known ? changed : 0;
        news.begun[index][i] = registers.begun[i];
    }
    flow_exchange_set(&broker.exchange, index, &registers.virtio, anew);
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++)
        __atomic_store_n(&progress->begun[i], registers.begun[i], __ATOMIC_RELEASE);
    if (resumed != 0)
        flow_exchange_resume(&broker.exchange, index, resumed);
}

// A bell is cleared before the state that it announces is read: later changes ring it again. The time of a
// notification is read while its bell is set, which keeps EL2 from changing it.
static void answer_bells(uint32_t index, uint64_t now)
{
    struct door_device *device = &broker.pages.door.devices[index];
    uint32_t bells = __atomic_load_n(&device->bells, __ATOMIC_ACQUIRE);
    uint64_t sent = now;

    if ((bells & 1u << VSOCK_QUEUE_TX) != 0) {
        sent = __atomic_load_n(&device->notified_at, __ATOMIC_RELAXED);
        if (sent > now)
            bells &=
                ~(1u << VSOCK_QUEUE_TX); // left to the next step: a step handles nothing later than its begin
        else
            costs_woken(sent);
    }
    if (bells == 0)
        return;
    __atomic_fetch_and(&device->bells, ~bells, __ATOMIC_ACQ_REL);
    if ((bells & DOOR_BELL_CHANGED) != 0)
        follow_device(index, now);
    if ((bells & (1u << VSOCK_QUEUE_RX | 1u << VSOCK_QUEUE_EVENT | DOOR_BELL_CHANGED)) != 0)
        flow_exchange_has_buffers(&broker.exchange, index, now, &broker.effects);
    if ((bells & (1u << VSOCK_QUEUE_TX | DOOR_BELL_CHANGED)) != 0)
        flow_exchange_sent(&broker.exchange, index, sent < now ? sent : now);
}

static void follow_flow(uint32_t number, uint64_t now)
{
    const struct door_flow *flow = &broker.pages.door.flows[number];
    uint32_t changes = __atomic_load_n(&flow->changes, __ATOMIC_ACQUIRE);
    uint32_t before = news.changes[number];

    if (changes == before)
        return;
    news.changes[number] = changes;
    if (before % 2 == 1)
        flow_exchange_close(&broker.exchange, number, now, &broker.effects);
    // Also of a flow that was closed before this life of the broker: EL2 waits to be told that it is unused.
    news.ending |= 1ull << number;
    if (changes % 2 == 1) {
        news.ending &= ~(1ull << number);
        flow_exchange_open(&broker.exchange, number, &flow->parameters);
    }
}

void news_take(uint64_t now)
{
    const struct broker_door *door = &broker.pages.door;
    uint32_t flow_changes = __atomic_load_n(&door->flow_changes, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < BH_MAX_DOMAINS; i++) {
        if (broker.exchange.devices[i] != 0)
            answer_bells(i, now);
    }
    if (flow_changes != news.flow_changes) {
        news.flow_changes = flow_changes;
        for (uint32_t i = 0; i < BH_MAX_FLOWS; i++)
            follow_flow(i, now);
    }
    costs_looked();
}

bool news_are_there(void)
{
    const struct broker_door *door = &broker.pages.door;
    uint32_t bells = 0;

    for (uint32_t i = 0; i < BH_MAX_DOMAINS; i++)
        bells |= __atomic_load_n(&door->devices[i].bells, __ATOMIC_ACQUIRE);
    return bells != 0 || __atomic_load_n(&door->flow_changes, __ATOMIC_ACQUIRE) != news.flow_changes ||
           __atomic_load_n(&door->engine, __ATOMIC_ACQUIRE) != DOOR_ENGINE_NOTHING;
}

void news_leave(void)
{
    struct broker_reply *reply = &broker.pages.reply;

    for (uint32_t left = news.leaving; left != 0; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctz(left);

        if (!flow_exchange_touches(&broker.exchange, index)) {
            __atomic_store_n(&reply->lives[index], news.lives[index], __ATOMIC_RELEASE);
            news.leaving &= ~flow_device_set(index);
            broker.left |= flow_device_set(index);
        }
    }
    for (uint64_t left = news.ending; left != 0; left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);

        if (flow_exchange_is_unused(&broker.exchange, number)) {
            __atomic_store_n(&reply->flow_changes[number], news.changes[number], __ATOMIC_RELEASE);
            news.ending &= ~(1ull << number);
        }
    }
}
