/* SPDX-License-Identifier: Apache-2.0
 *
 * Where EL2 reaches memory of a domain for as long as it must: to load its images again, from the boot
 * package, while the other domains run; and to maintain a line of it.
 */
#ifndef BULKHEAD_LOADER_H
#define BULKHEAD_LOADER_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the package still has all images as they were: those loaded in place have been run. */
bool loader_can_reload(const struct manifest_domain *domain);

/* One step of making the memory of a domain that restarts what a start needs: nothing of it in the caches,
 * the images as they were. What is outside of the images stays, and so does flash that takes commands.
 * `*reload` begins with zeros and says how far it is. None of the domain's VCPUs runs. A step cleans 1 KiB,
 * looks up 16 pages or copies at most 256 bytes; `*lines`: cache lines that it read past the caches. True:
 * there is nothing left to do. Any core; the domain's own, because nobody else is to wait for it. */
bool loader_step(const struct domain *domain, struct reload *reload, uint64_t *lines);

/* In place of a guest that may not: cleans the line at `line`, or invalidates it in all instruction caches,
 * to the point of unification, and waits. Any core. */
void loader_maintain_line(paddr_t line, bool instructions);

/* Sets the bytes at `at`, within 1 KiB, to 0xFF; clears the bits of as many bytes, at most 8, that are 0 in
 * `value`. As the content of memory that no guest writes, for guests with their caches off, too. Any core. */
void loader_erase(paddr_t at, uint64_t bytes);
void loader_clear_bits(paddr_t at, uint64_t bytes, uint64_t value);

/* Whether some core has memory of a domain mapped just now. When the machine is ending, that is over soon. */
bool loader_is_at_work(void);

#ifdef __cplusplus
}
#endif

#endif
