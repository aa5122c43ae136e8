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
#include <stddef.h>

/* Of a domain's devices. A core that goes on late must not reset them in the domain's next life, so one core
 * takes a reset that is due. */
enum state { RESET_DONE, RESET_DUE, RESET_UNDER_WAY };

static struct spinlock bits_lock; /* for changes of some bits of a register */

/* Holds the device in reset, or lets it go. Returns whether the register has these bits then. The read also
 * ensures that the write has arrived. */
static bool write_bits(const struct manifest_header *manifest, const struct manifest_reset *reset, bool hold)
{
    paddr_t place = paddr(manifest_reset_pa(manifest, reset));
    uint32_t bits = hold ? reset->held : ~reset->held & reset->mask;

    mmio_write32(place, (mmio_read32(place) & ~reset->mask) | bits);
    return (mmio_read32(place) & reset->mask) == bits;
}

static void wait(const struct manifest_header *manifest, const struct manifest_reset *reset)
{
    uint64_t end = clock_now() + clock_ticks(reset->hold_ns);

    do {
        (void)mmio_read32(paddr(manifest_reset_pa(manifest, reset)));
    } while (clock_now() < end);
}

/* One after the other, and without a lock, which memory that is not cached may not have. */
const struct manifest_reset *device_reset_all(const struct manifest_header *manifest)
{
    for (uint32_t i = 0; i < manifest->resets.count; i++) {
        const struct manifest_reset *reset = &manifest_resets(manifest)[i];
        bool held = write_bits(manifest, reset, true);

        wait(manifest, reset);
        if (!write_bits(manifest, reset, false) || !held) {
            return reset;
        }
    }
    return NULL;
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
            (void)write_bits(manifest, reset, hold);
            spin_unlock(&bits_lock);
            longest = longest == NULL || reset->hold_ns > longest->hold_ns ? reset : longest;
        }
    }
    return longest;
}

void device_reset_expect(struct domain *domain)
{
    atomic_store(&domain->device_reset, (uint8_t)RESET_DUE);
}

void device_reset_domain(struct domain *domain)
{
    const struct manifest_reset *longest;
    uint8_t due = RESET_DUE;

    if (!atomic_compare_exchange_strong(&domain->device_reset, &due, (uint8_t)RESET_UNDER_WAY)) {
        return;
    }
    longest = change(domain, true);
    if (longest != NULL) {
        wait(system_manifest(), longest);
        (void)change(domain, false);
    }
    atomic_store(&domain->device_reset, (uint8_t)RESET_DONE);
}

bool device_reset_is_done(const struct domain *domain)
{
    return atomic_load(&domain->device_reset) == RESET_DONE;
}
