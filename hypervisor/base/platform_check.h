/* SPDX-License-Identifier: Apache-2.0
 *
 * What a build for one board knows without a manifest. One implementation per directory in platform/.
 */
#ifndef BULKHEAD_PLATFORM_CHECK_H
#define BULKHEAD_PLATFORM_CHECK_H

#include "core/address.h"
#include <bulkhead_layout.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a manifest is for the board whose drivers are linked in. */
bool platform_matches(const struct manifest_platform *platform);

/* The UART without the console, with the MMU on or off: polled, for a bounded time, as it was left. To say
 * why a manifest was refused, or that EL2 cannot go on. */
void platform_early_write(char character);

#ifdef __cplusplus
}
#endif

#endif
