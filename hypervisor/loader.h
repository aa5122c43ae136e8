/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading a domain's images again, from the boot package, while the other domains run.
 */
#ifndef BULKHEAD_LOADER_H
#define BULKHEAD_LOADER_H

#include <bulkhead_layout.h>
#include <stdbool.h>

/* Whether the package still has all images as they were: those loaded in place have been run. */
bool loader_can_reload(const struct manifest_domain *domain);

/* Copies the images to the domain's memory. None of its VCPUs runs. Takes as long as the images are large;
 * the other domains' caches are not touched. */
void loader_reload(const struct manifest_domain *domain);

#endif
