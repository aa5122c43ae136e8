/* SPDX-License-Identifier: Apache-2.0
 * The one word that instrumented code and the running core share: how many instructions the core may still
 * execute before its clock must be looked at. Code subtracts; what is below zero calls
 * machine_budget_spent(). Includable from C. It is a variable of the process, because code that a build step
 * has instrumented (scripts/instrument/) can address nothing cheaper in each basic block, and there is one,
 * because one host thread runs one machine, and one core of it at a time. Of the machine only core_clock
 * touches it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int64_t machine_budget;

/* The running core goes on until it may be granted more, which can mean that others run first. Part of the
 * runtime of instrumented programs (machine/program/). */
void machine_budget_spent(void);

#ifdef __cplusplus
}
#endif
