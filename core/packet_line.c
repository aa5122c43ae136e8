/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The queue of one direction: packets linked by the numbers of their places.
 */
#include "core/packet_line.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void packet_line_init(struct packet_line *line, uint64_t period_ticks, uint64_t deadline_ticks)
{
    *line = (struct packet_line){
        .pace = {.period_ticks = {period_ticks, period_ticks}, .deadline_ticks = deadline_ticks},
        .first = PACKET_NONE,
        .last = PACKET_NONE,
    };
}

struct packet_key packet_pace_take(struct packet_pace *pace, uint64_t sent, bool payload)
{
    struct packet_key key = {.release = later(later(sent, pace->next_release[payload]), pace->last_release)};

    key.deadline = later(key.release + pace->deadline_ticks, pace->last_deadline);
    pace->next_release[payload] = key.release + pace->period_ticks[payload];
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

void packet_line_append(struct packet_line *line, struct packet_link links[], uint16_t place,
                        const struct packet_key *key)
{
    links[place].key.release = key->release - line->shift_ticks;
    links[place].key.deadline = key->deadline - line->shift_ticks;
    links[place].next = PACKET_NONE;
    if (line->first == PACKET_NONE) {
        line->first = place;
    } else {
        links[line->last].next = place;
    }
    line->last = place;
    line->count++;
}

uint64_t packet_line_release_anew(struct packet_line *line, const struct packet_link links[], uint64_t now)
{
    uint64_t release = packet_line_key(line, links, line->first).release;
    uint64_t later_ticks = now > release ? now - release : 0;

    line->shift_ticks += later_ticks;
    line->pace.next_release[0] += later_ticks;
    line->pace.next_release[1] += later_ticks;
    line->pace.last_release += later_ticks;
    line->pace.last_deadline += later_ticks;
    return later_ticks;
}

uint16_t packet_line_take_after(struct packet_line *line, struct packet_link links[], uint16_t before)
{
    uint16_t place = before == PACKET_NONE ? line->first : links[before].next;

    if (before == PACKET_NONE) {
        line->first = links[place].next;
    } else {
        links[before].next = links[place].next;
    }
    if (line->last == place) {
        line->last = before;
    }
    line->count--;
    return place;
}
