/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over core/crc32.c: any bytes, any length up to the buffer's.
 */
#include "core/crc32.h"
#include "frama_c.h"

static uint8_t bytes[4096];

void prove_crc32_update(void)
{
    any_bytes(bytes, sizeof bytes);
    (void)crc32_update((uint32_t)any_u64(), bytes, any_u32_between(0, sizeof bytes));
}
