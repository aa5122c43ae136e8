/* SPDX-License-Identifier: Apache-2.0
 *
 * The last actions of EL2: the remaining output is written, and the machine is turned off.
 */
#ifndef BULKHEAD_SYSTEM_END_H
#define BULKHEAD_SYSTEM_END_H

#ifdef __cplusplus
extern "C" {
#endif

/* If system_end() was called, ends the machine and does not return; otherwise does nothing. Called on the
 * console core. */
void system_finish_if_ending(void);

/* Turns this core off. Called on each other core when it learns that the run has ended; it must hold no lock
 * and have no operation half done. */
_Noreturn void system_end_core(void);

#ifdef __cplusplus
}
#endif

#endif
