/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of test components: "NAME: WHAT = VALUE".
 */
#ifndef BULKHEAD_MICROKERNEL_SAY_H
#define BULKHEAD_MICROKERNEL_SAY_H

#include "microkernel/include/microkernel/rt.h"

static inline void say(const char *name, const char *what, unsigned value)
{
    rt_print(name);
    rt_print(": ");
    rt_print(what);
    rt_print(" = ");
    rt_print_number(value);
    rt_print("\n");
}

#endif
