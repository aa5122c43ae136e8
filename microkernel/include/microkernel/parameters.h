/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that whoever builds an image may give a program: sizes, seeds. They are in its code, where the
 * symbol rt_parameters names them with their values; who builds an image writes other values there.
 */
#ifndef BULKHEAD_MICROKERNEL_PARAMETERS_H
#define BULKHEAD_MICROKERNEL_PARAMETERS_H

#include <stdint.h>

#define PARAMETER_NAME_BYTES 12

struct rt_parameter {
    char name[PARAMETER_NAME_BYTES]; /* zero-terminated; empty: the end */
    uint32_t value;
};

/* Once in a program: RT_PARAMETERS({"rows", 16384}, {"seed", 1}). */
#define RT_PARAMETERS(...)                                                                                   \
    __attribute__((section(".parameters"), used))                                                            \
    const volatile struct rt_parameter rt_parameters[] = {__VA_ARGS__, {"", 0}}

extern const volatile struct rt_parameter rt_parameters[];

/* 0 if the program has no such parameter. */
uint32_t rt_parameter(const char *name);

#endif
