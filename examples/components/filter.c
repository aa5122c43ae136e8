/* SPDX-License-Identifier: Apache-2.0
 *
 * A FIR filter over a ring of samples: reads `samples` and `filter`, writes `frames`.
 */
#include "work.h"

bool filter_start(struct filter *filter)
{
    size_t bytes = 0;

    filter->samples = rt_memory("samples", &bytes);
    filter->taps = rt_memory("filter", 0);
    filter->frames = rt_memory("frames", 0);
    filter->sample_count = (unsigned)(bytes / sizeof *filter->samples);
    filter->at = 0;
    if (filter->samples == 0 || filter->taps == 0 || filter->frames == 0) {
        rt_print("memory samples, filter or frames is missing\n");
        return false;
    }
    for (unsigned i = 0; i < TAPS; i++) {
        filter->taps[i] = (int16_t)(TAPS - i);
    }
    return true;
}

/* Reads `samples` and `filter`. */
static void take_samples(struct filter *filter)
{
    for (unsigned i = 0; i < OUTPUTS; i++) {
        unsigned first = filter->at % (filter->sample_count - TAPS);
        int32_t sum = 0;

        filter->samples[first] = (int16_t)(filter->at * 7u);
        for (unsigned tap = 0; tap < TAPS; tap++) {
            sum += filter->samples[first + tap] * filter->taps[tap];
        }
        filter->at++;
        filter->sum[i] = sum;
    }
}

/* Reads `filter`, writes `frames`. */
static void hand_over(const struct filter *filter)
{
    for (unsigned i = 0; i < OUTPUTS; i++) {
        filter->frames[i] = filter->sum[i] / filter->taps[0];
    }
}

void filter_run(struct filter *filter)
{
    take_samples(filter);
    hand_over(filter);
}

void longest_measured(struct longest *longest, unsigned clocks, unsigned times)
{
    longest->clocks = clocks > longest->clocks ? clocks : longest->clocks;
    longest->times++;
    if (longest->times == times) {
        rt_print("report {\"filter_most_clocks\": ");
        rt_print_number(longest->clocks);
        rt_print("}\n");
    }
}
