/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of the components of examples/mxu-*.yaml: a filter over samples, and a parser that jumps between
 * pieces of memory. In mxu-unprotected.yaml one component does both.
 */
#ifndef BULKHEAD_EXAMPLES_WORK_H
#define BULKHEAD_EXAMPLES_WORK_H

#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"
#include <stdbool.h>
#include <stdint.h>

#define TAPS    16u
#define OUTPUTS 64u
#define PIECES  7u

struct filter {
    int16_t *samples;
    int16_t *taps;
    int32_t *frames; /* results, which the parser reads */
    unsigned sample_count;
    unsigned at; /* next sample */
    int32_t sum[OUTPUTS];
};

/* False if the system's description lacks memory that the filter needs. */
bool filter_start(struct filter *filter);

/* A job: takes OUTPUTS new samples and filters them. */
void filter_run(struct filter *filter);

struct parser {
    uint8_t *piece[PIECES];
    unsigned piece_bytes;
    const int32_t *frames;
    uint32_t state; /* of the text that it generates */
};

bool parser_start(struct parser *parser);

/* Reads `tokens` tokens; each is stored in another piece of memory than the previous one. */
void parser_run(struct parser *parser, unsigned tokens);

/* Records the longest time of a part, and reports it once, when it has been measured `times` times. */
struct longest {
    unsigned clocks;
    unsigned times;
};

void longest_measured(struct longest *longest, unsigned clocks, unsigned times);

#endif
