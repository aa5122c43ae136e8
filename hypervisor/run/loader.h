/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading a domain's images again, from the boot package, while the other domains run.
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

/* Makes the memory of a domain that restarts what a start needs: nothing of it in the caches, the images as
 * they were. What is outside of the images stays. None of its VCPUs runs. On the core of its first VCPU,
 * whose interrupts are taken meanwhile: it takes as long as the memory is large. The other domains' caches
 * are not touched. False if the domain was stopped, or the machine ends, before it was done. */
bool loader_reload(const struct domain *domain);

/* Whether some core has memory of a domain mapped just now. When the machine is ending, that is over soon. */
bool loader_is_at_work(void);

#ifdef __cplusplus
}
#endif

#endif
