/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks up a program's parameters by name.
 */
#include "microkernel/include/microkernel/parameters.h"
#include <stdbool.h>

static bool is_named(const volatile struct rt_parameter *parameter, const char *name)
{
    uint32_t i = 0;

    while (i < PARAMETER_NAME_BYTES && parameter->name[i] == name[i] && name[i] != '\0') {
        i++;
    }
    return i < PARAMETER_NAME_BYTES && parameter->name[i] == name[i];
}

uint32_t rt_parameter(const char *name)
{
    for (const volatile struct rt_parameter *one = rt_parameters; one->name[0] != '\0'; one++) {
        if (is_named(one, name)) {
            return one->value;
        }
    }
    return 0;
}
