// SPDX-License-Identifier: Apache-2.0
//
// The emulator's device `edu`, a PCI function that copies between its buffer and memory (QEMU
// docs/specs/edu). It takes 100 ms for each transfer, and reports no error. `registers`: the address of its
// BAR.
#ifndef BULKHEAD_GUESTS_EDU_H
#define BULKHEAD_GUESTS_EDU_H

#include <arch/mmio.h>
#include <arch/sysreg.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    edu_id = 0x11E81234,
    edu_source = 0x80,
    edu_destination = 0x88,
    edu_count = 0x90,
    edu_command = 0x98,
    edu_buffer = 0x40000, // as the device's own accesses name it
    edu_buffer_bytes = 4096,
    edu_start = 1,
    edu_to_memory = 2,
};

// Whether a transfer is under way, also one that an earlier life of the domain has begun.
static inline bool edu_is_busy(uint64_t registers)
{
    return (mmio_read32(registers + edu_command) & edu_start) != 0;
}

static inline void edu_transfer(uint64_t registers, uint64_t from, uint64_t to, uint32_t bytes,
                                uint32_t direction)
{
    cpu_sync_memory();                          // the source must be in memory
    mmio_write64(registers + edu_source, from); // it ignores an upper half that is written alone
    mmio_write64(registers + edu_destination, to);
    mmio_write32(registers + edu_count, bytes);
    mmio_write32(registers + edu_command, edu_start | direction);
}

// Begins to read memory into the buffer, or to write the buffer to memory; no transfer is under way.
static inline void edu_read(uint64_t registers, uint64_t from, uint32_t bytes)
{
    edu_transfer(registers, from, edu_buffer, bytes, 0);
}

static inline void edu_write(uint64_t registers, uint64_t to, uint32_t bytes)
{
    edu_transfer(registers, edu_buffer, to, bytes, edu_to_memory);
}

#endif
