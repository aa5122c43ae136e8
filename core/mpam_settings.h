/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What one partition gets of one resource instance, and the register writes for it. Settings are complete:
 * every control that the instance offers is written, so that no setting of the PARTID's earlier owner stays.
 * The accounting window is an exception: it is written only if it is asked for, since no ID register says its
 * default. Settings that ask for a control that the instance lacks are refused as a whole.
 */
#ifndef BULKHEAD_CORE_MPAM_SETTINGS_H
#define BULKHEAD_CORE_MPAM_SETTINGS_H

#include "core/mpam_features.h"
#include "core/mpam_fraction.h"
#include "core/mpam_portions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Controls, as bits of mpam_settings.asked. */
enum mpam_control {
    MPAM_CACHE_PORTIONS = 1u << 0,
    MPAM_CMAX = 1u << 1,
    MPAM_CMAX_SOFT = 1u << 2, /* with MPAM_CMAX: the partition may take more while no other one needs it */
    MPAM_CMIN = 1u << 3,
    MPAM_ASSOCIATIVITY = 1u << 4,
    MPAM_MBW_MIN = 1u << 5,
    MPAM_MBW_MAX = 1u << 6,
    MPAM_MBW_MAX_HARD = 1u << 7, /* with MPAM_MBW_MAX: requests stop there */
    MPAM_BANDWIDTH_PORTIONS = 1u << 8,
    MPAM_PROPORTIONAL = 1u << 9,
    MPAM_INTERNAL_PRIORITY = 1u << 10,
    MPAM_DOWNSTREAM_PRIORITY = 1u << 11,
    MPAM_WINDOW = 1u << 12,
};

/* Only fields whose control is in `asked` are used. Each other control gets a value that neither limits nor
 * guarantees: all portions, 100 % as maximum, one step as minimum, no proportional share, the middle
 * priority. */
struct mpam_settings {
    uint32_t asked;
    struct mpam_portions cache;
    struct mpam_share cmax;
    struct mpam_share cmin;
    struct mpam_share associativity;
    struct mpam_share mbw_min;
    struct mpam_share mbw_max;
    struct mpam_portions bandwidth;
    uint32_t stride; /* 1 to 65,536: the proportional share of bandwidth is in proportion to 1 / stride */
    /* A larger number is more urgent here; the writes have the component's own order. */
    uint32_t internal_priority;
    uint32_t downstream_priority;
    uint32_t window_us; /* of bandwidth accounting, 1 to 65,535 */
};

enum mpam_refusal {
    MPAM_ACCEPTED,
    MPAM_NO_CONTROL,      /* the instance lacks a control that is asked for */
    MPAM_NO_PORTIONS,     /* a bitmap without a bit: nothing could be allocated, ever */
    MPAM_PORTION_RANGE,   /* a bitmap has a bit beyond the instance's portions */
    MPAM_SHARE_TOO_SMALL, /* a limit below the smallest step */
    MPAM_SHARE_TOO_LARGE, /* a guarantee above the largest */
    MPAM_VALUE_RANGE,     /* a priority, stride, window or share out of range */
    MPAM_MIN_ABOVE_MAX,
    MPAM_WITHOUT_MAXIMUM, /* MPAM_CMAX_SOFT without MPAM_CMAX, or MPAM_MBW_MAX_HARD without MPAM_MBW_MAX */
};

/* The control that is refused (mpam_control; 0 with MPAM_ACCEPTED) and why. */
struct mpam_verdict {
    enum mpam_refusal refusal;
    uint32_t control;
};

/* One 32-bit write. */
struct mpam_write {
    uint32_t offset;
    uint32_t value;
    uint32_t implemented; /* bits that read back as written; none of a window, which may be rounded */
};

/* The most writes for one partition of one instance: selections, the mapping to the internal PARTID, the
 * words of both bitmaps, and one for each other control. */
#define MPAM_MAX_WRITES (2u * MPAM_PORTION_WORDS + 12u)

struct mpam_writes {
    uint32_t count;
    struct mpam_write write[MPAM_MAX_WRITES];
};

/* Whether an instance with features `of` can have `settings`. */
struct mpam_verdict mpam_settings_check(const struct mpam_features *of, const struct mpam_settings *settings);

/* The writes for `partid` of resource instance `ris`, in the order in which they are to be made; the first
 * one selects both. With narrowing, PARTID `partid` gets internal PARTID `partid`. mpam_settings_check() must
 * have accepted the settings; partid and ris must be in range. */
void mpam_settings_writes(const struct mpam_features *of, const struct mpam_settings *settings, uint32_t ris,
                          uint32_t partid, struct mpam_writes *to);

/* With narrowing: the writes that map `partid`, which has no owner, to internal PARTID `internal`. */
void mpam_settings_share(uint32_t ris, uint32_t partid, uint32_t internal, struct mpam_writes *to);

#ifdef __cplusplus
}
#endif

#endif
