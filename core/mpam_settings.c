/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The check and the writes use the same conversion of settings to fields, so that exactly the accepted
 * settings are written. The order of the writes does not matter, except that the selection comes first.
 */
#include "core/mpam_settings.h"
#include "core/mpam_registers.h"

#define ALL_BITS UINT32_MAX

/* Register fields of all controls, computed from the settings and from the features of the instance. */
struct fields {
    struct mpam_portions cache;
    struct mpam_portions bandwidth;
    uint32_t cmax;
    uint32_t cmin;
    uint32_t associativity;
    uint32_t mbw_min;
    uint32_t mbw_max;
    uint32_t proportional;
    uint32_t priority;
    uint32_t window;
};

static const struct mpam_share everything = {1, 1};

static bool asked(const struct mpam_settings *settings, uint32_t control)
{
    return settings->asked & control;
}

static uint32_t ones(uint32_t count)
{
    return (uint32_t)((UINT64_C(1) << count) - 1);
}

/* Mask of the implemented bits of a fraction's field. */
static uint32_t fraction_mask(uint32_t width)
{
    return ones(width) << (MPAM_FRACTION_BITS - width);
}

static uint32_t offered(const struct mpam_features *of)
{
    uint32_t controls = 0;

    controls |= of->cache_portions > 0 ? MPAM_CACHE_PORTIONS : 0;
    controls |= of->has_cmax ? MPAM_CMAX : 0;
    controls |= of->has_soft_cmax ? MPAM_CMAX_SOFT : 0;
    controls |= of->has_cmin ? MPAM_CMIN : 0;
    controls |= of->associativity_bits > 0 ? MPAM_ASSOCIATIVITY : 0;
    controls |= of->has_min ? MPAM_MBW_MIN : 0;
    controls |= of->has_max ? MPAM_MBW_MAX | MPAM_MBW_MAX_HARD : 0;
    controls |= of->bandwidth_portions > 0 ? MPAM_BANDWIDTH_PORTIONS : 0;
    controls |= of->has_proportional ? MPAM_PROPORTIONAL : 0;
    controls |= of->internal.bits > 0 ? MPAM_INTERNAL_PRIORITY : 0;
    controls |= of->downstream.bits > 0 ? MPAM_DOWNSTREAM_PRIORITY : 0;
    controls |= of->window_writable ? MPAM_WINDOW : 0;
    return controls;
}

static bool is_share(struct mpam_share share)
{
    return share.of > 0 && share.part <= share.of;
}

static enum mpam_refusal portions(const struct mpam_settings *settings, uint32_t control,
                                  const struct mpam_portions *wanted, uint32_t count,
                                  struct mpam_portions *to)
{
    *to = mpam_portions_run(0, count);
    if (!asked(settings, control))
        return MPAM_ACCEPTED;
    *to = *wanted;
    if (!mpam_portions_below(wanted, count))
        return MPAM_PORTION_RANGE;
    return mpam_portions_count(wanted) > 0 ? MPAM_ACCEPTED : MPAM_NO_PORTIONS;
}

static enum mpam_refusal limit(const struct mpam_settings *settings, uint32_t control,
                               struct mpam_share wanted, uint32_t width, uint32_t *to)
{
    struct mpam_share share = asked(settings, control) ? wanted : everything;
    struct mpam_fraction fraction;

    if (!is_share(share))
        return MPAM_VALUE_RANGE;
    if (!mpam_limit(share, width, &fraction))
        return MPAM_SHARE_TOO_SMALL;
    *to = fraction.field;
    return MPAM_ACCEPTED;
}

/* One step if no minimum is asked for: with a minimum of 0 some components leave a throttled core throttled
 * for ever (erratum T241-MPAM-4, Linux Documentation/arch/arm64/silicon-errata.rst). On other components one
 * step makes no practical difference. */
static enum mpam_refusal guarantee(const struct mpam_settings *settings, uint32_t control,
                                   struct mpam_share wanted, uint32_t width, uint32_t *to)
{
    struct mpam_share least = {1, (uint32_t)(UINT64_C(1) << width)};
    struct mpam_fraction fraction;

    if (asked(settings, control) && !is_share(wanted))
        return MPAM_VALUE_RANGE;
    if (!mpam_guarantee(asked(settings, control) && wanted.part > 0 ? wanted : least, width, &fraction))
        return MPAM_SHARE_TOO_LARGE;
    *to = fraction.field;
    return MPAM_ACCEPTED;
}

/* A limit and a guarantee for the same resource, as fractions of the same width. */
struct range {
    bool has_max;
    bool has_min;
    uint32_t max_control;
    uint32_t min_control;
    struct mpam_share max;
    struct mpam_share min;
    uint32_t width;
};

static struct mpam_verdict resolve_range(const struct mpam_settings *settings, const struct range *of,
                                         uint32_t *to_max, uint32_t *to_min)
{
    struct mpam_verdict verdict = {MPAM_ACCEPTED, of->max_control};

    if (of->has_max)
        verdict.refusal = limit(settings, of->max_control, of->max, of->width, to_max);
    if (verdict.refusal != MPAM_ACCEPTED || !of->has_min)
        return verdict;
    verdict.control = of->min_control;
    verdict.refusal = guarantee(settings, of->min_control, of->min, of->width, to_min);
    if (verdict.refusal == MPAM_ACCEPTED && of->has_max &&
        mpam_guarantee_of((uint16_t)*to_min, of->width).part >
            mpam_limit_of((uint16_t)*to_max, of->width).part)
        verdict.refusal = MPAM_MIN_ABOVE_MAX;
    return verdict;
}

/* Converts a priority (a larger one is more urgent) to the component's order. */
static enum mpam_refusal priority(const struct mpam_settings *settings, uint32_t control, uint32_t wanted,
                                  const struct mpam_priority_feature *of, uint32_t *to)
{
    uint32_t urgent = asked(settings, control) ? wanted : ones(of->bits) / 2;

    if (urgent > ones(of->bits))
        return MPAM_VALUE_RANGE;
    *to = of->zero_is_low ? urgent : ones(of->bits) - urgent;
    return MPAM_ACCEPTED;
}

static enum mpam_refusal stride(const struct mpam_features *of, const struct mpam_settings *settings,
                                uint32_t *to)
{
    *to = 0;
    if (!asked(settings, MPAM_PROPORTIONAL))
        return MPAM_ACCEPTED;
    if (settings->stride == 0 || settings->stride - 1 > ones(of->bandwidth_bits))
        return MPAM_VALUE_RANGE;
    *to = MPAMCFG_MBW_PROP_EN | (settings->stride - 1);
    return MPAM_ACCEPTED;
}

static enum mpam_refusal window(const struct mpam_settings *settings, uint32_t *to)
{
    *to = 0;
    if (!asked(settings, MPAM_WINDOW))
        return MPAM_ACCEPTED;
    if (settings->window_us == 0 || settings->window_us > UINT16_MAX)
        return MPAM_VALUE_RANGE;
    *to = settings->window_us << MPAMCFG_MBW_WINWD_US_SHIFT;
    return MPAM_ACCEPTED;
}

static struct mpam_verdict resolve_cache(const struct mpam_features *of, const struct mpam_settings *settings,
                                         struct fields *to)
{
    const struct range capacity = {of->has_cmax,   of->has_cmin,   MPAM_CMAX,        MPAM_CMIN,
                                   settings->cmax, settings->cmin, of->capacity_bits};
    struct mpam_verdict verdict = {
        portions(settings, MPAM_CACHE_PORTIONS, &settings->cache, of->cache_portions, &to->cache),
        MPAM_CACHE_PORTIONS};

    if (verdict.refusal == MPAM_ACCEPTED)
        verdict = resolve_range(settings, &capacity, &to->cmax, &to->cmin);
    if (verdict.refusal == MPAM_ACCEPTED && of->associativity_bits > 0) {
        verdict.refusal = limit(settings, MPAM_ASSOCIATIVITY, settings->associativity, of->associativity_bits,
                                &to->associativity);
        verdict.control = MPAM_ASSOCIATIVITY;
    }
    if (asked(settings, MPAM_CMAX_SOFT))
        to->cmax |= MPAMCFG_CMAX_SOFTLIM;
    return verdict;
}

static struct mpam_verdict resolve_bandwidth(const struct mpam_features *of,
                                             const struct mpam_settings *settings, struct fields *to)
{
    const struct range use = {of->has_max,       of->has_min,       MPAM_MBW_MAX,      MPAM_MBW_MIN,
                              settings->mbw_max, settings->mbw_min, of->bandwidth_bits};
    struct mpam_verdict verdict = {portions(settings, MPAM_BANDWIDTH_PORTIONS, &settings->bandwidth,
                                            of->bandwidth_portions, &to->bandwidth),
                                   MPAM_BANDWIDTH_PORTIONS};

    if (verdict.refusal == MPAM_ACCEPTED)
        verdict = resolve_range(settings, &use, &to->mbw_max, &to->mbw_min);
    if (verdict.refusal == MPAM_ACCEPTED && of->has_proportional) {
        verdict.refusal = stride(of, settings, &to->proportional);
        verdict.control = MPAM_PROPORTIONAL;
    }
    if (verdict.refusal == MPAM_ACCEPTED && of->window_writable) {
        verdict.refusal = window(settings, &to->window);
        verdict.control = MPAM_WINDOW;
    }
    if (asked(settings, MPAM_MBW_MAX_HARD))
        to->mbw_max |= MPAMCFG_MBW_MAX_HARDLIM;
    return verdict;
}

static struct mpam_verdict resolve_priorities(const struct mpam_features *of,
                                              const struct mpam_settings *settings, struct fields *to)
{
    uint32_t internal = 0, downstream = 0;
    struct mpam_verdict verdict = {MPAM_ACCEPTED, MPAM_INTERNAL_PRIORITY};

    if (of->internal.bits > 0) {
        verdict.refusal =
            priority(settings, MPAM_INTERNAL_PRIORITY, settings->internal_priority, &of->internal, &internal);
    }
    if (verdict.refusal == MPAM_ACCEPTED && of->downstream.bits > 0) {
        verdict.refusal = priority(settings, MPAM_DOWNSTREAM_PRIORITY, settings->downstream_priority,
                                   &of->downstream, &downstream);
        verdict.control = MPAM_DOWNSTREAM_PRIORITY;
    }
    to->priority = downstream << MPAMCFG_PRI_DSPRI_SHIFT | internal;
    return verdict;
}

/* The first control that says how a maximum is enforced although no maximum is requested, or 0. */
static uint32_t without_maximum(const struct mpam_settings *settings)
{
    if (asked(settings, MPAM_CMAX_SOFT) && !asked(settings, MPAM_CMAX))
        return MPAM_CMAX_SOFT;
    return asked(settings, MPAM_MBW_MAX_HARD) && !asked(settings, MPAM_MBW_MAX) ? MPAM_MBW_MAX_HARD : 0;
}

static struct mpam_verdict resolve(const struct mpam_features *of, const struct mpam_settings *settings,
                                   struct fields *to)
{
    uint32_t lacking = settings->asked & ~offered(of);
    struct mpam_verdict verdict = {MPAM_NO_CONTROL, lacking & -lacking};

    if (lacking != 0)
        return verdict;
    verdict.refusal = MPAM_WITHOUT_MAXIMUM;
    verdict.control = without_maximum(settings);
    if (verdict.control != 0)
        return verdict;
    verdict = resolve_cache(of, settings, to);
    if (verdict.refusal == MPAM_ACCEPTED)
        verdict = resolve_bandwidth(of, settings, to);
    if (verdict.refusal == MPAM_ACCEPTED)
        verdict = resolve_priorities(of, settings, to);
    if (verdict.refusal == MPAM_ACCEPTED)
        verdict.control = 0;
    return verdict;
}

struct mpam_verdict mpam_settings_check(const struct mpam_features *of, const struct mpam_settings *settings)
{
    struct fields unused = {0};

    return resolve(of, settings, &unused);
}

static void put(struct mpam_writes *to, uint32_t offset, uint32_t value, uint32_t implemented)
{
    to->write[to->count++] = (struct mpam_write){offset, value, implemented};
}

static void put_portions(struct mpam_writes *to, const struct mpam_portions *portions, uint32_t count,
                         uint32_t first_offset)
{
    for (uint32_t word = 0; word * 32 < count; word++) {
        uint32_t left = count - word * 32;
        put(to, first_offset + 4 * word, portions->word[word], left < 32 ? ones(left) : ALL_BITS);
    }
}

static void put_bandwidth(struct mpam_writes *to, const struct mpam_features *of, const struct fields *fields)
{
    uint32_t mask = fraction_mask(of->bandwidth_bits);

    put_portions(to, &fields->bandwidth, of->bandwidth_portions, MPAMCFG_MBW_PBM(0));
    if (of->has_min)
        put(to, MPAMCFG_MBW_MIN, fields->mbw_min, mask);
    if (of->has_max)
        put(to, MPAMCFG_MBW_MAX, fields->mbw_max, mask | MPAMCFG_MBW_MAX_HARDLIM);
    if (of->has_proportional)
        put(to, MPAMCFG_MBW_PROP, fields->proportional, ones(of->bandwidth_bits) | MPAMCFG_MBW_PROP_EN);
    if (fields->window != 0)
        put(to, MPAMCFG_MBW_WINWD, fields->window, 0); /* the component may round the window */
}

void mpam_settings_writes(const struct mpam_features *of, const struct mpam_settings *settings, uint32_t ris,
                          uint32_t partid, struct mpam_writes *to)
{
    uint32_t selection = ris << MPAM_SEL_RIS_SHIFT | partid;
    struct fields fields = {0};

    to->count = 0;
    (void)resolve(of, settings, &fields);
    put(to, MPAMCFG_PART_SEL, selection, ALL_BITS);
    if (of->narrowing) {
        put(to, MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | partid, ALL_BITS);
        put(to, MPAMCFG_PART_SEL, selection | MPAMCFG_PART_SEL_INTERNAL, ALL_BITS);
    }
    put_portions(to, &fields.cache, of->cache_portions, MPAMCFG_CPBM(0));
    if (of->has_cmax) {
        put(to, MPAMCFG_CMAX, fields.cmax,
            fraction_mask(of->capacity_bits) | (of->has_soft_cmax ? MPAMCFG_CMAX_SOFTLIM : 0));
    }
    if (of->has_cmin)
        put(to, MPAMCFG_CMIN, fields.cmin, fraction_mask(of->capacity_bits));
    if (of->associativity_bits > 0)
        put(to, MPAMCFG_CASSOC, fields.associativity, fraction_mask(of->associativity_bits));
    put_bandwidth(to, of, &fields);
    if (of->internal.bits > 0 || of->downstream.bits > 0) {
        put(to, MPAMCFG_PRI, fields.priority,
            ones(of->downstream.bits) << MPAMCFG_PRI_DSPRI_SHIFT | ones(of->internal.bits));
    }
}

void mpam_settings_share(uint32_t ris, uint32_t partid, uint32_t internal, struct mpam_writes *to)
{
    to->count = 0;
    put(to, MPAMCFG_PART_SEL, ris << MPAM_SEL_RIS_SHIFT | partid, ALL_BITS);
    put(to, MPAMCFG_INTPARTID, MPAMCFG_INTPARTID_INTERNAL | internal, ALL_BITS);
}
