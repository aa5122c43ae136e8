/* SPDX-License-Identifier: Apache-2.0
 *
 * Storage of the fake registers that grows: pages of device registers, and the log of writes. Called by
 * fake_registers.c, and by code that saves and restores a whole machine.
 */
#ifndef BULKHEAD_FAKE_STORAGE_H
#define BULKHEAD_FAKE_STORAGE_H

#include "fake_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_PAGE_BYTES 4096u
#define FAKE_NO_PAGE    0u /* page numbers start at 1 */

/* Drops all pages and log entries. */
void fake_storage_reset(void);

/* Adds a page, all zero, and returns its number. */
uint16_t fake_storage_add(void);
uint8_t *fake_storage_page(uint16_t number);

/* All added pages, one after the other, and their size in bytes; and the same pages restored from a copy of
 * this size. */
uint8_t *fake_storage_pages(void);
size_t fake_storage_bytes(void);
void fake_storage_set_bytes(size_t bytes);

void fake_storage_log(struct fake_write entry);
void fake_storage_forget_log(void);

#ifdef __cplusplus
}
#endif

#endif
