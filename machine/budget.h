/* SPDX-License-Identifier: Apache-2.0
 * What instrumented code and the running core share. `budget`: how many instructions the core may still
 * execute before its clock must be looked at. Code subtracts; what is below zero calls
 * machine_budget_spent(). `fetches`: the core's bit in the words that say of a block of code which cores must
 * fetch it; 0: nobody looks. Includable from C. It is a variable of the process, because code that a build
 * step has instrumented (scripts/instrument/) can address nothing cheaper in each basic block, and there is
 * one, because one host thread runs one machine, and one core of it at a time. Of the machine only core_clock
 * touches it. */
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

/* The running core goes on until it may be granted more, which can mean that others run first. Part of the
 * runtime of instrumented programs (machine/program/). */
void machine_budget_spent(void);

/* The running core fetches a block of code; `missing` is the block's word. Part of the same runtime. */
void machine_fetch(uint16_t *missing);

#ifdef __cplusplus
}
#endif
