/* SPDX-License-Identifier: Apache-2.0
 *
 * Temporary access of EL2 to a domain's memory: to load its images again from the boot package while other
 * domains run, and to maintain a cache line of it.
 */
#ifndef BULKHEAD_LOADER_H
#define BULKHEAD_LOADER_H

#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if the package still has all images unchanged. Images that were loaded in place have been executed and
 * changed. */
bool loader_can_reload(const struct manifest_domain *domain);

/* Does one step of preparing the memory of a domain that restarts: cleans it from the caches and loads the
 * images again. Memory outside the images keeps its content, and so does flash that takes commands. `*reload`
 * begins with zeros and holds the progress. None of the domain's VCPUs runs. A step cleans 1 KiB, looks up 16
 * pages or copies at most 256 bytes. `*lines` is the number of cache lines that were read past the caches.
 * Returns true when all steps are done. Works on any core; called on the domain's own, so that other domains
 * do not wait for it. */
bool loader_step(const struct domain *domain, struct reload *reload, uint64_t *lines);

/* Maintains the cache line at `line` for a guest that may not do so itself: cleans it to the point of
 * unification, or, if `instructions`, invalidates it in all instruction caches, and waits for completion. May
 * be called on any core. */
void loader_maintain_line(paddr_t line, bool instructions);

/* erase(): sets `bytes` bytes at `at`, all within the same 1 KiB, to 0xFF. clear_bits(): clears the bits that
 * are 0 in `value`, in at most 8 bytes. Both change memory that no guest writes; guests with their caches off
 * see the change, too. May be called on any core. */
void loader_erase(paddr_t at, uint64_t bytes);
void loader_clear_bits(paddr_t at, uint64_t bytes, uint64_t value);

/* True if a core has memory of a domain mapped now. When the machine is ending, this soon becomes false. */
bool loader_is_at_work(void);

#ifdef __cplusplus
}
#endif

#endif
