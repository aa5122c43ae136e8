/* SPDX-License-Identifier: Apache-2.0
 *
 * The physical interrupt translation service (ITS; Arm IHI 0069, chapters 5 and 12.19) and the LPIs of the
 * redistributors. The driver maps each message of a domain's PCI function to an LPI of its own when EL2
 * starts, and sends no command afterwards: what a guest does to its own messages concerns its virtual ITS
 * only (vgic/vgic_its.h). Message m of function f, in the order of the manifest, is LPI BH_MAX_MESSAGES * f +
 * m, and goes to the core of the first VCPU of the function's domain. All other writes to the ITS are
 * dropped: of functions that no domain has, of events beyond a function's messages, and of cores.
 *
 * In programs without the driver no_its.c is linked.
 */
#ifndef BULKHEAD_ITS_H
#define BULKHEAD_ITS_H

#include "core/manifest.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cpu;

/* Turns the ITS off, so that it writes to no memory. Called with the MMU off, after gic_silence(), before
 * images are loaded. Returns false if it does not answer. */
bool its_silence(const struct manifest_header *manifest);

/* Makes the ITS's tables and maps all messages. Called once, on the first core, after the domains are set up.
 * Logs what is missing if the ITS cannot be used. */
enum bh_manifest_error its_init(void);

/* Enables LPIs at the redistributor of the executing core. Called after gic_cpu_init(). Logs why and returns
 * false if that is not possible: for example, a boot loader has enabled them and they cannot be disabled, so
 * the redistributor uses the boot loader's memory. */
bool its_cpu_init(const struct cpu *cpu);

/* While the budget of the core's VCPU is spent, messages wait at the redistributor of the core: EL2's work
 * for them would be counted in no budget. */
void its_hold_messages(bool hold);

#ifdef __cplusplus
}
#endif

#endif
