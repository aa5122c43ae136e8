/* SPDX-License-Identifier: Apache-2.0
 *
 * Capability tables and the list of derivation. A component names a capability by its slot; only the kernel
 * writes slots. Revocation deletes what follows with a greater depth: at most all capabilities there are.
 */
#ifndef BULKHEAD_MICROKERNEL_CAP_H
#define BULKHEAD_MICROKERNEL_CAP_H

#include "microkernel/kernel/kernel.h"

/* The capability in a slot, or null if there is none, it has another type or lacks one of the rights; *status
 * says which. CAP_EMPTY as type: any type but empty. */
struct cap *cap_find(const struct component *component, uint32_t slot, enum cap_type type, uint32_t rights,
                     enum sys_status *status);

/* The empty slot of that number, or null; *status is SYS_EINVAL or SYS_EEXIST. */
struct cap *cap_empty(const struct component *component, uint32_t slot, enum sys_status *status);

/* Fills an empty slot: a child of `parent`, or a root if that is null. */
void cap_insert(struct cap *cap, struct cap *parent, const struct cap *content);

/* Takes a capability out of the list and empties its slot; its children become its parent's. */
void cap_remove(struct cap *cap);

/* The first that was derived from it, or null. */
struct cap *cap_first_child(const struct cap *cap);

#endif
