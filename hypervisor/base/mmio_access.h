/* SPDX-License-Identifier: Apache-2.0
 *
 * A trapped device access of a guest, as it is passed to emulated devices. The trap handler has decoded and
 * checked it.
 */
#ifndef BULKHEAD_MMIO_ACCESS_H
#define BULKHEAD_MMIO_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct mmio_access {
    uint64_t offset; /* offset from the start of the device's window */
    uint64_t value;  /* value to write, or the result of a read; bits above `bytes` are 0 */
    uint32_t bytes;  /* 1, 2, 4 or 8; `offset` is a multiple of it */
    bool write;
    bool again; /* the device cannot finish now: the guest must execute the instruction again */
};

#endif
