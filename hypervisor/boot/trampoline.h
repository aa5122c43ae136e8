/* SPDX-License-Identifier: Apache-2.0
 *
 * The trampoline: the code through which every core goes from "MMU off, physical address" to "MMU on,
 * virtual address", and the values that it loads. The code is in arch/aarch64/entry.S.
 */
#ifndef BULKHEAD_TRAMPOLINE_H
#define BULKHEAD_TRAMPOLINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a core starts with the MMU off, in the image's first page. */
extern char trampoline_entry[];

/* Beside it, filled by boot_prepare(). Must match arch/aarch64/entry.S. */
struct trampoline_values {
    uint64_t ttbr0;
    uint64_t tcr;
    uint64_t mair;
    uint64_t sctlr;
    uint64_t target; /* virtual address to go to, with the index of the core in x0 */
};

extern struct trampoline_values trampoline_values;

/* First instruction at a virtual address. Never called, only jumped to. */
void cpu_start(void);

#ifdef __cplusplus
}
#endif

#endif
