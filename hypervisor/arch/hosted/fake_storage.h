/* SPDX-License-Identifier: Apache-2.0
 *
 * What grows behind the fake registers: pages of device registers and the log of writes. Called by
 * fake_registers.c, and by who puts a whole machine away and back.
 */
#ifndef BULKHEAD_FAKE_STORAGE_H
#define BULKHEAD_FAKE_STORAGE_H

#include "fake_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_PAGE_BYTES 4096u
#define FAKE_NO_PAGE    0u /* pages count from 1 */

/* No page, no entry. */
void fake_storage_reset(void);

/* The number of a further page, all zero. */
uint16_t fake_storage_add(void);
uint8_t *fake_storage_page(uint16_t number);

/* All pages that were added, one behind the other, and how many bytes that is; and as many again. */
uint8_t *fake_storage_pages(void);
size_t fake_storage_bytes(void);
void fake_storage_set_bytes(size_t bytes);

void fake_storage_log(struct fake_write entry);
void fake_storage_forget_log(void);

#ifdef __cplusplus
}
#endif

#endif
