/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The rules of admission. For each specification the mechanisms that can satisfy it are tried, the cheapest
 * first. A refusal names the resource that was lacking.
 */
#include "core/mxu_admission.h"

#define LEVEL_2 2u
#define LEVEL_3 3u

uint32_t mxu_left(const struct mxu_account *account, enum mxu_resource resource)
{
    const struct mxu_hardware *hardware = account->hardware;

    if (resource == MXU_REGIONS) {
        uint32_t reserved = hardware->system_regions + 1u; /* one for dynamic regions */

        return hardware->limit[MXU_REGIONS] > reserved ? hardware->limit[MXU_REGIONS] - reserved : 0;
    }
    return hardware->limit[resource] - account->used[resource];
}

enum mxu_status mxu_refuse(struct mxu_answer *answer, enum mxu_status status, enum mxu_resource resource,
                           uint32_t needed, uint32_t left)
{
    answer->lacking = resource;
    answer->needed = needed;
    answer->left = left;
    return status;
}

/* Whether enough of a resource is left; if not, whether the hardware has enough in total. */
static enum mxu_status check_left(const struct mxu_account *account, enum mxu_resource resource,
                                  uint32_t needed)
{
    if (needed <= mxu_left(account, resource)) {
        return MXU_OK;
    }
    return needed <= account->hardware->limit[resource] ? MXU_EBUSY : MXU_ENOHW;
}

static enum mxu_status by_regions(const struct mxu_account *account, const struct mxu_request *request,
                                  struct mxu_answer *answer)
{
    uint32_t most = mxu_left(account, MXU_REGIONS);

    answer->independence = MXU_FULLY;
    answer->mechanism = MXU_BY_DYNAMIC_REGION;
    if (account->hardware->limit[MXU_REGIONS] <= account->hardware->system_regions) {
        return mxu_refuse(answer, MXU_ENOHW, MXU_REGIONS, 1, 0);
    }
    if ((request->spec & MXU_DETERMINISTIC) == 0) {
        return MXU_OK;
    }
    answer->mechanism = MXU_BY_STATIC_REGION;
    if (request->regions == 0 || request->regions_used > most) {
        return MXU_EINVAL;
    }
    if (request->regions > most) {
        return mxu_refuse(answer, MXU_ENOHW, MXU_REGIONS, request->regions, most);
    }
    if (request->regions > most - request->regions_used) {
        return mxu_refuse(answer, MXU_EBUSY, MXU_REGIONS, request->regions, most - request->regions_used);
    }
    answer->taken[MXU_REGIONS] = request->regions;
    return MXU_OK;
}

static enum mxu_status by_locked_entries(const struct mxu_account *account, const struct mxu_request *request,
                                         struct mxu_answer *answer)
{
    enum mxu_status status = check_left(account, MXU_LOCKED_ENTRIES, request->locked_entries);

    answer->mechanism = MXU_BY_LOCKED_ENTRY;
    answer->independence = MXU_FULLY;
    if (request->locked_entries == 0 || status != MXU_OK) {
        return mxu_refuse(answer, request->locked_entries == 0 ? MXU_ENOHW : status, MXU_LOCKED_ENTRIES,
                          request->locked_entries, mxu_left(account, MXU_LOCKED_ENTRIES));
    }
    answer->taken[MXU_LOCKED_ENTRIES] = request->locked_entries;
    return MXU_OK;
}

/* A resource for table nodes that is as fast as a cache level. */
struct place {
    enum mxu_resource resource;
    enum mxu_mechanism mechanism;
    uint32_t level;
    uint32_t bytes; /* of table nodes */
};

/* Table nodes in memory that is not slower than `level`. */
static enum mxu_status by_placement(const struct mxu_account *account, const struct mxu_request *request,
                                    uint32_t level, struct mxu_answer *answer)
{
    const struct mxu_hardware *hardware = account->hardware;
    uint32_t in_ocm = request->ocm_node_bytes != 0 ? request->ocm_node_bytes : request->node_bytes;
    const struct place places[] = {
        {MXU_OCM_BYTES, MXU_BY_OCM, hardware->ocm_level, in_ocm},
        {MXU_WAY_BYTES, MXU_BY_LOCKED_WAY, hardware->way_level, request->node_bytes},
        {MXU_COLORED_BYTES, MXU_BY_COLOR, hardware->color_level, request->node_bytes},
    };
    enum mxu_status verdict = MXU_ENOHW;

    (void)mxu_refuse(answer, MXU_ENOHW, MXU_OCM_BYTES, in_ocm, 0);
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const struct place *place = &places[i];
        enum mxu_status status = check_left(account, place->resource, place->bytes);

        if (place->level == 0 || place->level > level || hardware->limit[place->resource] == 0) {
            continue;
        }
        if (status == MXU_OK) {
            answer->mechanism = place->mechanism;
            answer->taken[place->resource] = place->bytes;
            answer->lacking = MXU_NO_RESOURCE;
            answer->needed = 0;
            return MXU_OK;
        }
        if (verdict == MXU_ENOHW) {
            verdict =
                mxu_refuse(answer, status, place->resource, place->bytes, mxu_left(account, place->resource));
        }
    }
    return verdict;
}

/* Entries of the main TLB that other components do not evict, or at least cannot use. */
static enum mxu_status by_sets_or_asid(const struct mxu_account *account, const struct mxu_request *request,
                                       struct mxu_answer *answer)
{
    enum mxu_status status;

    if (request->has_tlb_sets && check_left(account, MXU_TLB_SETS, request->tlb_sets) == MXU_OK) {
        answer->taken[MXU_TLB_SETS] = request->tlb_sets;
        answer->independence = MXU_FULLY;
        return MXU_OK;
    }
    status = check_left(account, MXU_ASIDS, !request->has_asid);
    if (status != MXU_OK) {
        return mxu_refuse(answer, status, MXU_ASIDS, 1, mxu_left(account, MXU_ASIDS));
    }
    answer->taken[MXU_ASIDS] = !request->has_asid;
    answer->independence = MXU_IN_PART;
    return MXU_OK;
}

static enum mxu_status decide(const struct mxu_account *account, const struct mxu_request *request,
                              struct mxu_answer *answer)
{
    uint32_t spec = request->spec;
    enum mxu_status status;

    if ((spec & ~MXU_SPEC_MASK) != 0) {
        return MXU_EINVAL;
    }
    if (account->hardware->checker == MXU_MPU) {
        return by_regions(account, request, answer);
    }
    if (spec == 0) {
        return MXU_OK;
    }
    if ((spec & (MXU_DETERMINISTIC | MXU_L1)) != 0) {
        return by_locked_entries(account, request, answer);
    }
    status = by_placement(account, request, (spec & MXU_L2) != 0 ? LEVEL_2 : LEVEL_3, answer);
    if (status == MXU_OK && (spec & MXU_INDEPENDENT) != 0) {
        status = by_sets_or_asid(account, request, answer);
    }
    return status;
}

enum mxu_status mxu_admit(struct mxu_account *account, const struct mxu_request *request,
                          struct mxu_answer *answer)
{
    enum mxu_status status;

    *answer = (struct mxu_answer){.lacking = MXU_NO_RESOURCE};
    status = decide(account, request, answer);
    for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
        if (status != MXU_OK) {
            answer->taken[i] = 0;
        } else if (i != MXU_REGIONS) {
            account->used[i] += answer->taken[i];
        }
    }
    return status;
}

void mxu_release(struct mxu_account *account, const struct mxu_answer *answer)
{
    for (uint32_t i = 0; i < MXU_RESOURCES; i++) {
        if (i != MXU_REGIONS) {
            account->used[i] -= answer->taken[i];
        }
    }
}
