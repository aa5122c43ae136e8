/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Regions of an Armv7-M MPU (DDI 0403E, B3.5): register values, and the regions that cover a range exactly. A
 * region is 2^n bytes, 5 <= n <= 32, at a multiple of its size; from 256 bytes on it has eight sub-regions,
 * which can be switched off one by one. Pure functions; the memory manager and the tool call them.
 */
#ifndef BULKHEAD_CORE_MXU_MPU_H
#define BULKHEAD_CORE_MXU_MPU_H

#include "core/mxu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MXU_MPU_MIN_BITS        5u
#define MXU_MPU_SUBREGIONS      8u
#define MXU_MPU_SUBREGIONS_BITS 8u /* log2 of the smallest region that has sub-regions */

/* Fields of MPU_RBAR and MPU_RASR. */
#define MXU_RBAR_VALID      (1u << 4)
#define MXU_RASR_ENABLE     1u
#define MXU_RASR_SIZE_SHIFT 1u /* n - 1 */
#define MXU_RASR_SRD_SHIFT  8u
#define MXU_RASR_B          (1u << 16)
#define MXU_RASR_C          (1u << 17)
#define MXU_RASR_S          (1u << 18)
#define MXU_RASR_TEX_SHIFT  19u
#define MXU_RASR_AP_SHIFT   24u
#define MXU_RASR_XN         (1u << 28)

/* Rights of a component; the kernel may read and write in any case. */
enum mxu_rights {
    MXU_READ = 1,
    MXU_WRITE = 2,   /* only together with MXU_READ */
    MXU_EXECUTE = 4, /* only together with MXU_READ */
};

enum mxu_memory_type {
    MXU_MEMORY_NORMAL, /* write back, allocates on reads and writes */
    MXU_MEMORY_UNCACHED,
    MXU_MEMORY_DEVICE, /* shared */
};

/* A region: the addresses that it covers, and its register values. */
struct mxu_region {
    uint32_t first;
    uint32_t last;
    uint32_t rbar; /* with VALID set, without the slot's number */
    uint32_t rasr;
};

/* Computes the attributes in MPU_RASR; returns false if the rights cannot be expressed. */
bool mxu_mpu_attributes(uint32_t rights, enum mxu_memory_type type, uint32_t *rasr);

/* The longest region that begins at `first`, ends at or before `last`, and has a size of at most 2^most_bits
 * bytes. first and last + 1 are multiples of 32. */
struct mxu_region mxu_mpu_region_from(uint32_t first, uint32_t last, uint32_t most_bits, uint32_t attributes);

/* Covers [first, last], and nothing more, with the fewest regions, in the order of addresses; none is larger
 * than 2^most_bits bytes. Writes the first `room` of them and returns how many there are; 0 if the range does
 * not consist of whole granules. Taking the longest region from the left gives the fewest, because each end
 * that a region can have from a lower first address is also reached, or already passed, from a higher one
 * (tested against all covers). */
uint32_t mxu_mpu_cover(uint32_t first, uint32_t last, uint32_t most_bits, uint32_t attributes,
                       struct mxu_region *regions, uint32_t room);

/* How to place `bytes` so that one region covers them: the rounded size in bytes, and as powers of two the
 * alignment and the block whose boundaries the range must not cross. Returns false if it is larger than the
 * address space. */
bool mxu_mpu_fit(uint32_t bytes, uint32_t *rounded, uint32_t *align_bits, uint32_t *block_bits);

/* Whether a region with these register values covers an access to [address, address + bytes). For tests and
 * models. */
bool mxu_mpu_covers(uint32_t rbar, uint32_t rasr, uint32_t address, uint32_t bytes);

#ifdef __cplusplus
}
#endif

#endif
