/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints that it runs, at once and after two ticks, and that its data is initialized.
 */
#include "microkernel/include/microkernel/component.h"
#include "microkernel/include/microkernel/rt.h"

static volatile unsigned answer = 42;

void component_main(void)
{
    rt_print("hello: runs\n");
    rt_sleep(2);
    rt_print("hello: after two ticks, ");
    rt_print_number(answer);
    rt_print("\n");
}
