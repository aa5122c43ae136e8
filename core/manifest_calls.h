/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The check whether a domain may call a function of the board's firmware.
 */
#ifndef BULKHEAD_CORE_MANIFEST_CALLS_H
#define BULKHEAD_CORE_MANIFEST_CALLS_H

#include "core/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the domain may call firmware function `function`. The manifest must be accepted. Takes at most as
 * many steps as the domain has rows in the table of calls. */
bool manifest_may_call(const struct manifest_header *manifest, const struct manifest_domain *domain,
                       uint32_t function);

#ifdef __cplusplus
}
#endif

#endif
