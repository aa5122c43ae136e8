/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Commands of NOR flash. The numbers are those of Intel's StrataFlash data sheets (28F128J3: command set,
 * status register, identifiers) and of JESD68.01 (query table).
 */
#include "core/nor_flash.h"

#define STATUS_READY         0x80u
#define STATUS_ERASE_ERROR   0x20u
#define STATUS_PROGRAM_ERROR 0x10u
#define BOTH_ERRORS          (STATUS_ERASE_ERROR | STATUS_PROGRAM_ERROR) /* an invalid command sequence */

#define WORD_BYTES   4u
#define BUFFER_WORDS 32u
#define CHIPS        2u
#define BOTH_CHIPS   0x0001000100010001ull

#define COMMAND_PROGRAM      0x40u
#define COMMAND_PROGRAM_TOO  0x10u
#define COMMAND_ERASE        0x20u
#define COMMAND_CLEAR_STATUS 0x50u
#define COMMAND_LOCK         0x60u
#define COMMAND_READ_STATUS  0x70u
#define COMMAND_READ_ID      0x90u
#define COMMAND_READ_QUERY   0x98u
#define COMMAND_CONFIRM      0xD0u
#define COMMAND_BUFFER       0xE8u
#define COMMAND_READ_ARRAY   0xFFu

enum next_write {
    NEXT_COMMAND,
    NEXT_WORD,
    NEXT_ERASE_CONFIRM,
    NEXT_LOCK_KIND,
    NEXT_BUFFER_COUNT,
    NEXT_BUFFER_WORD,
    NEXT_BUFFER_CONFIRM,
};

/* Indexed by the word of one chip. Words that are not listed are 0: no identifier, no lock, no time-out. */
static const uint8_t id_table[] = {
    0x89, /* Intel */
    0x18, /* 28F128J3 */
};

#define QUERY_SIZE   0x27u
#define QUERY_BLOCKS 0x2Du

static const uint8_t query_table[] = {
    [0x10] = 'Q',
    [0x11] = 'R',
    [0x12] = 'Y',
    [0x13] = 1,    /* command set: Intel's */
    [0x15] = 0x31, /* address of its own table */
    [0x1B] = 0x27, /* supply: 2.7 to 3.6 V */
    [0x1C] = 0x36,
    [0x1F] = 7,  /* typical time: 2^n us for a word, */
    [0x20] = 7,  /* 2^n us for a buffer, */
    [0x21] = 10, /* 2^n ms for a block */
    [0x23] = 4,  /* maximum: 2^n times the typical time */
    [0x24] = 4,
    [0x25] = 4,
    [0x28] = 2, /* data bus of 8 or 16 bits */
    [0x2A] = 6, /* buffer of 2^n bytes */
    [0x2C] = 1, /* one region of equal blocks */
    [0x30] = NOR_FLASH_BLOCK_BYTES / CHIPS >> 16,
    [0x31] = 'P',
    [0x32] = 'R',
    [0x33] = 'I',
    [0x34] = '1',
    [0x35] = '0',
    [0x3F] = 1, /* number of protection registers: drivers expect at least one */
};

static struct nor_flash_work no_work(void)
{
    return (struct nor_flash_work){.change = NOR_FLASH_NOTHING};
}

static bool is_erasing(const struct nor_flash *flash)
{
    return flash->erase_at != flash->erase_end;
}

static void expect(struct nor_flash *flash, enum next_write next)
{
    flash->next = (uint8_t)next;
    flash->mode = NOR_FLASH_STATUS;
}

static void wrong_sequence(struct nor_flash *flash)
{
    flash->errors |= BOTH_ERRORS;
    expect(flash, NEXT_COMMAND);
}

static void take_command(struct nor_flash *flash, uint32_t command)
{
    switch (command) {
    case COMMAND_READ_ARRAY:
        flash->mode = NOR_FLASH_ARRAY;
        break;
    case COMMAND_READ_STATUS:
        flash->mode = NOR_FLASH_STATUS;
        break;
    case COMMAND_READ_ID:
        flash->mode = NOR_FLASH_ID;
        break;
    case COMMAND_READ_QUERY:
        flash->mode = NOR_FLASH_QUERY;
        break;
    case COMMAND_CLEAR_STATUS:
        flash->errors = 0;
        break;
    case COMMAND_PROGRAM:
    case COMMAND_PROGRAM_TOO:
        expect(flash, NEXT_WORD);
        break;
    case COMMAND_ERASE:
        expect(flash, NEXT_ERASE_CONFIRM);
        break;
    case COMMAND_LOCK:
        expect(flash, NEXT_LOCK_KIND);
        break;
    case COMMAND_BUFFER:
        expect(flash, NEXT_BUFFER_COUNT);
        break;
    default: /* an unknown command is ignored */
        break;
    }
}

static struct nor_flash_work program(uint32_t offset, uint32_t bytes, uint64_t value)
{
    return (struct nor_flash_work){NOR_FLASH_CLEAR_BITS, offset, bytes, value};
}

static void confirm_erase(struct nor_flash *flash, uint32_t offset, uint32_t command)
{
    expect(flash, NEXT_COMMAND);
    if (command != COMMAND_CONFIRM) {
        wrong_sequence(flash);
        return;
    }
    flash->erase_at = offset & ~(NOR_FLASH_BLOCK_BYTES - 1);
    flash->erase_end = flash->erase_at + NOR_FLASH_BLOCK_BYTES;
}

static void take_count(struct nor_flash *flash, uint32_t count)
{
    if (count >= BUFFER_WORDS) {
        wrong_sequence(flash);
        return;
    }
    flash->words = (uint8_t)(count + 1);
    expect(flash, NEXT_BUFFER_WORD);
}

/* Programs each word of a buffer at once. A real chip does so when the last word is confirmed; a guest cannot
 * tell the difference, because it cannot read the array before. */
static struct nor_flash_work take_buffer_word(struct nor_flash *flash, uint32_t offset, uint32_t bytes,
                                              uint64_t value)
{
    flash->words--;
    if (flash->words == 0) {
        flash->next = NEXT_BUFFER_CONFIRM;
    }
    return program(offset, bytes, value);
}

struct nor_flash_work nor_flash_write(struct nor_flash *flash, uint32_t offset, uint32_t bytes,
                                      uint64_t value)
{
    uint32_t command = (uint32_t)value & 0xFF;

    if (is_erasing(flash)) {
        return no_work();
    }
    switch (flash->next) {
    case NEXT_WORD:
        expect(flash, NEXT_COMMAND);
        return program(offset, bytes, value);
    case NEXT_ERASE_CONFIRM:
        confirm_erase(flash, offset, command);
        return no_work();
    case NEXT_LOCK_KIND:
        expect(flash, NEXT_COMMAND);
        return no_work();
    case NEXT_BUFFER_COUNT:
        take_count(flash, command);
        return no_work();
    case NEXT_BUFFER_WORD:
        return take_buffer_word(flash, offset, bytes, value);
    case NEXT_BUFFER_CONFIRM:
        expect(flash, NEXT_COMMAND);
        if (command != COMMAND_CONFIRM) {
            wrong_sequence(flash);
        }
        return no_work();
    default:
        take_command(flash, command);
        return no_work();
    }
}

/* log2 of the bytes of each chip. */
static uint8_t size_of_chip(const struct nor_flash *flash)
{
    return (uint8_t)(31 - __builtin_clz(flash->bytes / CHIPS));
}

static uint8_t query(const struct nor_flash *flash, uint32_t word)
{
    uint32_t last_block = flash->bytes / NOR_FLASH_BLOCK_BYTES - 1;

    if (word == QUERY_SIZE) {
        return size_of_chip(flash);
    }
    if (word == QUERY_BLOCKS) {
        return (uint8_t)last_block; /* at most 255 */
    }
    return word < sizeof query_table ? query_table[word] : 0;
}

uint64_t nor_flash_read(const struct nor_flash *flash, uint32_t offset, uint32_t bytes)
{
    uint32_t word = offset / WORD_BYTES & 0xFF;
    uint64_t value;

    switch (flash->mode) {
    case NOR_FLASH_ID:
        value = word < sizeof id_table ? id_table[word] : 0;
        break;
    case NOR_FLASH_QUERY:
        value = query(flash, word);
        break;
    default:
        value = is_erasing(flash) ? 0 : STATUS_READY | flash->errors;
        break;
    }
    return value * BOTH_CHIPS & (~0ull >> (64 - 8 * bytes)); /* both chips return the same value */
}

struct nor_flash_work nor_flash_go_on(struct nor_flash *flash)
{
    uint32_t offset = flash->erase_at;

    if (!is_erasing(flash)) {
        return no_work();
    }
    flash->erase_at += NOR_FLASH_PIECE_BYTES;
    return (struct nor_flash_work){NOR_FLASH_ERASE, offset, NOR_FLASH_PIECE_BYTES, 0};
}
