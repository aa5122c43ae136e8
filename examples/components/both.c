/* SPDX-License-Identifier: Apache-2.0
 *
 * Sensor and parser in one component, whose jobs do both: the parser evicts what the filter needs.
 */
#include "work.h"

#define TOKENS   430u /* per token data and a piece, every 7 tokens `frames`: at most 1000 changes */
#define REPORTED 8u

void component_main(void)
{
    static struct filter filter;
    static struct parser parser;
    static struct longest longest;

    if (!filter_start(&filter) || !parser_start(&parser)) {
        return;
    }
    for (;;) {
        unsigned before;

        rt_end_job();
        parser_run(&parser, TOKENS);
        before = rt_clock();
        filter_run(&filter);
        longest_measured(&longest, rt_clock() - before, REPORTED);
    }
}
