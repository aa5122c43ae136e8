/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Commands of NOR flash, as firmware for the emulator's `virt` board gives them: two chips of 16 bits side by
 * side, so a word has 32 bits, and a command is written to both halves. Intel's command set (the vendor's
 * number 1 in JEDEC JEP137), with the table by which a driver finds that out (Common Flash Interface,
 * JESD68). Blocks cannot be locked: commands for that are taken and change nothing. An erased bit is 1,
 * programming makes it 0. Hardware-free: what is to be done to the content is told to the caller, in pieces
 * of bounded size.
 */
#ifndef BULKHEAD_CORE_NOR_FLASH_H
#define BULKHEAD_CORE_NOR_FLASH_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NOR_FLASH_BLOCK_BYTES 0x40000u /* erased at once */
#define NOR_FLASH_MOST_BYTES  0x4000000u
#define NOR_FLASH_PIECE_BYTES 0x400u /* erased in one step */

enum nor_flash_mode {
    NOR_FLASH_ARRAY, /* reads find the content */
    NOR_FLASH_STATUS,
    NOR_FLASH_ID,
    NOR_FLASH_QUERY,
};

/* Zeros, but for its size, after power-on. */
struct nor_flash {
    uint32_t bytes; /* a power of two, at least a block */
    uint8_t mode;   /* enum nor_flash_mode */
    uint8_t next;   /* what the next write is: enum next_write of nor_flash.c */
    uint8_t errors; /* bits of the status register */
    uint8_t words;  /* of a buffer, that are still to come */
    uint32_t erase_at;
    uint32_t erase_end; /* == erase_at: no block is being erased */
};

enum nor_flash_change {
    NOR_FLASH_NOTHING,
    NOR_FLASH_CLEAR_BITS, /* those that are 0 in `value` */
    NOR_FLASH_ERASE,      /* all bits are 1 */
};

/* What the caller has to do to the content at [offset, offset + bytes), which is inside of the flash. */
struct nor_flash_work {
    enum nor_flash_change change;
    uint32_t offset;
    uint32_t bytes;
    uint64_t value;
};

/* A write of 1, 2, 4 or 8 bytes at `offset`, a multiple of its size inside of the flash. While a block is
 * being erased it changes nothing. */
struct nor_flash_work nor_flash_write(struct nor_flash *flash, uint32_t offset, uint32_t bytes,
                                      uint64_t value);

/* What a read finds, which must not be in mode `array`. Offset and bytes as of a write. */
uint64_t nor_flash_read(const struct nor_flash *flash, uint32_t offset, uint32_t bytes);

/* The next piece of the block that is being erased, after which the block may be done; NOTHING if none is.
 * The chip goes on by this alone: to be called before each access while it is busy. */
struct nor_flash_work nor_flash_go_on(struct nor_flash *flash);

#ifdef __cplusplus
}
#endif

#endif
