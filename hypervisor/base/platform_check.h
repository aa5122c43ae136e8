/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the board that are known without a manifest, because EL2 is built for one board. Each directory
 * in platform/ has an implementation.
 */
#ifndef BULKHEAD_PLATFORM_CHECK_H
#define BULKHEAD_PLATFORM_CHECK_H

#include "core/address.h"
#include <bulkhead_layout.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if the manifest is for the board whose drivers are linked in. */
bool platform_matches(const struct manifest_platform *platform);

/* Writes a character to the UART without the console, with the MMU on or off: polls for a bounded time and
 * does not change the UART's settings. Used to report why a manifest is refused, or why EL2 cannot
 * continue. */
void platform_early_write(char character);

#ifdef __cplusplus
}
#endif

#endif
