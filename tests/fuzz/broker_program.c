/* SPDX-License-Identifier: Apache-2.0
 *
 * The broker's files read by target `virtqueue`. news.c is included, so that its state can be made that of a
 * new program.
 */
#include "tests/fuzz/broker_program.h"

#include "guests/programs/broker/news.c"

#include <string.h>

struct broker broker;

struct broker_program broker_program_load(void)
{
    memset(&broker, 0, sizeof(broker));
    /* news_init() initializes the devices themselves. */
    memset(news.lives, 0, (size_t)((char *)(&news + 1) - (char *)news.lives));
    return (struct broker_program){.door = &broker.pages.door,
                                   .reply = &broker.pages.reply,
                                   .map = &broker.pages.map,
                                   .exchange = &broker.exchange,
                                   .effects = &broker.effects};
}

/* No costs are measured. */
struct path_recorder *path_recorder_here(void)
{
    return NULL;
}

uint64_t path_clock(void)
{
    return 0;
}

void costs_woken(uint64_t notified)
{
    (void)notified;
}

void costs_looked(void) {}

/* The rehearsal leaves pages of the program in the caches of two domains. */
void rehearse(struct flow_exchange *exchange, struct vsock_device devices[2], struct flow_path paths[2])
{
    static char pages[BH_PAGE_BYTES];

    (void)exchange;
    (void)devices;
    (void)paths;
    memset(pages, broker_program_own, sizeof(pages));
    for (uint32_t i = 0; i < 2; i++)
        (void)memory_of_own(i, broker_program_rehearsed, pages, 1);
}
