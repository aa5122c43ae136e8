/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Divides one cache among its owners: what each one asks for becomes portions, or steps of a capacity limit
 * where the cache has no portions. The planner calls this (bindings/mpam), and whoever wants to know what a
 * file would get. Nothing is given to two owners unless both ask for it by name and say that it is shared.
 */
#ifndef BULKHEAD_CORE_MPAM_PLAN_H
#define BULKHEAD_CORE_MPAM_PLAN_H

#include "core/mpam_fraction.h"
#include "core/mpam_portions.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mpam_amount {
    MPAM_AMOUNT_REST,  /* its part of what nobody asks for */
    MPAM_AMOUNT_SHARE, /* `share` of the cache */
    MPAM_AMOUNT_EXACT, /* these portions and no others */
};

struct mpam_request {
    enum mpam_amount amount;
    struct mpam_share share;       /* at most the whole, more than nothing */
    struct mpam_portions portions; /* of EXACT */
    bool shared;                   /* of EXACT: others that say so, too, may have some of them */
    bool realtime;                 /* comes first where what is left does not divide evenly */
    bool hypervisor; /* with REST it has 1 / MPAM_HYPERVISOR_PART and no more; placed at the top */
};

/* Of the cache, for the hypervisor's own code and data, where the file does not say; at least one step. */
#define MPAM_HYPERVISOR_PART 16u

struct mpam_grant {
    uint32_t steps; /* portions, or steps of 1 / 2^width */
    struct mpam_portions portions;
};

enum mpam_division_refusal {
    MPAM_DIVIDED,
    MPAM_DIVISION_EMPTY,     /* `request` names no portion */
    MPAM_DIVISION_RANGE,     /* `request` names portions that there are not */
    MPAM_DIVISION_OVERLAP,   /* `request` and `other`, an earlier one, name the same */
    MPAM_DIVISION_TOO_SMALL, /* the share of `request` is less than the smallest limit */
    MPAM_DIVISION_EXHAUSTED, /* `needed` steps are asked for, `left` is what can be given; grants have steps
                              */
};

struct mpam_division {
    enum mpam_division_refusal refusal;
    uint32_t request;
    uint32_t other;
    uint32_t needed;
    uint32_t left;
};

/* A cache of `of` portions, 1 to MPAM_MAX_PORTIONS, among `count` owners. A share becomes the fewest portions
 * that are at least as much. Portions of an owner are one run where one is free. */
struct mpam_division mpam_divide_portions(uint32_t of, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants);

/* A cache without portions, by limits of `width` bits: a share becomes the largest limit that is no more. All
 * limits together are at most the whole, so that each owner has what its own one says. None may be EXACT. */
struct mpam_division mpam_divide_capacity(uint32_t width, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants);

/* Steps of 1 / 2^width that guarantees take together, each rounded up; they can be kept if these are at most
 * 2^width. Shares are at most the whole. */
uint64_t mpam_guarantees_sum(uint32_t width, const struct mpam_share *shares, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
