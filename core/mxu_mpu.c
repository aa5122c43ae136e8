/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Register values of Armv7-M regions. Addresses are computed in 64 bits, in which the size of the whole
 * address space can be expressed.
 */
#include "core/mxu_mpu.h"

#define ADDRESS_BITS   32u
#define EIGHTH_BITS    3u
#define AP_USER_READS  2u /* and the kernel reads and writes */
#define AP_USER_WRITES 3u

bool mxu_mpu_attributes(uint32_t rights, enum mxu_memory_type type, uint32_t *rasr)
{
    uint32_t value = (rights & MXU_WRITE) != 0 ? AP_USER_WRITES : AP_USER_READS;

    if ((rights & MXU_READ) == 0 || rights > (MXU_READ | MXU_WRITE | MXU_EXECUTE) ||
        (type == MXU_MEMORY_DEVICE && (rights & MXU_EXECUTE) != 0)) {
        return false;
    }
    value <<= MXU_RASR_AP_SHIFT;
    value |= (rights & MXU_EXECUTE) != 0 ? 0 : MXU_RASR_XN;
    switch (type) {
    case MXU_MEMORY_NORMAL:
        value |= 1u << MXU_RASR_TEX_SHIFT | MXU_RASR_C | MXU_RASR_B;
        break;
    case MXU_MEMORY_UNCACHED:
        value |= 1u << MXU_RASR_TEX_SHIFT;
        break;
    case MXU_MEMORY_DEVICE:
        value |= MXU_RASR_B | MXU_RASR_S;
        break;
    default:
        return false;
    }
    *rasr = value;
    return true;
}

/* End of the longest region of 2^bits bytes (or of its sub-regions) that begins at `first` and does not pass
 * `end`; `first` if no such region can begin there. */
static uint64_t reach(uint64_t first, uint64_t end, uint32_t bits)
{
    uint64_t block = UINT64_C(1) << bits;
    uint64_t part = bits < MXU_MPU_SUBREGIONS_BITS ? block : block >> EIGHTH_BITS;
    uint64_t limit = (first & ~(block - 1u)) + block;

    if (first % part != 0) {
        return first;
    }
    limit = limit < end ? limit : end;
    return first + ((limit - first) & ~(part - 1u));
}

struct mxu_region mxu_mpu_region_from(uint32_t first, uint32_t last, uint32_t most_bits, uint32_t attributes)
{
    uint64_t best = first;
    uint32_t bits = MXU_MPU_MIN_BITS;
    uint32_t disabled = 0;

    /* bound: 28 */
    for (uint32_t n = MXU_MPU_MIN_BITS; n <= most_bits && n <= ADDRESS_BITS; n++) {
        uint64_t end = reach(first, (uint64_t)last + 1u, n);

        if (end > best) {
            best = end;
            bits = n;
        }
    }
    if (bits >= MXU_MPU_SUBREGIONS_BITS) {
        uint64_t base = first & ~((UINT64_C(1) << bits) - 1u);
        uint32_t from = (uint32_t)((first - base) >> (bits - EIGHTH_BITS));
        uint32_t to = (uint32_t)((best - base) >> (bits - EIGHTH_BITS));

        disabled = 0xFFu & ~((1u << to) - (1u << from));
    }
    return (struct mxu_region){
        .first = first,
        .last = (uint32_t)(best - 1u),
        .rbar = (first & ~(uint32_t)((UINT64_C(1) << bits) - 1u)) | MXU_RBAR_VALID,
        .rasr = attributes | disabled << MXU_RASR_SRD_SHIFT | (bits - 1u) << MXU_RASR_SIZE_SHIFT |
                MXU_RASR_ENABLE,
    };
}

uint32_t mxu_mpu_cover(uint32_t first, uint32_t last, uint32_t most_bits, uint32_t attributes,
                       struct mxu_region *regions, uint32_t room)
{
    uint32_t count = 0;
    uint64_t at = first;

    if (first > last || first % (1u << MXU_MPU_MIN_BITS) != 0 ||
        (last + 1u) % (1u << MXU_MPU_MIN_BITS) != 0 || most_bits < MXU_MPU_MIN_BITS) {
        return 0;
    }
    while (at <= last) {
        struct mxu_region region = mxu_mpu_region_from((uint32_t)at, last, most_bits, attributes);

        if (count < room) {
            regions[count] = region;
        }
        count++;
        at = (uint64_t)region.last + 1u;
    }
    return count;
}

bool mxu_mpu_fit(uint32_t bytes, uint32_t *rounded, uint32_t *align_bits, uint32_t *block_bits)
{
    uint32_t bits =
        MXU_MPU_SUBREGIONS_BITS; /* smaller regions cover nothing that the sub-regions of this size do not */
    uint32_t part;
    uint64_t size;

    while (UINT64_C(1) << bits < bytes) {
        bits++;
    }
    part = bits - EIGHTH_BITS;
    size = (bytes + (UINT64_C(1) << part) - 1u) >> part << part;
    if (bytes == 0 || size > UINT32_MAX) {
        return false;
    }
    *rounded = (uint32_t)size;
    *align_bits = part;
    *block_bits = bits;
    return true;
}

bool mxu_mpu_covers(uint32_t rbar, uint32_t rasr, uint32_t address, uint32_t bytes)
{
    uint32_t bits = (rasr >> MXU_RASR_SIZE_SHIFT & 31u) + 1u;
    uint64_t base = rbar & ~((UINT64_C(1) << bits) - 1u);
    uint64_t end = (uint64_t)address + bytes;

    if ((rasr & MXU_RASR_ENABLE) == 0 || bits < MXU_MPU_MIN_BITS || address < base ||
        end > base + (UINT64_C(1) << bits)) {
        return false;
    }
    if (bits >= MXU_MPU_SUBREGIONS_BITS && bytes > 0) {
        uint32_t from = (uint32_t)((address - base) >> (bits - EIGHTH_BITS));
        uint32_t to = (uint32_t)((end - 1u - base) >> (bits - EIGHTH_BITS));

        return (rasr >> MXU_RASR_SRD_SHIFT & 0xFFu & ((2u << to) - (1u << from))) == 0;
    }
    return true;
}
