/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Texts for status codes and resources in messages.
 */
#include "core/mxu.h"

#define NAME_OF(list, value)                                                                                 \
    ((uint32_t)(value) < sizeof(list) / sizeof((list)[0]) ? (list)[(uint32_t)(value)] : "unknown")

const char *mxu_status_name(enum mxu_status status)
{
    static const char *const names[] = {
        [MXU_OK] = "MXU_OK",         [MXU_ENOHW] = "MXU_ENOHW",         [MXU_EBUSY] = "MXU_EBUSY",
        [MXU_ENOMEM] = "MXU_ENOMEM", [MXU_EINVAL] = "MXU_EINVAL",       [MXU_EEXIST] = "MXU_EEXIST",
        [MXU_ENOENT] = "MXU_ENOENT", [MXU_EMISMATCH] = "MXU_EMISMATCH",
    };

    return NAME_OF(names, status);
}

const char *mxu_mechanism_name(enum mxu_mechanism mechanism)
{
    static const char *const names[] = {
        [MXU_BY_NOTHING] = "plain memory",
        [MXU_BY_STATIC_REGION] = "static region",
        [MXU_BY_DYNAMIC_REGION] = "dynamic region",
        [MXU_BY_LOCKED_ENTRY] = "locked TLB entry",
        [MXU_BY_OCM] = "OCM",
        [MXU_BY_LOCKED_WAY] = "locked way",
        [MXU_BY_COLOR] = "colored memory",
    };

    return NAME_OF(names, mechanism);
}

const char *mxu_resource_name(enum mxu_resource resource)
{
    static const char *const names[] = {
        [MXU_REGIONS] = "regions",
        [MXU_LOCKED_ENTRIES] = "locked TLB entries",
        [MXU_OCM_BYTES] = "bytes of OCM",
        [MXU_WAY_BYTES] = "bytes in locked ways",
        [MXU_COLORED_BYTES] = "bytes of colored memory",
        [MXU_ASIDS] = "ASIDs",
        [MXU_TLB_SETS] = "TLB sets",
        [MXU_NODES] = "trie nodes",
        [MXU_RECORDS] = "allocation records",
        [MXU_FRAMES] = "frames",
        [MXU_NO_RESOURCE] = "nothing",
    };

    return NAME_OF(names, resource);
}

const char *mxu_placement_name(enum mxu_placement placement)
{
    static const char *const names[] = {
        [MXU_PLACE_PLAIN] = "plain memory",  [MXU_PLACE_COLORED] = "colored memory",
        [MXU_PLACE_WAY] = "locked way",      [MXU_PLACE_OCM] = "OCM",
        [MXU_PLACE_LOCKED] = "locked entry",
    };

    return NAME_OF(names, placement);
}
