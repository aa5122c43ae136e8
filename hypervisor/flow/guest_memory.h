/* SPDX-License-Identifier: Apache-2.0
 *
 * A domain's memory for devices that EL2 emulates (core/guest_memory.h).
 */
#ifndef BULKHEAD_GUEST_MEMORY_H
#define BULKHEAD_GUEST_MEMORY_H

#include "core/guest_memory.h"
#include "vm/domain.h"

#ifdef __cplusplus
extern "C" {
#endif

struct guest_memory {
    const struct domain *domain;
};

/* No window is open. First core, before any guest's memory is looked at. */
void guest_memory_init(void);

#ifdef __cplusplus
}
#endif

#endif
