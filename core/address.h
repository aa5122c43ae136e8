/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Address types. Physical and intermediate-physical (guest-physical) addresses are different struct types so
 * that the compiler refuses to mix them; virtual addresses are plain C pointers. Used by everything.
 */
#ifndef BULKHEAD_CORE_ADDRESS_H
#define BULKHEAD_CORE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A physical address, as the core puts it on the bus. */
typedef struct {
    uint64_t value;
} paddr_t;

/* An intermediate physical address: the address that a guest takes for physical, and the input of stage-2
 * translation. */
typedef struct {
    uint64_t value;
} ipaddr_t;

static inline paddr_t paddr(uint64_t value)
{
    paddr_t address = {value};

    return address;
}

static inline ipaddr_t ipaddr(uint64_t value)
{
    ipaddr_t address = {value};

    return address;
}

/* True if [start, start + bytes) does not wrap and lies in [outer, outer + outer_bytes). */
/*@ assigns \nothing;
    ensures outer + outer_bytes <= UINT64_MAX ==>
        (\result <==> outer <= start && start + bytes <= outer + outer_bytes); */
static inline bool range_within(uint64_t start, uint64_t bytes, uint64_t outer, uint64_t outer_bytes)
{
    return start >= outer && bytes <= outer_bytes && start - outer <= outer_bytes - bytes;
}

#ifdef __cplusplus
}
#endif

#endif
