/* SPDX-License-Identifier: Apache-2.0
 *
 * Capability tables and the derivation list. A component names a capability by its slot; only the kernel
 * writes slots. Revocation deletes the following entries with a greater depth: bounded by the number of
 * capabilities.
 */
#ifndef BULKHEAD_MICROKERNEL_CAP_H
#define BULKHEAD_MICROKERNEL_CAP_H

#include "microkernel/kernel/kernel.h"

/* The capability in a slot; null, with the reason in *status, if the slot is empty, the type differs, or one
 * of the rights is missing. CAP_EMPTY as type: any type but empty. */
struct cap *cap_find(const struct component *component, uint32_t slot, enum cap_type type, uint32_t rights,
                     enum sys_status *status);

/* The slot of that number, which must be empty; otherwise null, and *status is SYS_EINVAL or SYS_EEXIST. */
struct cap *cap_empty(const struct component *component, uint32_t slot, enum sys_status *status);

/* Fills an empty slot with a child of `parent`, or a root if `parent` is null. */
void cap_insert(struct cap *cap, struct cap *parent, const struct cap *content);

/* Takes a capability out of the list and empties its slot; its children become children of its parent. */
void cap_remove(struct cap *cap);

/* The first capability derived from this one, or null. */
struct cap *cap_first_child(const struct cap *cap);

#endif
