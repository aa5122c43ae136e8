/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Packets by deadline.
 */
#include "core/packet_queue.h"

#include "core/path_costs.h"
#include <string.h>

void packet_queue_init(struct packet_queue *queue)
{
    memset(queue, 0, sizeof(*queue));
    atomic_word_store(&queue->head, PACKET_NEVER);
    for (uint32_t i = 0; i < PACKET_QUEUE_SLOTS; i++) {
        queue->free[i] = i;
    }
}

static void show_head(struct packet_queue *queue)
{
    atomic_word_store(&queue->head, queue->count != 0 ? queue->keys[queue->order[0]].deadline : PACKET_NEVER);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct packet_key packet_pace_take(struct packet_pace *pace, uint64_t now, bool payload)
{
    struct packet_key key = {.release = later(later(now, pace->next_release[payload]), pace->last_release)};

    key.deadline = later(key.release + pace->deadline_ticks, pace->last_deadline);
    pace->next_release[payload] = key.release + pace->period_ticks;
    pace->last_release = key.release;
    pace->last_deadline = key.deadline;
    return key;
}

void packet_pace_return(struct packet_pace *pace, const struct packet_key *key, bool payload)
{
    pace->next_release[payload] = packet_sooner(pace->next_release[payload], key->release);
    pace->last_release = packet_sooner(pace->last_release, key->release);
    pace->last_deadline = packet_sooner(pace->last_deadline, key->deadline);
}

uint32_t packet_queue_insert(struct packet_queue *queue, const struct packet_key *key)
{
    uint32_t slot = queue->free[queue->count];
    uint32_t place = queue->count;
    struct path_mark mark = path_begin();

    while (place > 0 && queue->keys[queue->order[place - 1]].deadline > key->deadline) {
        queue->order[place] = queue->order[place - 1];
        place--;
    }
    if (mark.at != 0) {
        path_record(path_recorder_here(), &mark, BH_PATH_PART_FIND_PLACE, 0, queue->count - place);
    }
    queue->order[place] = slot;
    queue->keys[slot] = *key;
    queue->count++;
    show_head(queue);
    return slot;
}

void packet_queue_remove(struct packet_queue *queue, uint32_t slot)
{
    uint32_t place = 0;

    while (queue->order[place] != slot) {
        place++;
    }
    queue->count--;
    for (; place < queue->count; place++) {
        queue->order[place] = queue->order[place + 1];
    }
    queue->free[queue->count] = slot;
    show_head(queue);
}

uint32_t packet_queue_first(const struct packet_queue *queue, uint64_t now, uint32_t blocked,
                            uint64_t *next_release)
{
    *next_release = PACKET_NEVER;
    for (uint32_t place = 0; place < queue->count; place++) {
        const struct packet_key *key = &queue->keys[queue->order[place]];

        if (key->release > now) {
            *next_release = key->release < *next_release ? key->release : *next_release;
        } else if ((blocked >> key->receiver & 1) == 0) {
            return queue->order[place];
        }
    }
    return PACKET_NONE;
}
