/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Commands of an ITS. Numbers and fields are from Arm IHI 0069, chapter 5.3.
 */
#include "core/virtual_its.h"
#include <stddef.h>
#include <string.h>

enum {
    COMMAND_MOVI = 0x01,
    COMMAND_INT = 0x03,
    COMMAND_CLEAR = 0x04,
    COMMAND_MAPD = 0x08,
    COMMAND_MAPC = 0x09,
    COMMAND_MAPTI = 0x0A,
    COMMAND_INV = 0x0C,
    COMMAND_INVALL = 0x0D,
    COMMAND_DISCARD = 0x0F,
};

/* MAPI is not in the list: it maps an event to the INTID of the same number, which is never an LPI here.
 * MOVALL and SYNC change nothing: a pending LPI follows its collection, and each command is complete before
 * the next one begins. */

#define VALID            (1ull << 63)
#define OPCODE(word)     ((uint32_t)(word)&0xFFu)
#define DEVICE(word)     ((uint32_t)((word) >> 32))
#define EVENT(word)      ((uint32_t)(word))
#define INTID(word)      ((uint32_t)((word) >> 32))
#define SIZE(word)       ((uint32_t)(word)&0x1Fu) /* bits of event ids, less one */
#define COLLECTION(word) ((uint32_t)(word)&0xFFFFu)
#define VCPU(word)       ((word) >> 16 & 0x7FFFFFFFFull)

static const struct virtual_its_change nothing;

static uint64_t bit_of(uint32_t lpi)
{
    return 1ull << lpi;
}

void virtual_its_reset(struct virtual_its *its)
{
    for (uint32_t i = 0; i < its->device_count + VIRTUAL_ITS_SPARE_DEVICES; i++) {
        its->devices[i].events = 0;
        memset(its->devices[i].lpi, VIRTUAL_ITS_NONE, sizeof its->devices[i].lpi);
    }
    memset(its->collection, VIRTUAL_ITS_NONE, sizeof its->collection);
    memset(its->vcpu, VIRTUAL_ITS_NONE, sizeof its->vcpu);
}

/* The domain's function, or NULL. */
static const struct virtual_its_device *function_of(const struct virtual_its *its, uint32_t device_id)
{
    for (uint32_t i = 0; i < its->device_count; i++) {
        if (its->devices[i].id == device_id) {
            return &its->devices[i];
        }
    }
    return NULL;
}

/* The function, or the spare device that the guest has mapped with this id, or NULL. */
static struct virtual_its_device *device_of(struct virtual_its *its, uint32_t device_id)
{
    for (uint32_t i = 0; i < its->device_count + VIRTUAL_ITS_SPARE_DEVICES; i++) {
        struct virtual_its_device *device = &its->devices[i];

        if (device->id == device_id && (i < its->device_count || device->events != 0)) {
            return device;
        }
    }
    return NULL;
}

/* A spare device for an id that has none yet; NULL: the guest has mapped all of them. */
static struct virtual_its_device *spare_for(struct virtual_its *its, uint32_t device_id)
{
    for (uint32_t i = its->device_count; i < its->device_count + VIRTUAL_ITS_SPARE_DEVICES; i++) {
        if (its->devices[i].events == 0) {
            its->devices[i].id = device_id;
            return &its->devices[i];
        }
    }
    return NULL;
}

/* The event's place, or NULL: the device is not mapped, or has no such event. */
static uint8_t *event_of(struct virtual_its *its, uint32_t device_id, uint32_t event)
{
    struct virtual_its_device *device = device_of(its, device_id);

    return device != NULL && event < device->events ? &device->lpi[event] : NULL;
}

/* The LPI of a mapped event; VIRTUAL_ITS_NONE: there is no such event. Two events can have the same LPI,
 * which the architecture leaves open; when one of them is discarded, the LPI has no collection any more. */
static uint32_t lpi_of(struct virtual_its *its, const uint64_t *command)
{
    const uint8_t *event = event_of(its, DEVICE(command[0]), EVENT(command[1]));

    return event == NULL || *event == VIRTUAL_ITS_NONE || its->collection[*event] == VIRTUAL_ITS_NONE
               ? VIRTUAL_ITS_NONE
               : *event;
}

/* Ends the mapping of an event. Returns its LPI (bit = index). */
static uint64_t unmap(struct virtual_its *its, uint8_t *event)
{
    uint8_t lpi = *event;

    *event = VIRTUAL_ITS_NONE;
    if (lpi == VIRTUAL_ITS_NONE) {
        return 0;
    }
    its->collection[lpi] = VIRTUAL_ITS_NONE;
    return bit_of(lpi);
}

/* A new table of events is empty. */
static struct virtual_its_change map_device(struct virtual_its *its, const uint64_t *command)
{
    struct virtual_its_device *device = device_of(its, DEVICE(command[0]));
    bool valid = (command[2] & VALID) != 0;
    uint32_t bits = SIZE(command[1]) + 1;
    uint64_t unmapped = 0;

    if (valid && (bits > VIRTUAL_ITS_EVENT_BITS || DEVICE(command[0]) >> VIRTUAL_ITS_DEVICE_BITS != 0)) {
        return nothing;
    }
    if (device == NULL && valid) {
        device = spare_for(its, DEVICE(command[0]));
    }
    if (device == NULL) {
        return nothing;
    }
    for (uint32_t event = 0; event < BH_MAX_MESSAGES; event++) {
        unmapped |= unmap(its, &device->lpi[event]);
    }
    device->events = valid ? 1u << bits : 0;
    return (struct virtual_its_change){.cleared = unmapped, .routed = unmapped};
}

static uint64_t lpis_in(const struct virtual_its *its, uint32_t collection)
{
    uint64_t lpis = 0;

    for (uint32_t lpi = 0; lpi < BH_GUEST_LPIS && collection < VIRTUAL_ITS_COLLECTIONS; lpi++) {
        lpis |= its->collection[lpi] == collection ? bit_of(lpi) : 0;
    }
    return lpis;
}

static struct virtual_its_change map_collection(struct virtual_its *its, const uint64_t *command)
{
    uint32_t collection = COLLECTION(command[2]);
    bool valid = (command[2] & VALID) != 0;
    uint64_t vcpu = VCPU(command[2]);
    uint64_t lpis;

    if (collection >= VIRTUAL_ITS_COLLECTIONS || (valid && vcpu >= its->vcpu_count)) {
        return nothing;
    }
    its->vcpu[collection] = valid ? (uint8_t)vcpu : VIRTUAL_ITS_NONE;
    lpis = lpis_in(its, collection);
    return (struct virtual_its_change){.configured = lpis, .routed = lpis};
}

static struct virtual_its_change map_event(struct virtual_its *its, const uint64_t *command)
{
    uint8_t *event = event_of(its, DEVICE(command[0]), EVENT(command[1]));
    uint32_t lpi = INTID(command[1]) - BH_FIRST_LPI;
    uint32_t collection = COLLECTION(command[2]);
    uint64_t unmapped;

    if (event == NULL || lpi >= BH_GUEST_LPIS || collection >= VIRTUAL_ITS_COLLECTIONS) {
        return nothing;
    }
    unmapped = unmap(its, event);
    *event = (uint8_t)lpi;
    its->collection[lpi] = (uint8_t)collection;
    return (struct virtual_its_change){
        .cleared = unmapped, .configured = bit_of(lpi), .routed = unmapped | bit_of(lpi)};
}

static struct virtual_its_change discard(struct virtual_its *its, const uint64_t *command)
{
    uint8_t *event = event_of(its, DEVICE(command[0]), EVENT(command[1]));
    uint64_t unmapped = event == NULL ? 0 : unmap(its, event);

    return (struct virtual_its_change){.cleared = unmapped, .routed = unmapped};
}

static struct virtual_its_change move(struct virtual_its *its, const uint64_t *command)
{
    uint32_t lpi = lpi_of(its, command);
    uint32_t collection = COLLECTION(command[2]);

    if (lpi == VIRTUAL_ITS_NONE || collection >= VIRTUAL_ITS_COLLECTIONS) {
        return nothing;
    }
    its->collection[lpi] = (uint8_t)collection;
    return (struct virtual_its_change){.configured = bit_of(lpi), .routed = bit_of(lpi)};
}

struct virtual_its_change virtual_its_execute(struct virtual_its *its,
                                              const uint64_t command[VIRTUAL_ITS_COMMAND_WORDS])
{
    uint32_t lpi;

    switch (OPCODE(command[0])) {
    case COMMAND_MAPD:
        return map_device(its, command);
    case COMMAND_MAPC:
        return map_collection(its, command);
    case COMMAND_MAPTI:
        return map_event(its, command);
    case COMMAND_MOVI:
        return move(its, command);
    case COMMAND_DISCARD:
        return discard(its, command);
    case COMMAND_INVALL:
        return (struct virtual_its_change){.configured = lpis_in(its, COLLECTION(command[2]))};
    case COMMAND_INV:
    case COMMAND_INT:
    case COMMAND_CLEAR:
        lpi = lpi_of(its, command);
        break;
    default:
        return nothing;
    }
    if (lpi == VIRTUAL_ITS_NONE) {
        return nothing;
    }
    switch (OPCODE(command[0])) {
    case COMMAND_INV:
        return (struct virtual_its_change){.configured = bit_of(lpi)};
    case COMMAND_INT:
        return (struct virtual_its_change){
            .pended = virtual_its_vcpu(its, lpi) != VIRTUAL_ITS_NONE ? bit_of(lpi) : 0};
    default:
        return (struct virtual_its_change){.cleared = bit_of(lpi)};
    }
}

uint32_t virtual_its_vcpu(const struct virtual_its *its, uint32_t lpi)
{
    uint32_t collection = its->collection[lpi];

    return collection == VIRTUAL_ITS_NONE ? VIRTUAL_ITS_NONE : its->vcpu[collection];
}

uint32_t virtual_its_translate(const struct virtual_its *its, uint32_t device_id, uint32_t event)
{
    const struct virtual_its_device *function = function_of(its, device_id);
    uint32_t lpi = function != NULL && event < function->events ? function->lpi[event] : VIRTUAL_ITS_NONE;

    return lpi == VIRTUAL_ITS_NONE || virtual_its_vcpu(its, lpi) == VIRTUAL_ITS_NONE ? VIRTUAL_ITS_NONE : lpi;
}
