/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Pauses of the analysis of flows. Every loop over tasks calls flow_pause() once for each task, so that
 * a program can do other work during a test. The broker is compiled with FLOW_PAUSES and defines
 * flow_pause(), in which it serves its domains. In all other programs flow_pause() does nothing.
 *
 * Functions that flow_pause() itself may call have no pauses: flow_with_control() and flow_turn_share(),
 * which the exchange uses as well.
 */
#ifndef BULKHEAD_CORE_FLOW_PAUSE_H
#define BULKHEAD_CORE_FLOW_PAUSE_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef FLOW_PAUSES
void flow_pause(void);
#else
static inline void flow_pause(void) {}
#endif

#ifdef __cplusplus
}
#endif

#endif
