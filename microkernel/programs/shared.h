/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions shared by the victim and the intruder.
 */
#ifndef BULKHEAD_MICROKERNEL_SHARED_H
#define BULKHEAD_MICROKERNEL_SHARED_H

#define SHARED_ID 7u

struct shared {
    unsigned secret; /* its address */
    unsigned message;
};

#endif
