/* SPDX-License-Identifier: Apache-2.0
 *
 * The sensor task: one job in each period.
 */
#include "work.h"

#define REPORTED 80u

void component_main(void)
{
    static struct filter filter;
    static struct longest longest;

    if (!filter_start(&filter)) {
        return;
    }
    for (;;) {
        unsigned before;

        rt_end_job();
        before = rt_clock();
        filter_run(&filter);
        longest_measured(&longest, rt_clock() - before, REPORTED);
    }
}
