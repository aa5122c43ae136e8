// SPDX-License-Identifier: Apache-2.0
//
// Composes the names of parameters about flows.
#include "guests/runtime/flow_params.h"

#include <stddef.h>

#include "guests/runtime/params.h"

uint64_t flow_param(const char *kind, uint32_t n, const char *key)
{
    char name[32];
    size_t at = 0;

    while (*kind != '\0')
        name[at++] = *kind++;
    if (n >= 10)
        name[at++] = (char)('0' + n / 10);
    name[at++] = (char)('0' + n % 10);
    name[at++] = '_';
    while (*key != '\0')
        name[at++] = *key++;
    name[at] = '\0';
    return param(name, 0);
}
