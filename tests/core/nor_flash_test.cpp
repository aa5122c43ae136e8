// SPDX-License-Identifier: Apache-2.0
// Flash by its commands: as a driver gives them, and in any other order.
#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

extern "C" {
#include "core/nor_flash.h"
}

namespace nor_flash_test {
namespace {

constexpr uint32_t size = 1 << 20;
constexpr uint32_t ready = 0x00800080;
constexpr uint32_t sequence_error = 0x00B000B0;

// A flash with its content, in the form that EL2 keeps.
class Flash {
public:
    Flash() : content(size, 0xFF) { chip.bytes = size; }

    void write(uint32_t offset, uint64_t value, uint32_t bytes = 4)
    {
        perform(nor_flash_go_on(&chip));
        perform(nor_flash_write(&chip, offset, bytes, value));
    }
    uint64_t read(uint32_t offset, uint32_t bytes = 4)
    {
        perform(nor_flash_go_on(&chip));
        if (chip.mode != NOR_FLASH_ARRAY) {
            return nor_flash_read(&chip, offset, bytes);
        }
        uint64_t value = 0;
        std::memcpy(&value, &content[offset], bytes);
        return value;
    }
    void command(uint32_t offset, uint32_t code) { write(offset, code << 16 | code); }
    // The number of status reads until it was ready.
    uint32_t wait()
    {
        for (uint32_t looks = 1; looks <= 1000; looks++) {
            command(0, 0x70);
            if ((read(0) & ready) == ready) {
                return looks;
            }
        }
        return 0;
    }

    nor_flash chip = {};
    std::vector<uint8_t> content;

private:
    void perform(const nor_flash_work &work)
    {
        if (work.change == NOR_FLASH_NOTHING) {
            return;
        }
        ASSERT_LE(work.offset + work.bytes, size);
        ASSERT_LE(work.bytes, work.change == NOR_FLASH_ERASE ? NOR_FLASH_PIECE_BYTES : 8);
        for (uint32_t i = 0; i < work.bytes; i++) {
            uint8_t &byte = content[work.offset + i];
            byte = static_cast<uint8_t>(work.change == NOR_FLASH_ERASE ? 0xFF : byte & work.value >> 8 * i);
        }
    }
};

TEST(NorFlash, D7_AWordIsProgrammedAndOnlyEverLosesBits)
{
    Flash flash;
    flash.command(0x100, 0x40);
    flash.write(0x100, 0x12345678);
    EXPECT_EQ(flash.read(0x100), ready);
    flash.command(0, 0xFF);
    EXPECT_EQ(flash.read(0x100), 0x12345678u);
    EXPECT_EQ(flash.read(0x104), 0xFFFFFFFFu);
    flash.command(0x100, 0x10);
    flash.write(0x100, 0x0000FFFF);
    flash.command(0, 0xFF);
    EXPECT_EQ(flash.read(0x100), 0x5678u);
}

TEST(NorFlash, D7_ABlockIsErasedPieceByPieceAndNothingElse)
{
    Flash flash;
    std::fill(flash.content.begin(), flash.content.end(), 0);
    flash.command(0x41234, 0x20);
    flash.command(0x41234, 0xD0);
    EXPECT_EQ(flash.read(0), 0u) << "busy";
    flash.command(0, 0xFF); // ignored
    EXPECT_EQ(flash.wait(), (NOR_FLASH_BLOCK_BYTES / NOR_FLASH_PIECE_BYTES - 2) / 2)
        << "two accesses for each look";
    flash.command(0, 0xFF);
    EXPECT_EQ(flash.read(0x3FFFC), 0u);
    EXPECT_EQ(flash.read(0x40000), 0xFFFFFFFFu);
    EXPECT_EQ(flash.read(0x7FFFC), 0xFFFFFFFFu);
    EXPECT_EQ(flash.read(0x80000), 0u);
}

TEST(NorFlash, D7_ABufferTakesItsCountOfWords)
{
    Flash flash;
    flash.command(0x200, 0xE8);
    EXPECT_EQ(flash.read(0x200), ready) << "the buffer is free";
    flash.command(0x200, 31);
    for (uint32_t i = 0; i < 32; i++) {
        flash.write(0x200 + 4 * i, 0xA0000000 | i);
    }
    flash.command(0, 0xD0);
    EXPECT_EQ(flash.wait(), 1u);
    EXPECT_EQ(flash.read(0), ready) << "no error";
    flash.command(0, 0xFF);
    for (uint32_t i = 0; i < 32; i++) {
        EXPECT_EQ(flash.read(0x200 + 4 * i), 0xA0000000 | i);
    }
}

TEST(NorFlash, D7_ASequenceThatIsNoneIsAnErrorUntilItIsCleared)
{
    for (const auto &commands : {std::array{0x20u, 0x70u, 0u}, {0xE8u, 32u, 0u}, {0xE8u, 0u, 1u}}) {
        Flash flash;
        flash.command(0, commands[0]);
        flash.command(0, commands[1]);
        if (commands[2] != 0) {
            flash.write(0, 0);      // the word,
            flash.command(0, 0xFF); // and no confirmation
        }
        EXPECT_EQ(flash.read(0), sequence_error);
        flash.command(0, 0x70);
        EXPECT_EQ(flash.read(0), sequence_error);
        flash.command(0, 0x50);
        flash.command(0, 0x70);
        EXPECT_EQ(flash.read(0), ready);
    }
}

TEST(NorFlash, D7_BlocksAreNeverLocked)
{
    Flash flash;
    flash.command(0x40000, 0x60);
    flash.command(0x40000, 0x01); // lock
    EXPECT_EQ(flash.read(0), ready);
    flash.command(0x40000, 0x90);
    EXPECT_EQ(flash.read(0x40000), 0x00890089u);
    EXPECT_EQ(flash.read(0x40004), 0x00180018u);
    EXPECT_EQ(flash.read(0x40008), 0u) << "not locked";
}

// Common Flash Interface (JESD68.01, table 1 to 4): values that a driver computes from it.
TEST(NorFlash, D7_TheQueryTableSaysWhatTheFlashIs)
{
    Flash flash;
    flash.command(0x55 * 4, 0x98);
    const auto query = [&](uint32_t word) { return static_cast<uint32_t>(flash.read(4 * word)) & 0xFF; };

    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(flash.read(4 * (0x10 + i)), "QRY"[i] * 0x10001u) << "each chip answers";
        EXPECT_EQ(query((query(0x15) | query(0x16) << 8) + i), static_cast<uint32_t>("PRI"[i]));
    }
    EXPECT_EQ(query(0x13) | query(0x14) << 8, 1u) << "Intel's commands";
    EXPECT_EQ(2u << query(0x27), size) << "two chips";
    EXPECT_EQ(2u << query(0x2A), 32u * 4) << "of the buffer";
    EXPECT_EQ(query(0x2C), 1u);
    const uint32_t blocks = (query(0x2D) | query(0x2E) << 8) + 1;
    const uint32_t block_bytes = (query(0x2F) | query(0x30) << 8) * 256 * 2;
    EXPECT_EQ(block_bytes, NOR_FLASH_BLOCK_BYTES);
    EXPECT_EQ(blocks * block_bytes, size);
    EXPECT_EQ(query(0xFF), 0u);
}

TEST(NorFlash, D7_AccessesOfEveryWidthAreAnswered)
{
    Flash flash;
    flash.write(0, 0x70, 1);
    EXPECT_EQ(flash.read(0, 1), 0x80u);
    EXPECT_EQ(flash.read(0, 2), 0x80u);
    EXPECT_EQ(flash.read(0, 8), 0x0080008000800080u);
    flash.write(8, 0x40, 2);
    flash.write(8, 0x1122334455667788, 8);
    flash.write(0, 0xFF, 1);
    EXPECT_EQ(flash.read(8, 8), 0x1122334455667788u);
}

// Any writes at all: no work outside of the flash, only erasing sets bits, and three commands restore the
// reading state.
TEST(NorFlash, D7_WhateverIsWrittenTheContentComesBack)
{
    constexpr std::array codes{0x00u, 0x01u, 0x10u, 0x20u, 0x40u, 0x50u, 0x60u, 0x70u,
                               0x90u, 0x98u, 0xB0u, 0xD0u, 0xE8u, 0xF0u, 0xFFu, 0x1Fu};
    std::mt19937 random(20);
    for (uint32_t round = 0; round < 300; round++) {
        Flash flash;
        for (uint32_t i = 0; i < 400; i++) {
            const uint32_t bytes = 1u << random() % 4;
            const uint32_t offset = random() % size & ~(bytes - 1);
            const uint64_t value = random() % 4 == 0 ? random() : codes[random() % codes.size()] * 0x10001ull;
            std::array<uint8_t, 8> before = {};
            std::copy_n(&flash.content[offset], bytes, before.begin());
            const bool erasing = flash.chip.erase_at != flash.chip.erase_end;
            random() % 3 == 0 ? static_cast<void>(flash.read(offset, bytes))
                              : flash.write(offset, value, bytes);
            for (uint32_t j = 0; j < bytes && !erasing; j++) {
                EXPECT_EQ(flash.content[offset + j] & ~before[j], 0);
            }
        }
        while (flash.chip.erase_at != flash.chip.erase_end) {
            flash.read(0);
        }
        for (uint32_t i = 0; i < 40; i++) { // outside of any buffer
            flash.command(0, 0xFF);
        }
        flash.command(0, 0xFF);
        EXPECT_EQ(flash.chip.mode, NOR_FLASH_ARRAY);
    }
}

} // namespace
} // namespace nor_flash_test
