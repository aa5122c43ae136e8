/* SPDX-License-Identifier: Apache-2.0
 *
 * Refuses to start: prints the reason on the console, records it in the status page, and turns the machine
 * off.
 */
#ifndef BULKHEAD_REFUSE_H
#define BULKHEAD_REFUSE_H

#include <bulkhead_layout.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints one line as the hypervisor, polling the UART. Works with the MMU off and on, also without a
 * manifest. */
void refuse_say(const char *text);

/* Refuses the manifest. `offset` is the position of the error in the manifest. Works with the MMU off and
 * on. */
_Noreturn void refuse(enum bh_manifest_error error, uint32_t offset);

#ifdef __cplusplus
}
#endif

#endif
