/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of capabilities: doubly linked, in preorder of the derivation trees. A capability and its
 * descendants are therefore adjacent.
 */
#include "microkernel/kernel/cap.h"

#define MOST_DEPTH UINT8_MAX

static uint16_t number_of(const struct cap *cap)
{
    return (uint16_t)(cap - kernel.cap);
}

static struct cap *at_slot(const struct component *component, uint32_t slot)
{
    if (slot == SLOT_NONE || slot >= component->cap_count) {
        return 0;
    }
    return &kernel.cap[component->first_cap + slot];
}

struct cap *cap_find(const struct component *component, uint32_t slot, enum cap_type type, uint32_t rights,
                     enum sys_status *status)
{
    struct cap *cap = at_slot(component, slot);

    *status = SYS_ENOCAP;
    if (cap == 0 || cap->type == CAP_EMPTY || (type != CAP_EMPTY && cap->type != (uint8_t)type)) {
        return 0;
    }
    *status = SYS_ERIGHTS;
    if ((cap->rights & rights) != rights) {
        return 0;
    }
    *status = SYS_OK;
    return cap;
}

struct cap *cap_empty(const struct component *component, uint32_t slot, enum sys_status *status)
{
    struct cap *cap = at_slot(component, slot);

    *status = cap == 0 ? SYS_EINVAL : cap->type != CAP_EMPTY ? SYS_EEXIST : SYS_OK;
    return *status == SYS_OK ? cap : 0;
}

void cap_insert(struct cap *cap, struct cap *parent, const struct cap *content)
{
    *cap = *content;
    cap->next = NO_CAP;
    cap->previous = NO_CAP;
    cap->depth = 0;
    if (parent != 0) {
        cap->depth = parent->depth < MOST_DEPTH ? (uint8_t)(parent->depth + 1u) : MOST_DEPTH;
        cap->previous = number_of(parent);
        cap->next = parent->next;
        parent->next = number_of(cap);
        if (cap->next != NO_CAP) {
            kernel.cap[cap->next].previous = number_of(cap);
        }
    }
}

struct cap *cap_first_child(const struct cap *cap)
{
    if (cap->next == NO_CAP || kernel.cap[cap->next].depth <= cap->depth) {
        return 0;
    }
    return &kernel.cap[cap->next];
}

void cap_remove(struct cap *cap)
{
    /* bound: MOST_CAPS */
    for (uint16_t i = cap->next; i != NO_CAP && kernel.cap[i].depth > cap->depth; i = kernel.cap[i].next) {
        kernel.cap[i].depth--;
    }
    if (cap->next != NO_CAP) {
        kernel.cap[cap->next].previous = cap->previous;
    }
    if (cap->previous != NO_CAP) {
        kernel.cap[cap->previous].next = cap->next;
    }
    *cap = (struct cap){.type = CAP_EMPTY, .next = NO_CAP, .previous = NO_CAP};
}
