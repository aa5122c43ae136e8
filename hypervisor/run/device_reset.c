/* SPDX-License-Identifier: Apache-2.0
 *
 * A reset register has bits of several devices. Devices of one call are held in reset together, for the
 * longest time that one of them needs.
 */
#include "run/device_reset.h"
#include "core/manifest_resets.h"
#include "core/spinlock.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdbool.h>
#include <stddef.h>

static struct spinlock bits_lock; /* for changes of some bits of a register */

static void write_bits(const struct manifest_header *manifest, const struct manifest_reset *reset, bool hold)
{
    paddr_t place = paddr(manifest_reset_pa(manifest, reset));
    uint32_t bits = hold ? reset->held : ~reset->held & reset->mask;

    mmio_write32(place, (mmio_read32(place) & ~reset->mask) | bits);
}

/* Waits until the device has been in reset for its time. The read ensures that the write has arrived. */
static void wait(const struct manifest_header *manifest, const struct manifest_reset *reset)
{
    uint64_t end;

    (void)mmio_read32(paddr(manifest_reset_pa(manifest, reset)));
    end = clock_now() + clock_ticks(reset->hold_ns);
    do {
        (void)mmio_read32(paddr(manifest_reset_pa(manifest, reset)));
    } while (clock_now() < end);
}

/* One after the other, and without a lock, which memory that is not cached may not have. */
void device_reset_all(const struct manifest_header *manifest)
{
    for (uint32_t i = 0; i < manifest->resets.count; i++) {
        const struct manifest_reset *reset = &manifest_resets(manifest)[i];

        write_bits(manifest, reset, true);
        wait(manifest, reset);
        write_bits(manifest, reset, false);
    }
}

/* Returns the domain's device that is to be held longest, or NULL if it has none. */
static const struct manifest_reset *change(const struct domain *domain, bool hold)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_reset *longest = NULL;

    for (uint32_t i = 0; i < manifest->resets.count; i++) {
        const struct manifest_reset *reset = &manifest_resets(manifest)[i];

        if (reset->domain == domain->index) {
            spin_lock(&bits_lock);
            write_bits(manifest, reset, hold);
            spin_unlock(&bits_lock);
            longest = longest == NULL || reset->hold_ns > longest->hold_ns ? reset : longest;
        }
    }
    return longest;
}

void device_reset_domain(const struct domain *domain)
{
    const struct manifest_reset *longest = change(domain, true);

    if (longest != NULL) {
        wait(system_manifest(), longest);
        (void)change(domain, false);
    }
}
