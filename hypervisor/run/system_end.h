/* SPDX-License-Identifier: Apache-2.0
 *
 * The last thing that EL2 does: what waits is written, and the machine turned off.
 */
#ifndef BULKHEAD_SYSTEM_END_H
#define BULKHEAD_SYSTEM_END_H

#ifdef __cplusplus
extern "C" {
#endif

/* Does not return if system_end() was called; else does nothing. Console core. */
void system_finish_if_ending(void);

/* The other cores, as they hear that the run has ended: the core goes off. No lock held, nothing half done.
 */
_Noreturn void system_end_core(void);

#ifdef __cplusplus
}
#endif

#endif
