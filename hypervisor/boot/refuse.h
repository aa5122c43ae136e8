/* SPDX-License-Identifier: Apache-2.0
 *
 * Refusing to start: says why on the console, records it in the status page, and turns the machine off.
 */
#ifndef BULKHEAD_REFUSE_H
#define BULKHEAD_REFUSE_H

#include <bulkhead_layout.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says one line as the hypervisor, polled. Works with the MMU off and on, before and without a manifest. */
void refuse_say(const char *text);

/* `offset` is the place in the manifest that is wrong. Works with the MMU off and on. */
_Noreturn void refuse(enum bh_manifest_error error, uint32_t offset);

#ifdef __cplusplus
}
#endif

#endif
