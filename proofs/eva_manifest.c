/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points for Frama-C's EVA over the checks of a manifest: any bytes, any size up to the buffer's.
 */
#include "core/manifest.h"
#include "core/manifest_internal.h"
#include "frama_c.h"

static uint64_t words[BH_MAX_MANIFEST_BYTES / 8];

void prove_manifest_check(void)
{
    any_bytes(words, sizeof words);
    (void)manifest_check(words, any_u32_between(0, sizeof words), any_u64());
}
