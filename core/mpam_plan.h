/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Divides one cache among its owners: each request becomes portions, or steps of a capacity limit if the
 * cache has no portions. The planner and `bulkhead resctrl` call this through bindings/mpam. Two owners share
 * portions only if both name them and say that they are shared.
 */
#ifndef BULKHEAD_CORE_MPAM_PLAN_H
#define BULKHEAD_CORE_MPAM_PLAN_H

#include "core/mpam_fraction.h"
#include "core/mpam_portions.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mpam_amount {
    MPAM_AMOUNT_REST,  /* an equal part of what no owner asks for, at least one step */
    MPAM_AMOUNT_SHARE, /* `share` of the cache */
    MPAM_AMOUNT_EXACT, /* these portions and no others */
};

struct mpam_request {
    enum mpam_amount amount;
    struct mpam_share share;       /* at most the whole, more than nothing */
    struct mpam_portions portions; /* of EXACT */
    /* for MPAM_AMOUNT_EXACT: other shared requests may name some of these portions, too */
    bool shared;
    bool realtime;   /* gets one of the remaining steps first if the rest does not divide evenly */
    bool hypervisor; /* with MPAM_AMOUNT_REST it gets 1 / MPAM_HYPERVISOR_PART; its portions are at the top */
};

/* A hypervisor without a share gets 1 / this of the cache for its code and data, at least one step. */
#define MPAM_HYPERVISOR_PART 16u

struct mpam_grant {
    uint32_t steps; /* portions, or steps of 1 / 2^width */
    struct mpam_portions portions;
};

enum mpam_division_refusal {
    MPAM_DIVIDED,
    MPAM_DIVISION_EMPTY,     /* `request` names no portion */
    MPAM_DIVISION_RANGE,     /* `request` names portions that the cache does not have */
    MPAM_DIVISION_OVERLAP,   /* `request` and an earlier one, `other`, name the same portion */
    MPAM_DIVISION_TOO_SMALL, /* the share of `request` is less than the smallest limit */
    MPAM_DIVISION_EXHAUSTED, /* requests need `needed` steps, `left` are left; grants[].steps is set */
};

struct mpam_division {
    enum mpam_division_refusal refusal;
    uint32_t request;
    uint32_t other;
    uint32_t needed;
    uint32_t left;
};

/* Divides a cache of `of` portions (1 to MPAM_MAX_PORTIONS) among `count` owners; grants[i] is what
 * requests[i] gets. A share becomes the fewest portions that are at least as much. An owner's portions are
 * consecutive if such a run is free. */
struct mpam_division mpam_divide_portions(uint32_t of, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants);

/* Divides a cache without portions by limits of `width` bits: a share becomes the largest limit that is not
 * above it. All limits together are at most the whole, so the others cannot take an owner's part. No request
 * may be EXACT. */
struct mpam_division mpam_divide_capacity(uint32_t width, const struct mpam_request *requests, uint32_t count,
                                          struct mpam_grant *grants);

/* The sum of `count` guarantees in steps of 1 / 2^width, each rounded up. All can be kept if the sum is at
 * most 2^width. Each share must be at most the whole. */
uint64_t mpam_guarantees_sum(uint32_t width, const struct mpam_share *shares, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
