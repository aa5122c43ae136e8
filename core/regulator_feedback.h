/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The common part of the two policies that compare a load with a threshold (B5, B6): regulator_utilization.c
 * and regulator_bandwidth.c.
 */
#ifndef BULKHEAD_CORE_REGULATOR_FEEDBACK_H
#define BULKHEAD_CORE_REGULATOR_FEEDBACK_H

#include "core/regulator_policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct regulator_load {
    bool measured; /* if false, the sample has no load */
    uint32_t load; /* both in 1/65536 */
    uint32_t threshold;
};

/* Checks the policies' own parameters: hold and step. */
enum regulator_error regulator_check_feedback(const struct regulator_parameters *parameters);

/* Updates G. `fixed_step`: d in 1/65536; 0: half of the difference between load and threshold. */
void regulator_feed_back(struct regulator *regulator, const struct regulator_sample *sample,
                         const struct regulator_load *seen, uint32_t fixed_step);

/* Limits G to its range, and divides it into the budgets of the q regulated cores: in proportion to their
 * accesses, where a core that was throttled counts half of their mean at least. So a throttled core gets at
 * least (G - q * floor) / (3q - 1) less the rounding, more than a third of an equal share. */
void regulator_divide(struct regulator *regulator, const struct regulator_sample *sample);

/* Both. */
void regulator_feedback(struct regulator *regulator, const struct regulator_sample *sample,
                        const struct regulator_load *seen, uint32_t fixed_step);

#ifdef __cplusplus
}
#endif

#endif
