/* SPDX-License-Identifier: Apache-2.0
 *
 * The trampoline: the code through which every core goes from "MMU off, physical address" to "MMU on, virtual
 * address", and the register values that it loads. The code is in arch/aarch64/entry.S.
 */
#ifndef BULKHEAD_TRAMPOLINE_H
#define BULKHEAD_TRAMPOLINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Entry point of a core with the MMU off, in the image's first page. */
extern char trampoline_entry[];

/* Register values next to the code. boot_prepare() fills them in. Must match arch/aarch64/entry.S. */
struct trampoline_values {
    uint64_t ttbr0;
    uint64_t tcr;
    uint64_t mair;
    uint64_t sctlr;
    uint64_t target; /* virtual address to jump to, with the core's index in x0 */
};

extern struct trampoline_values trampoline_values;

/* First instruction at a virtual address. It is only jumped to, never called. */
void cpu_start(void);

#ifdef __cplusplus
}
#endif

#endif
