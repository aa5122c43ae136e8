/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Command interface of NOR flash, as firmware for the emulator's `virt` board uses it: two 16-bit chips side
 * by side, so that a word has 32 bits and a command is written to both halves. It implements Intel's command
 * set (vendor number 1 in JEDEC JEP137) and the table that a driver reads to detect it (Common Flash
 * Interface, JESD68). Blocks cannot be locked: lock commands are accepted and change nothing. An erased bit
 * is 1, programming makes it 0. Independent of hardware: the caller is told how to change the content, in
 * pieces of bounded size.
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
    NOR_FLASH_ARRAY, /* reads return the content */
    NOR_FLASH_STATUS,
    NOR_FLASH_ID,
    NOR_FLASH_QUERY,
};

/* State of the flash. After power-on everything but `bytes` is 0. */
struct nor_flash {
    uint32_t bytes; /* a power of two, at least a block */
    uint8_t mode;   /* enum nor_flash_mode */
    uint8_t next;   /* expected next write: enum next_write of nor_flash.c */
    uint8_t errors; /* bits of the status register */
    uint8_t words;  /* words of a buffered write that are still to come */
    uint32_t erase_at;
    uint32_t erase_end; /* == erase_at: no block is being erased */
};

enum nor_flash_change {
    NOR_FLASH_NOTHING,
    NOR_FLASH_CLEAR_BITS, /* clear the bits that are 0 in `value` */
    NOR_FLASH_ERASE,      /* set all bits to 1 */
};

/* A change that the caller has to make to the content at [offset, offset + bytes), which lies inside the
 * flash. */
struct nor_flash_work {
    enum nor_flash_change change;
    uint32_t offset;
    uint32_t bytes;
    uint64_t value;
};

/* A guest's write of 1, 2, 4 or 8 bytes at `offset`, a multiple of `bytes` inside the flash. Changes nothing
 * while a block is being erased. */
struct nor_flash_work nor_flash_write(struct nor_flash *flash, uint32_t offset, uint32_t bytes,
                                      uint64_t value);

/* The value that a read returns; must not be called in mode NOR_FLASH_ARRAY. Offset and bytes as for a
 * write. */
uint64_t nor_flash_read(const struct nor_flash *flash, uint32_t offset, uint32_t bytes);

/* The next piece of the block that is being erased; the block may be done after it. NOR_FLASH_NOTHING if
 * no block is being erased. Only this call advances an erase: call it before each access while the chip is
 * busy. */
struct nor_flash_work nor_flash_go_on(struct nor_flash *flash);

#ifdef __cplusplus
}
#endif

#endif
