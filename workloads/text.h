// SPDX-License-Identifier: Apache-2.0
//
// Comparison of names, for workloads and their driver.
#ifndef BULKHEAD_WORKLOADS_TEXT_H
#define BULKHEAD_WORKLOADS_TEXT_H

#include <stdbool.h>

static inline bool text_same(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

#endif
