/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which functions of the board's firmware a domain may call itself.
 */
#ifndef BULKHEAD_CORE_MANIFEST_CALLS_H
#define BULKHEAD_CORE_MANIFEST_CALLS_H

#include "core/manifest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a manifest that was accepted. At most as many steps as the domain has rows. */
bool manifest_may_call(const struct manifest_header *manifest, const struct manifest_domain *domain,
                       uint32_t function);

#ifdef __cplusplus
}
#endif

#endif
