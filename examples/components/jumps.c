/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser: generates text from a linear congruential generator and from `frames`. It stores what it has
 * read in pieces of memory in turn: `one` to `seven`, or parts of `heap-of-trees`.
 */
#include "work.h"

#define MULTIPLIER 1664525u
#define INCREMENT  1013904223u
#define CHARACTERS 64u /* bytes of a token */

bool parser_start(struct parser *parser)
{
    static const char *const name[PIECES] = {"one", "two", "three", "four", "five", "six", "seven"};
    size_t bytes = 0;
    uint8_t *heap = rt_memory("heap-of-trees", &bytes);

    parser->state = 1;
    parser->frames = rt_memory("frames", 0);
    parser->piece_bytes = (unsigned)(bytes / PIECES);
    for (unsigned i = 0; i < PIECES; i++) {
        parser->piece[i] = heap != 0 ? heap + i * parser->piece_bytes : rt_memory(name[i], &bytes);
        if (parser->piece[i] == 0 || parser->frames == 0) {
            rt_print("memory frames, one to seven or heap-of-trees is missing\n");
            return false;
        }
    }
    parser->piece_bytes = heap != 0 ? parser->piece_bytes : (unsigned)bytes;
    return true;
}

/* Reads a token. The values do not matter; reading takes time. */
static uint32_t read_token(uint32_t state)
{
    for (unsigned i = 0; i < CHARACTERS; i++) {
        state = state * MULTIPLIER + INCREMENT;
    }
    return state;
}

void parser_run(struct parser *parser, unsigned tokens)
{
    for (unsigned i = 0; i < tokens; i++) {
        uint8_t *piece = parser->piece[i % PIECES];

        parser->state = read_token(parser->state);
        piece[(parser->state >> 8) % parser->piece_bytes] = (uint8_t)parser->state;
        if (i % PIECES == 0) {
            parser->state += (uint32_t)parser->frames[i % OUTPUTS];
        }
    }
}
