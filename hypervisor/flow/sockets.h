/* SPDX-License-Identifier: Apache-2.0
 *
 * EL2's part of the socket devices of all domains (F8): registers, interrupt lines, and resets. Each reset
 * begins a new 'life' of the device. The device's broker handles the contents of the queues.
 */
#ifndef BULKHEAD_SOCKETS_H
#define BULKHEAD_SOCKETS_H

#include "core/broker_door.h"
#include "core/segment_map.h"
#include "core/spinlock.h"
#include "core/virtio_pci.h"
#include "vm/domain.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type that core/ uses for a guest's memory: the part that the domain's device reaches. */
struct guest_memory {
    const struct domain *domain;
    struct segment_map map;
};

struct socket_device {
    struct spinlock lock; /* protects this structure and the device's part of the door */
    struct guest_memory memory;
    uint32_t broker;              /* number of the broker that serves the device */
    bool on_root;                 /* a function of a virtual PCI root, not behind the MMIO transport */
    struct virtio_mmio mmio;      /* registers with either transport */
    uint32_t life;                /* number of resets */
    uint32_t begun[VSOCK_QUEUES]; /* how often each queue was made ready */
    bool leaving;                 /* a reset has begun: `life` already counts the next life */
    bool awaited;                 /* a VCPU waits until the broker has left the previous life */
    struct virtio_pci pci;        /* configuration space, if `on_root` */
};

/* The domain's socket device; NULL if it has none. */
struct socket_device *socket_of(const struct domain *domain);

/* Tells a broker that has just opened its door about all devices that it serves. `broker`: its number. Called
 * on the broker's core. */
void sockets_tell_all(uint32_t broker);

/* Notify the device's driver: of used buffers, or that the device has failed. Called on the broker's core. */
void socket_interrupt(const struct domain *domain);
void socket_fail(const struct domain *domain);

/* The broker reports that it no longer accesses memory of earlier lives of the domain's device. */
void socket_left(struct domain *domain);

/* Called after door_close(): waits until no core writes to the door any more. The devices' lives do not
 * change. */
void sockets_forget_broker(uint32_t broker);

#ifdef __cplusplus
}
#endif

#endif
