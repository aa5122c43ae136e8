/* SPDX-License-Identifier: Apache-2.0
 *
 * Refusing to start. Runs with the MMU off, so the texts are characters in place, not pointers.
 */
#include "refuse.h"
#include "format.h"
#include "platform_check.h"
#include "system.h"

static const char reasons[][20] = {
    "none",
    "truncated",
    "magic",
    "version",
    "layout",
    "size",
    "checksum",
    "table",
    "platform",
    "color bits",
    "cpu",
    "ram",
    "color set",
    "pool",
    "console",
    "domain",
    "vcpu",
    "segment",
    "segment overlap",
    "frame shared",
    "image",
    "irq",
    "device",
    "load area",
    "hardware",
    "pool exhausted",
    "core missing",
};
_Static_assert(sizeof reasons / sizeof reasons[0] == BH_MANIFEST_ERROR_COUNT, "a text for every reason");

_Noreturn void refuse(enum bh_manifest_error error, uint32_t offset)
{
    char line[96];
    struct status_system *status = system_status();

    status->magic = BH_STATUS_MAGIC;
    status->version = BH_LAYOUT_VERSION;
    status->phase = BH_PHASE_REFUSED;
    status->refusal = error;
    status->refusal_offset = offset;
    format_text(line, sizeof line,
                "[bulkhead   0.000000] refused: %s (error %u) at offset %u of the manifest\r\n",
                reasons[error], (unsigned)error, offset);
    for (const char *next = line; *next != '\0'; next++) {
        platform_early_write(*next);
    }
    system_power_off();
}
