/* SPDX-License-Identifier: Apache-2.0
 *
 * What a build for one board knows without a manifest. One implementation per directory in platform/.
 */
#ifndef BULKHEAD_PLATFORM_CHECK_H
#define BULKHEAD_PLATFORM_CHECK_H

#include "core/address.h"
#include <bulkhead_layout.h>
#include <stdbool.h>

/* Whether a manifest is for the board whose drivers are linked in. */
bool platform_matches(const struct manifest_platform *platform);

/* The console before a manifest is accepted: polled, as the loader left it, to say why it was refused. */
void platform_early_write(char character);

#endif
