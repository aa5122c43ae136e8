/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that can be set in a program when an image is built: sizes, seeds. They are in the program's code,
 * where the symbol rt_parameters lists names and values; the image builder overwrites the values.
 */
#ifndef BULKHEAD_MICROKERNEL_PARAMETERS_H
#define BULKHEAD_MICROKERNEL_PARAMETERS_H

#include <stdint.h>

#define PARAMETER_NAME_BYTES 12

struct rt_parameter {
    char name[PARAMETER_NAME_BYTES]; /* zero-terminated; empty: end of the list */
    uint32_t value;
};

/* Used once in a program: RT_PARAMETERS({"rows", 16384}, {"seed", 1}). */
#define RT_PARAMETERS(...)                                                                                   \
    __attribute__((section(".parameters"), used))                                                            \
    const volatile struct rt_parameter rt_parameters[] = {__VA_ARGS__, {"", 0}}

extern const volatile struct rt_parameter rt_parameters[];

/* 0 if the program has no such parameter. */
uint32_t rt_parameter(const char *name);

#endif
