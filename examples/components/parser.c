/* SPDX-License-Identifier: Apache-2.0
 *
 * The untrusted parser: it never waits.
 */
#include "work.h"

#define AT_ONCE 1000u

void component_main(void)
{
    static struct parser parser;

    if (!parser_start(&parser)) {
        return;
    }
    for (;;) {
        parser_run(&parser, AT_ONCE);
    }
}
