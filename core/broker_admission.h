/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The broker's side of the admission of flows at run time (F6, F8): tests the flow that EL2 requests in the
 * door, together with all flows that are open there.
 */
#ifndef BULKHEAD_CORE_BROKER_ADMISSION_H
#define BULKHEAD_CORE_BROKER_ADMISSION_H

#include "core/broker_door.h"
#include "core/flow_admission.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of the latest request. */
uint64_t broker_admission_request(const struct broker_door *door);

/* Tests the flow of request `number`, which was the latest, and sets the result in the answer: problem,
 * culprit, verdict, at and demand. Returns false if there is nothing to test, or if a later request replaced
 * this one meanwhile. */
bool broker_admission_test(struct flow_admission *admission, const struct broker_door *door,
                           const struct broker_map *map, uint64_t number, struct door_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
