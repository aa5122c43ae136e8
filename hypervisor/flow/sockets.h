/* SPDX-License-Identifier: Apache-2.0
 *
 * Socket devices of all domains, as EL2 has them (F8): registers, interrupt lines, and lives. What is in
 * their queues is the broker's.
 */
#ifndef BULKHEAD_SOCKETS_H
#define BULKHEAD_SOCKETS_H

#include "core/broker_door.h"
#include "core/spinlock.h"
#include "core/virtio_mmio.h"
#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What core/ calls a guest's memory. */
struct guest_memory {
    const struct domain *domain;
};

struct socket_device {
    struct spinlock lock; /* of all of it, and of its part of the door */
    struct guest_memory memory;
    struct virtio_mmio mmio;
    uint32_t life;                /* counts resets */
    uint32_t begun[VSOCK_QUEUES]; /* how often a queue was made ready */
    bool leaving;                 /* a reset has begun: `life` is the next one's */
    bool awaited;                 /* somebody waits until the broker has left the life before */
};

/* The domain's device; NULL: it has none. */
struct socket_device *socket_of(const struct domain *domain);

/* All are told to a broker that has just opened its door. On its core. */
void sockets_tell_all(void);

/* Its driver is to hear of something: used buffers, or that the device has failed. On the broker's core. */
void socket_interrupt(const struct domain *domain);
void socket_fail(const struct domain *domain);

/* The broker says that it has left earlier lives of a domain's device. */
void socket_left(struct domain *domain);

/* After door_close(): nobody writes to the door any more when this returns; nothing of any life is touched.
 */
void sockets_forget_broker(void);

#ifdef __cplusplus
}
#endif

#endif
