/* SPDX-License-Identifier: Apache-2.0
 * The variable that instrumented code and the running core share. `budget`: number of instructions that the
 * core may still execute before its clock must be checked. Code subtracts from it, and calls
 * machine_budget_spent() when it is below zero. `fetches`: the core's bit in the words of blocks of code that
 * say which cores must fetch the block; 0: fetches are not modelled. Can be included from C. It is one
 * variable of the process: code instrumented by a build step (scripts/instrument/) has no cheaper address in
 * each basic block, and one host thread runs one machine, and one core of it at a time. In the machine only
 * core_clock accesses it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct machine_running_core {
    int64_t budget;
    uint64_t fetches;
};
extern struct machine_running_core machine_running;

/* Called when the budget is spent: the core's clock is looked at, other cores run first if necessary, and the
 * call returns when the running core has a new budget. Part of the runtime of instrumented programs
 * (machine/program/). */
void machine_budget_spent(void);

/* Lets the running core fetch a block of code. `missing`: the block's word. Part of the same runtime. */
void machine_fetch(uint16_t *missing);

#ifdef __cplusplus
}
#endif
