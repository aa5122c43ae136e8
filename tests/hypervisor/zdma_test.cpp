// SPDX-License-Identifier: Apache-2.0
//
// The driver of a ZynqMP's DMA channel: the behaviour that the broker's transfers rely on (F2).
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "zdma_model.h"

extern "C" {
#include "arch/hosted/fake_registers.h"
#include "base/qos400.h"
#include "flow/zdma.h"
}

namespace zdma_test {
namespace {

using namespace bulkhead_test;

constexpr paddr_t channel{0xFFA80000};
constexpr paddr_t regulator{0xFE144000};
constexpr uint64_t beyond = uint64_t{1} << 32; // an address whose high word matters
constexpr uint64_t memory_bytes = 0x10000;

class Zdma : public testing::Test {
protected:
    Zdma()
    {
        fake_reset();
        make_zdma(channel.value, regulator.value, [this](uint64_t pa, uint64_t bytes) {
            return pa >= beyond && pa - beyond + bytes <= memory_bytes
                       ? std::span(memory).subspan(pa - beyond, bytes)
                       : std::span<char>{};
        });
        zdma_init(channel);
    }

    static paddr_t at(uint64_t offset) { return {beyond + offset}; }

    std::vector<char> memory = std::vector<char>(memory_bytes);
};

TEST_F(Zdma, BeginsWithNothingThatALoaderLeft)
{
    EXPECT_FALSE(zdma_interrupts());
    EXPECT_FALSE(zdma_is_busy());
    EXPECT_EQ(zdma_outcome(channel), ZDMA_UNDER_WAY) << "nothing has ended";
}

TEST_F(Zdma, CopiesAndInterruptsUntilItIsAsked)
{
    memory[100] = 'a';
    memory[1099] = 'z';
    memory[1100] = 'x';
    zdma_start(channel, at(100), at(0x8003), 1000);
    EXPECT_TRUE(zdma_is_busy());
    EXPECT_FALSE(zdma_interrupts());
    EXPECT_EQ(zdma_outcome(channel), ZDMA_UNDER_WAY);
    zdma_runs();
    EXPECT_TRUE(zdma_interrupts());
    EXPECT_EQ(zdma_outcome(channel), ZDMA_DONE);
    EXPECT_FALSE(zdma_interrupts());
    EXPECT_EQ(memory[0x8003], 'a');
    EXPECT_EQ(memory[0x8003 + 999], 'z');
    EXPECT_EQ(memory[0x8003 + 1000], 0);
    EXPECT_EQ(zdma_outcome(channel), ZDMA_UNDER_WAY) << "told once";
}

TEST_F(Zdma, ManyTransfersEndOneByOne)
{
    for (int i = 0; i < 20; i++) {
        zdma_start(channel, at(0), at(0x1000), 64);
        zdma_runs();
        ASSERT_EQ(zdma_outcome(channel), ZDMA_DONE);
    }
}

TEST_F(Zdma, WhatTheBusRefusesIsAFailureAndTheNextTransferIsNot)
{
    zdma_start(channel, paddr(0x1000), at(0), 64);
    zdma_runs();
    EXPECT_TRUE(zdma_interrupts());
    EXPECT_EQ(zdma_outcome(channel), ZDMA_FAILED);
    EXPECT_FALSE(zdma_interrupts());
    zdma_start(channel, at(0), at(0x1000), 64);
    zdma_runs();
    EXPECT_EQ(zdma_outcome(channel), ZDMA_DONE);
}

TEST_F(Zdma, F2_TheRegulatorHoldsEachDirectionStrictlyToItsRate)
{
    EXPECT_EQ(zdma_read_rate(), 0u);
    EXPECT_EQ(zdma_write_rate(), 0u);
    qos400_limit(regulator, 64, 16);
    EXPECT_EQ(zdma_read_rate(), 64u);
    EXPECT_EQ(zdma_write_rate(), 16u);
}

// A page that firmware keeps from EL2, or that does not exist: writes vanish, and reads give 0.
TEST_F(Zdma, D5_ARegulatorThatDoesNotHoldItsRateIsFound)
{
    static uint64_t stuck; // the only register whose writes vanish
    static std::map<uint64_t, uint64_t> words;

    EXPECT_TRUE(qos400_limit(regulator, 64, 16));
    const auto read = [](uint64_t offset, unsigned, uint64_t *value) {
        *value = words[offset];
        return true;
    };
    const auto write = [](uint64_t offset, unsigned, uint64_t value) {
        words[offset] = offset == stuck ? 0 : value;
        return true;
    };
    fake_map(regulator.value + 0x1000, 0x1000, read, write);
    const paddr_t other{regulator.value + 0x1000};
    for (uint64_t offset : {0x10C, 0x11C, 0x120, 0x128, 0x12C}) { // control, bursts and rates
        stuck = offset;
        EXPECT_FALSE(qos400_limit(other, 64, 16)) << std::hex << offset;
    }
    stuck = 0;
    EXPECT_TRUE(qos400_limit(other, 64, 16));
}

} // namespace
} // namespace zdma_test
