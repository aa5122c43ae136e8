/* SPDX-License-Identifier: Apache-2.0
 *
 * Refuses to start. The code may run with the MMU off, so the texts are character arrays, not pointers.
 */
#include "boot/refuse.h"
#include "base/format.h"
#include "base/platform_check.h"
#include "vm/system.h"

static const char reasons[][24] = {
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
    "device tree",
    "board memory",
    "board reserved",
    "board core",
    "board psci",
    "budget",
    "counter missing",
    "scheduler",
    "regulation",
    "not in image",
    "flow",
    "bandwidth",
    "mpam",
    "tables",
    "call",
    "iommu",
    "pci",
    "its",
};
_Static_assert(sizeof reasons / sizeof reasons[0] == BH_MANIFEST_ERROR_COUNT, "a text for every reason");

void refuse_say(const char *text)
{
    char line[96];

    format_text(line, sizeof line, "[bulkhead   0.000000] refused: %s\r\n", text);
    for (const char *next = line; *next != '\0'; next++) {
        platform_early_write(*next);
    }
}

_Noreturn void refuse(enum bh_manifest_error error, uint32_t offset)
{
    char text[72];
    struct status_system *status = system_status();

    status->magic = BH_STATUS_MAGIC;
    status->version = BH_LAYOUT_VERSION;
    status->phase = BH_PHASE_REFUSED;
    status->refusal = error;
    status->refusal_offset = offset;
    format_text(text, sizeof text, "%s (error %u) at offset %u of the manifest", reasons[error],
                (unsigned)error, offset);
    refuse_say(text);
    system_power_off();
}
