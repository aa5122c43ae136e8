/* SPDX-License-Identifier: Apache-2.0
 *
 * One array of pages, allocated in order, so that all used pages are one range; and a log that grows.
 */
#include "fake_storage.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PAGES 512u
#define MAX_LOG   (1u << 23) /* writes in one test: a longer log means an endless loop */

static uint8_t pages[MAX_PAGES][FAKE_PAGE_BYTES];
static uint32_t pages_used;
static struct fake_write *log_entries;
static size_t log_count;
static size_t log_room;

void fake_storage_reset(void)
{
    pages_used = 0;
    log_count = 0;
}

uint16_t fake_storage_add(void)
{
    if (pages_used == MAX_PAGES) {
        abort();
    }
    memset(pages[pages_used], 0, FAKE_PAGE_BYTES);
    pages_used++;
    return (uint16_t)pages_used;
}

uint8_t *fake_storage_page(uint16_t number)
{
    return pages[number - 1];
}

uint8_t *fake_storage_pages(void)
{
    return pages[0];
}

size_t fake_storage_bytes(void)
{
    return (size_t)pages_used * FAKE_PAGE_BYTES;
}

void fake_storage_set_bytes(size_t bytes)
{
    pages_used = (uint32_t)(bytes / FAKE_PAGE_BYTES);
}

void fake_storage_log(struct fake_write entry)
{
    if (log_count == log_room) {
        struct fake_write *grown;

        log_room = log_room == 0 ? 256 : log_room * 2;
        grown = realloc(log_entries, log_room * sizeof *log_entries);
        if (grown == NULL || log_room > MAX_LOG) {
            abort();
        }
        log_entries = grown;
    }
    log_entries[log_count++] = entry;
}

void fake_storage_forget_log(void)
{
    log_count = 0;
}

size_t fake_write_count(void)
{
    return log_count;
}

const struct fake_write *fake_write_at(size_t index)
{
    return &log_entries[index];
}
