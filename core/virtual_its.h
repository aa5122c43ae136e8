/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The interrupt translation service that a guest sees: what its commands change. Policy without hardware;
 * hypervisor/vgic/vgic_its.c calls it with commands that it has copied from the guest's queue, and with
 * events of the domain's functions.
 *
 * A device is identified by its device id, and a message of it by an event id. The guest maps each event to a
 * message interrupt (LPI) and to a collection, and each collection to a VCPU (Arm IHI 0069, chapter 5). The
 * tables that the guest provides memory for are not used: devices, collections and LPIs are as few as the
 * limits below, and their state is kept here. So everything is bounded: a command takes at most as many steps
 * as there are devices, or LPIs.
 *
 * A guest can also map a few device ids that no function of its domain has. Only its own commands raise their
 * events.
 */
#ifndef BULKHEAD_CORE_VIRTUAL_ITS_H
#define BULKHEAD_CORE_VIRTUAL_ITS_H

#include <bulkhead_layout.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIRTUAL_ITS_EVENT_BITS    16u
#define VIRTUAL_ITS_DEVICE_BITS   8u /* functions of bus 0 */
#define VIRTUAL_ITS_SPARE_DEVICES 4u /* device ids without a function */
#define VIRTUAL_ITS_DEVICES       (BH_MAX_FUNCTIONS + VIRTUAL_ITS_SPARE_DEVICES)
#define VIRTUAL_ITS_COLLECTIONS   16u
#define VIRTUAL_ITS_COMMAND_BYTES 32u
#define VIRTUAL_ITS_COMMAND_WORDS (VIRTUAL_ITS_COMMAND_BYTES / 8)
#define VIRTUAL_ITS_NONE          0xFFu

struct virtual_its_device {
    uint32_t id;     /* device id; of a spare device while it is mapped */
    uint32_t events; /* that the guest has made room for; 0: the device is not mapped */
};

/* An LPI, whose index is INTID - BH_FIRST_LPI. The architecture leaves open what happens if two events have
 * the same LPI; here the LPI has the one that was mapped last. */
struct virtual_its_lpi {
    uint32_t event;
    uint8_t device; /* index of the device whose event it is, or VIRTUAL_ITS_NONE: no event has it */
    uint8_t collection;
};

struct virtual_its {
    uint32_t vcpu_count;
    uint32_t device_count; /* functions of the domain; the spare devices follow */
    struct virtual_its_device devices[VIRTUAL_ITS_DEVICES];
    struct virtual_its_lpi lpis[BH_GUEST_LPIS];
    uint8_t vcpu[VIRTUAL_ITS_COLLECTIONS]; /* of each collection, or VIRTUAL_ITS_NONE */
};

/* What a command changes; bit n is LPI n. In this order: */
struct virtual_its_change {
    uint64_t cleared;    /* they are not pending any more */
    uint64_t configured; /* their priority and enable bit must be read again from the guest's table */
    uint64_t routed;     /* they may have another VCPU, or none */
    uint64_t pended;     /* they are pending */
};

/* The state after a reset. Vcpu_count, device_count and the ids of the devices are kept. */
void virtual_its_reset(struct virtual_its *its);

/* Executes a command. A command that is wrong in any way changes nothing: neither the state nor an
 * interrupt. */
struct virtual_its_change virtual_its_execute(struct virtual_its *its,
                                              const uint64_t command[VIRTUAL_ITS_COMMAND_WORDS]);

/* The LPI of an event of a function, or VIRTUAL_ITS_NONE: the guest has not mapped the device, the event, or
 * the event's collection. */
uint32_t virtual_its_translate(const struct virtual_its *its, uint32_t device_id, uint32_t event);

/* The VCPU of an LPI (below BH_GUEST_LPIS), or VIRTUAL_ITS_NONE. */
uint32_t virtual_its_vcpu(const struct virtual_its *its, uint32_t lpi);

#ifdef __cplusplus
}
#endif

#endif
