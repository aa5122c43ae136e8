/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * CRC-32 as in IEEE 802.3 and zlib (reflected, polynomial 0xEDB88320). It detects accidental damage of a
 * manifest, not attacks.
 */
#ifndef BULKHEAD_CORE_CRC32_H
#define BULKHEAD_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Continues `crc` (0 at the start) over `bytes` of data. */
/*@ requires \valid_read((const uint8_t *)data + (0 .. bytes - 1));
    assigns \nothing; */
uint32_t crc32_update(uint32_t crc, const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
