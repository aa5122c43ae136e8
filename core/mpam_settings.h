/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What one partition gets of one resource instance, and which register writes say so. Settings are complete:
 * a partition has a value for every control that the instance offers, so that nothing of an earlier owner of
 * the PARTID stays; but the window of accounting is written only where it is asked for, since no ID register
 * says what it was. Where a setting asks for a control that there is not, no write is made at all.
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
    MPAM_CMAX_SOFT = 1u << 2, /* with MPAM_CMAX: what is beyond may be had while nobody else wants it */
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

/* Only what `asked` has is looked at. What it has not becomes what limits and guarantees nothing: all
 * portions, the whole as maximum, the smallest minimum, no proportional share, the middle priority. */
struct mpam_settings {
    uint32_t asked;
    struct mpam_portions cache;
    struct mpam_share cmax;
    struct mpam_share cmin;
    struct mpam_share associativity;
    struct mpam_share mbw_min;
    struct mpam_share mbw_max;
    struct mpam_portions bandwidth;
    uint32_t stride; /* of the proportional share, 1 to 65,536: bandwidth goes by 1 / stride */
    /* A larger priority is served first, whatever the component counts as more urgent. */
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
    MPAM_VALUE_RANGE,     /* a priority, stride, window or share that is none */
    MPAM_MIN_ABOVE_MAX,
    MPAM_WITHOUT_MAXIMUM, /* MPAM_CMAX_SOFT or MPAM_MBW_MAX_HARD without the maximum that it is of */
};

/* Which control is refused why; control 0 with MPAM_ACCEPTED. */
struct mpam_verdict {
    enum mpam_refusal refusal;
    uint32_t control;
};

/* One 32-bit write. */
struct mpam_write {
    uint32_t offset;
    uint32_t value;
    uint32_t
        implemented; /* bits that read back as written; of a window none, for the component may round it */
};

/* Most writes that one partition of one instance needs: the selection, the mapping of its internal PARTID,
 * both bitmaps, all else. */
#define MPAM_MAX_WRITES (2u * MPAM_PORTION_WORDS + 12u)

struct mpam_writes {
    uint32_t count;
    struct mpam_write write[MPAM_MAX_WRITES];
};

struct mpam_verdict mpam_settings_check(const struct mpam_features *of, const struct mpam_settings *settings);

/* The writes for `partid` of resource instance `ris`, in the order in which they are to be made; the first
 * one selects. With narrowing, `partid` has internal PARTID `partid`, and both numbers are selected. Settings
 * must be accepted, partid and ris be in range. */
void mpam_settings_writes(const struct mpam_features *of, const struct mpam_settings *settings, uint32_t ris,
                          uint32_t partid, struct mpam_writes *to);

/* With narrowing, of a PARTID that no partition has: it shares what `internal` gets. */
void mpam_settings_share(uint32_t ris, uint32_t partid, uint32_t internal, struct mpam_writes *to);

#ifdef __cplusplus
}
#endif

#endif
