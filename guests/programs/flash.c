// SPDX-License-Identifier: Apache-2.0
//
// Uses its domain's flash by commands: queries it, erases a block, programs it by words and by buffers, and
// reads it back, while its other VCPUs read all of it. Parameters: `at`: address of the flash [0x4000000],
// `rounds` [4]. Report: `bytes` by the query; `erase_ns` and `word_ns`, the longest erase of a block and
// programming of a word; `wrong`: words that differ from what was programmed; `strange`: values read by the
// other VCPUs that were neither content nor a status; `reads` of theirs.
#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

#define BOTH(command) ((command) << 16 | (command))
#define READY         0x00800080u

enum {
    word_bytes = 4,
    buffer_words = 32,
    block_bytes = 0x40000,
    query_size = 0x27, // 2^n bytes of each chip
    command_array = 0xFF,
    command_status = 0x70,
    command_clear = 0x50,
    command_query = 0x98,
    command_erase = 0x20,
    command_confirm = 0xD0,
    command_program = 0x40,
    command_buffer = 0xE8,
};

static struct {
    uint64_t at;
    uint64_t bytes;
    uint64_t over;  // set to stop the other VCPUs
    uint64_t ended; // number of those that have stopped
    uint64_t strange;
    uint64_t reads;
    uint64_t wrong;
    uint64_t erase_ticks;
    uint64_t word_ticks;
} flash;

static void give(uint64_t offset, uint32_t command)
{
    mmio_write32(flash.at + offset, BOTH(command));
}

static uint32_t status(void)
{
    uint32_t found;

    do {
        give(0, command_status);
        found = mmio_read32(flash.at);
    } while ((found & READY) != READY);
    return found;
}

// The value that a word is programmed to; no status of the chip has it.
static uint32_t content_of(uint64_t offset)
{
    return 0xC0000000u | (uint32_t)offset;
}

static uint32_t size_by_query(void)
{
    uint32_t exponent;

    give(0x55 * word_bytes, command_query);
    exponent = mmio_read32(flash.at + query_size * word_bytes) & 0xFF;
    give(0, command_array);
    return 2u << exponent;
}

static void erase(uint64_t block)
{
    uint64_t start = timer_now();
    uint64_t took;

    give(block, command_erase);
    give(block, command_confirm);
    if (status() != READY)
        flash.wrong++;
    give(0, command_array);
    took = timer_now() - start;
    flash.erase_ticks = took > flash.erase_ticks ? took : flash.erase_ticks;
}

static void program_word(uint64_t offset)
{
    uint64_t start = timer_now();
    uint64_t took;

    give(offset, command_program);
    mmio_write32(flash.at + offset, content_of(offset));
    if (status() != READY)
        flash.wrong++;
    took = timer_now() - start;
    flash.word_ticks = took > flash.word_ticks ? took : flash.word_ticks;
}

static void program_buffer(uint64_t offset)
{
    give(offset, command_buffer);
    give(offset, buffer_words - 1);
    for (uint64_t i = 0; i < buffer_words; i++)
        mmio_write32(flash.at + offset + i * word_bytes, content_of(offset + i * word_bytes));
    give(0, command_confirm);
    if (status() != READY)
        flash.wrong++;
    give(0, command_clear);
}

static void check(uint64_t from, uint64_t to, uint32_t erased)
{
    give(0, command_array);
    for (uint64_t offset = from; offset < to; offset += word_bytes)
        flash.wrong += mmio_read32(flash.at + offset) != (erased != 0 ? erased : content_of(offset));
}

static void one_round(uint64_t block)
{
    uint64_t buffers = block + buffer_words * word_bytes;

    erase(block);
    check(block, block + block_bytes, ~0u);
    for (uint64_t offset = block; offset < buffers; offset += word_bytes)
        program_word(offset);
    for (uint64_t offset = buffers; offset < buffers + 0x1000; offset += buffer_words * word_bytes)
        program_buffer(offset);
    check(block, buffers + 0x1000, 0);
    check(buffers + 0x1000, block + block_bytes, ~0u);
}

static bool is_an_answer(uint32_t word)
{
    return word == 0 || word == READY || (word & 0xFFFF) == word >> 16; // busy, ready, of the query, erased
}

void program_secondary(uint32_t cpu)
{
    uint64_t reads = 0;

    for (uint64_t offset = cpu * word_bytes; __atomic_load_n(&flash.over, __ATOMIC_ACQUIRE) == 0;) {
        uint32_t word = mmio_read32(flash.at + offset);

        if (word != content_of(offset) && !is_an_answer(word))
            __atomic_fetch_add(&flash.strange, 1, __ATOMIC_RELAXED);
        offset = (offset + 0x1004) % flash.bytes;
        reads++;
    }
    __atomic_fetch_add(&flash.reads, reads, __ATOMIC_RELAXED);
    __atomic_fetch_add(&flash.ended, 1, __ATOMIC_RELEASE);
}

void program_main(void)
{
    uint64_t rounds = param("rounds", 4);
    uint64_t frequency = timer_frequency();
    uint64_t others;

    flash.at = param("at", 0x4000000);
    flash.bytes = size_by_query();
    others = smp_start() - 1;
    console_write("bulkhead: ready\n");
    for (uint64_t i = 0; i < rounds; i++)
        one_round(i * block_bytes % flash.bytes);
    __atomic_store_n(&flash.over, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&flash.ended, __ATOMIC_ACQUIRE) != others) {
    }
    console_printf(
        "report {\"bytes\": %lu, \"erase_ns\": %lu, \"word_ns\": %lu, \"wrong\": %lu, \"strange\": %lu, "
        "\"reads\": %lu}\n",
        flash.bytes, ticks_to_ns(flash.erase_ticks, frequency), ticks_to_ns(flash.word_ticks, frequency),
        flash.wrong, flash.strange, flash.reads);
}
