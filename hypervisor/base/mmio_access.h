/* SPDX-License-Identifier: Apache-2.0
 *
 * One trapped device access of a guest, decoded and checked by the trap handler, as the emulated devices see
 * it.
 */
#ifndef BULKHEAD_MMIO_ACCESS_H
#define BULKHEAD_MMIO_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct mmio_access {
    uint64_t offset; /* from the start of the device's window */
    uint64_t value;  /* to be written, or the result; no bits above `bytes` */
    uint32_t bytes;  /* 1, 2, 4 or 8; `offset` is aligned to it */
    bool write;
    bool again; /* the device cannot finish now: the guest is to execute the instruction again */
};

#endif
