/* SPDX-License-Identifier: Apache-2.0
 *
 * The hypervisor's image as the linker script lays it out, and the package descriptor that the package
 * builder writes into its first page. All bounds are page-aligned.
 */
#ifndef BULKHEAD_IMAGE_H
#define BULKHEAD_IMAGE_H

#include <bulkhead_layout.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern char image_start[];
extern char image_text_end[];   /* end of the code */
extern char image_rodata_end[]; /* end of the constants */
extern char image_variables[];  /* start of the data that is zero at the start: bss, status pages */
extern char image_end[];        /* end of that data and of the stacks */
/* 1 + BH_MAX_CORES pages. The alignment must be declared: otherwise the compiler stores their words byte by
 * byte, and the observer does not see the store that starts its count. */
extern char status_pages[] __attribute__((aligned(4096)));
extern char cpu_stacks[]; /* a guard page and a stack for each of BH_MAX_CORES cores */

/* The first bytes of the image: a Linux arm64 Image header (Documentation/arch/arm64/booting.rst), followed
 * by the descriptor that the package builder fills in. Must match arch/aarch64/entry.S. */
struct image_header {
    uint32_t code[2];
    uint64_t text_offset;
    uint64_t image_bytes;
    uint64_t flags;
    uint64_t reserved[3];
    uint32_t magic;
    uint32_t reserved_pe;
    struct package_descriptor package;
};

_Static_assert(offsetof(struct image_header, package) == BH_PACKAGE_DESCRIPTOR_OFFSET,
               "the descriptor follows the Image header");

/* Virtual address of frame 0 of the pool, where the image starts; the image is linked to this address. It is
 * above all device registers, which are mapped at their physical addresses (`regions` of
 * schema/manifest.yaml). Must match the linker script. */
#define POOL_VA 0x4000000000ull
_Static_assert(BH_MAPPED_LIMIT <= POOL_VA, "device registers lie below the pool");

#ifdef __cplusplus
}
#endif

#endif
