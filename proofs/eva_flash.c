/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry point for Frama-C's EVA over core/nor_flash.c: a flash in any state that accesses can leave it in,
 * and any access inside of it.
 */
#include "core/nor_flash.h"
#include "frama_c.h"

static uint32_t any_bytes_of_access(void)
{
    return 1u << any_u32_between(0, 3);
}

static struct nor_flash any_flash(uint32_t bytes)
{
    uint32_t block = any_u32_between(0, bytes / NOR_FLASH_BLOCK_BYTES - 1) * NOR_FLASH_BLOCK_BYTES;
    uint32_t pieces = any_u32_between(0, NOR_FLASH_BLOCK_BYTES / NOR_FLASH_PIECE_BYTES);

    return (struct nor_flash){
        .bytes = bytes,
        .mode = (uint8_t)any_u32_between(NOR_FLASH_ARRAY, NOR_FLASH_QUERY),
        .next = (uint8_t)any_u64(),
        .errors = (uint8_t)any_u64(),
        .words = (uint8_t)any_u64(),
        .erase_at = block + pieces * NOR_FLASH_PIECE_BYTES,
        .erase_end = block + NOR_FLASH_BLOCK_BYTES,
    };
}

void prove_nor_flash(void)
{
    uint32_t size = NOR_FLASH_BLOCK_BYTES << any_u32_between(0, 8);
    struct nor_flash flash = any_flash(size);
    uint32_t bytes = any_bytes_of_access();
    uint32_t offset = any_u32_between(0, size - bytes);

    (void)nor_flash_go_on(&flash);
    (void)nor_flash_write(&flash, offset, bytes, any_u64());
    (void)nor_flash_read(&flash, offset, bytes);
}
