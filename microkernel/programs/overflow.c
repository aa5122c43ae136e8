/* SPDX-License-Identifier: Apache-2.0
 *
 * Moves its stack pointer down until an exception cannot store its frame.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/programs/say.h"

static unsigned recurse(unsigned depth)
{
    volatile unsigned local[16];

    local[depth % 16u] = depth;
    return depth == 0 ? 0 : recurse(depth - 1u) + local[depth % 16u];
}

void component_main(void)
{
    say("overflow", "runs", 1);
    say("overflow", "came back", recurse(10000));
}
