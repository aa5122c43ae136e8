/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Commands of an ITS. Numbers and fields are from Arm IHI 0069, chapter 5.3.
 */
#include "core/virtual_its.h"
#include <string.h>

enum {
    COMMAND_MOVI = 0x01,
    COMMAND_INT = 0x03,
    COMMAND_CLEAR = 0x04,
    COMMAND_MAPD = 0x08,
    COMMAND_MAPC = 0x09,
    COMMAND_MAPTI = 0x0A,
    COMMAND_MAPI = 0x0B,
    COMMAND_INV = 0x0C,
    COMMAND_INVALL = 0x0D,
    COMMAND_DISCARD = 0x0F,
};

/* MOVALL and SYNC change nothing: a pending LPI follows its collection, and each command is complete before
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
    for (uint32_t i = 0; i < VIRTUAL_ITS_DEVICES; i++) {
        its->devices[i].events = 0;
    }
    memset(its->lpis, VIRTUAL_ITS_NONE, sizeof its->lpis);
    memset(its->vcpu, VIRTUAL_ITS_NONE, sizeof its->vcpu);
}

/* The index of the function, or of the spare device that the guest has mapped with this id; VIRTUAL_ITS_NONE:
 * there is none. */
static uint32_t device_of(const struct virtual_its *its, uint32_t device_id)
{
    for (uint32_t i = 0; i < its->device_count + VIRTUAL_ITS_SPARE_DEVICES; i++) {
        const struct virtual_its_device *device = &its->devices[i];
        bool is_function = i < its->device_count;

        if (device->id == device_id && (is_function || device->events != 0)) {
            return i;
        }
    }
    return VIRTUAL_ITS_NONE;
}

/* The index of a spare device that is not mapped; VIRTUAL_ITS_NONE: the guest has mapped all of them. */
static uint32_t free_device(const struct virtual_its *its)
{
    for (uint32_t i = its->device_count; i < its->device_count + VIRTUAL_ITS_SPARE_DEVICES; i++) {
        if (its->devices[i].events == 0) {
            return i;
        }
    }
    return VIRTUAL_ITS_NONE;
}

/* The LPI of an event of a device; VIRTUAL_ITS_NONE: it has none. */
static uint32_t lpi_of(const struct virtual_its *its, uint32_t device, uint32_t event)
{
    for (uint32_t lpi = 0; lpi < BH_GUEST_LPIS && device != VIRTUAL_ITS_NONE; lpi++) {
        if (its->lpis[lpi].device == device && its->lpis[lpi].event == event) {
            return lpi;
        }
    }
    return VIRTUAL_ITS_NONE;
}

/* The LPI that a command names by device and event; VIRTUAL_ITS_NONE: there is no such mapping. */
static uint32_t named_lpi(const struct virtual_its *its, const uint64_t *command)
{
    return lpi_of(its, device_of(its, DEVICE(command[0])), EVENT(command[1]));
}

/* Ends the mapping of an LPI, if it has one. */
static uint64_t unmap(struct virtual_its *its, uint32_t lpi)
{
    if (lpi == VIRTUAL_ITS_NONE) {
        return 0;
    }
    its->lpis[lpi].device = VIRTUAL_ITS_NONE;
    its->lpis[lpi].collection = VIRTUAL_ITS_NONE;
    return bit_of(lpi);
}

/* A new table of events is empty. */
static struct virtual_its_change map_device(struct virtual_its *its, const uint64_t *command)
{
    uint32_t device = device_of(its, DEVICE(command[0]));
    bool valid = (command[2] & VALID) != 0;
    uint32_t bits = SIZE(command[1]) + 1;
    uint64_t unmapped = 0;

    if (valid && (bits > VIRTUAL_ITS_EVENT_BITS || DEVICE(command[0]) >> VIRTUAL_ITS_DEVICE_BITS != 0)) {
        return nothing;
    }
    if (device == VIRTUAL_ITS_NONE && valid) {
        device = free_device(its);
    }
    if (device == VIRTUAL_ITS_NONE) {
        return nothing;
    }
    for (uint32_t lpi = 0; lpi < BH_GUEST_LPIS; lpi++) {
        unmapped |= its->lpis[lpi].device == device ? unmap(its, lpi) : 0;
    }
    its->devices[device].id = DEVICE(command[0]);
    its->devices[device].events = valid ? 1u << bits : 0;
    return (struct virtual_its_change){.cleared = unmapped, .routed = unmapped};
}

static uint64_t lpis_in(const struct virtual_its *its, uint32_t collection)
{
    uint64_t lpis = 0;

    for (uint32_t lpi = 0; lpi < BH_GUEST_LPIS && collection < VIRTUAL_ITS_COLLECTIONS; lpi++) {
        lpis |= its->lpis[lpi].collection == collection ? bit_of(lpi) : 0;
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

static struct virtual_its_change map_event(struct virtual_its *its, const uint64_t *command, uint32_t intid)
{
    uint32_t device = device_of(its, DEVICE(command[0]));
    uint32_t event = EVENT(command[1]);
    uint32_t lpi = intid - BH_FIRST_LPI;
    uint32_t collection = COLLECTION(command[2]);
    uint64_t unmapped;

    if (device == VIRTUAL_ITS_NONE || event >= its->devices[device].events || lpi >= BH_GUEST_LPIS ||
        collection >= VIRTUAL_ITS_COLLECTIONS) {
        return nothing;
    }
    unmapped = unmap(its, lpi_of(its, device, event));
    its->lpis[lpi] = (struct virtual_its_lpi){
        .event = event, .device = (uint8_t)device, .collection = (uint8_t)collection};
    return (struct virtual_its_change){
        .cleared = unmapped, .configured = bit_of(lpi), .routed = unmapped | bit_of(lpi)};
}

static struct virtual_its_change discard(struct virtual_its *its, const uint64_t *command)
{
    uint64_t unmapped = unmap(its, named_lpi(its, command));

    return (struct virtual_its_change){.cleared = unmapped, .routed = unmapped};
}

static struct virtual_its_change move(struct virtual_its *its, const uint64_t *command)
{
    uint32_t lpi = named_lpi(its, command);
    uint32_t collection = COLLECTION(command[2]);

    if (lpi == VIRTUAL_ITS_NONE || collection >= VIRTUAL_ITS_COLLECTIONS) {
        return nothing;
    }
    its->lpis[lpi].collection = (uint8_t)collection;
    return (struct virtual_its_change){.configured = bit_of(lpi), .routed = bit_of(lpi)};
}

/* INV, INT or CLEAR. */
static struct virtual_its_change change_lpi(const struct virtual_its *its, const uint64_t *command)
{
    uint32_t lpi = named_lpi(its, command);

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

struct virtual_its_change virtual_its_execute(struct virtual_its *its,
                                              const uint64_t command[VIRTUAL_ITS_COMMAND_WORDS])
{
    switch (OPCODE(command[0])) {
    case COMMAND_MAPD:
        return map_device(its, command);
    case COMMAND_MAPC:
        return map_collection(its, command);
    case COMMAND_MAPTI:
        return map_event(its, command, INTID(command[1]));
    case COMMAND_MAPI: /* the INTID is the event's number */
        return map_event(its, command, EVENT(command[1]));
    case COMMAND_MOVI:
        return move(its, command);
    case COMMAND_DISCARD:
        return discard(its, command);
    case COMMAND_INVALL:
        return (struct virtual_its_change){.configured = lpis_in(its, COLLECTION(command[2]))};
    case COMMAND_INV:
    case COMMAND_INT:
    case COMMAND_CLEAR:
        return change_lpi(its, command);
    default:
        return nothing;
    }
}

uint32_t virtual_its_vcpu(const struct virtual_its *its, uint32_t lpi)
{
    uint32_t collection = its->lpis[lpi].collection;

    return collection == VIRTUAL_ITS_NONE ? VIRTUAL_ITS_NONE : its->vcpu[collection];
}

uint32_t virtual_its_translate(const struct virtual_its *its, uint32_t device_id, uint32_t event)
{
    uint32_t device = device_of(its, device_id);
    uint32_t lpi = device < its->device_count ? lpi_of(its, device, event) : VIRTUAL_ITS_NONE;

    return lpi == VIRTUAL_ITS_NONE || virtual_its_vcpu(its, lpi) == VIRTUAL_ITS_NONE ? VIRTUAL_ITS_NONE : lpi;
}
