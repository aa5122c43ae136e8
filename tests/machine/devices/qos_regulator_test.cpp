// SPDX-License-Identifier: Apache-2.0
// A QoS-400 regulator by its registers, before a DMA channel: b = S_b * a * f / 4096 (F2), each direction for
// itself, at once and only while it is enabled.
#include "machine/devices/qos_regulator.h"

#include <gtest/gtest.h>

#include "machine/devices/zdma.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::devices::qos_regulator_test {
namespace {

namespace reg = qos_register;
namespace dma = zdma_register;

constexpr std::uint64_t ps_per_s = 1'000'000'000'000;
constexpr std::uint64_t step_bytes_per_s = 15'625'000; // of a rate: 128 bytes * 0.5 GHz / 4096
constexpr std::uint32_t transfer_bytes = 1 << 18;
constexpr std::uint64_t pause_ps = 1'000'000'000;

class qos : public testing::Test {
protected:
    std::unique_ptr<simulated_machine> machine = machine::test::make_machine(machine::test::small_machine(1));
    qos_regulator regulator{machine->memory(), 0, {.clock_ps = 2000, .transaction_bytes = 128}};
    std::array<std::byte, 256> bytes{};
    picoseconds ended{};
    zdma_channel channel{{.start = {100'000}, .finish = {50'000}, .line = {16'000}, .burst_lines = 2},
                         {.timeline = machine->timeline(),
                          .memory = machine->memory(),
                          .way = {{}, 0},
                          .owner = {},
                          .bytes = [this](phys_addr, byte_count count,
                                          access_kind) { return std::span(bytes).first(count.value); },
                          .line = [this](bool high) { ended = high ? machine->timeline().now() : ended; }}};

    // Bytes a second of a transfer that begins at a round time, long after earlier credit was paid back.
    double copied(std::uint32_t count = transfer_bytes)
    {
        const picoseconds begin{(ended.value / pause_ps + 2) * pause_ps};
        channel.write(dma::source_words, 0);
        channel.write(dma::source_words + 8, count);
        channel.write(dma::destination_words, 0x1000000);
        channel.write(dma::destination_words + 8, count);
        channel.write(dma::ier, zdma_channel::done);
        machine->timeline().at(begin, [this] { channel.write(dma::ctrl2, 1); });
        machine->timeline().run(engine::never);
        channel.write(dma::isr, zdma_channel::done);
        return static_cast<double>(count) * static_cast<double>(ps_per_s) /
               static_cast<double>(ended.value - begin.value);
    }
    void set(std::uint64_t rate_register, std::uint32_t rate, std::uint32_t burst = 1)
    {
        regulator.write(rate_register - 4, burst);
        regulator.write(rate_register, rate << 20U);
    }
};

TEST_F(qos, F2_RateIsTransactionsOfTheClockWithinAPercent)
{
    const double free = copied();
    regulator.write(reg::control, reg::enable_read_rate | reg::enable_write_rate);
    for (const std::uint32_t rate : {1U, 9U, 32U, 63U}) {
        set(reg::read_rate, rate);
        set(reg::write_rate, rate);
        const double wanted = static_cast<double>(rate * step_bytes_per_s);
        ASSERT_LT(wanted, free);
        const double got = copied();
        EXPECT_LE(got, wanted * (1.0 + 128.0 / transfer_bytes)) << "the first transaction waits for none";
        EXPECT_GE(got, wanted * 0.99) << rate;
    }
}

TEST_F(qos, ARateOfZeroAndADisabledOneAreNone)
{
    const double free = copied(); // the DRAM's refresh delays some of them
    set(reg::read_rate, 8);
    set(reg::write_rate, 8);
    EXPECT_NEAR(copied(), free, free / 100); // not enabled
    regulator.write(reg::control, reg::enable_read_rate | reg::enable_write_rate);
    EXPECT_LT(copied(), free / 2);
    set(reg::read_rate, 0);
    set(reg::write_rate, 0);
    EXPECT_NEAR(copied(), free, free / 100);
}

TEST_F(qos, EachDirectionAloneHoldsATransfer)
{
    const double wanted = 8.0 * static_cast<double>(step_bytes_per_s);
    set(reg::write_rate, 8);
    regulator.write(reg::control, reg::enable_write_rate);
    EXPECT_NEAR(copied(), wanted, wanted / 100);
    set(reg::read_rate, 8);
    regulator.write(reg::control, reg::enable_read_rate);
    EXPECT_NEAR(copied(), wanted, wanted / 100);
}

TEST_F(qos, ABurstOfOneIsStrictAndALongerOneGoesAtOnce)
{
    regulator.write(reg::control, reg::enable_read_rate | reg::enable_write_rate);
    set(reg::read_rate, 4);
    set(reg::write_rate, 4);
    const double strict = copied(8192);
    set(reg::read_rate, 4, 64);
    set(reg::write_rate, 4, 64);
    const double bursting = copied(8192);
    EXPECT_LE(strict, 4.1 * static_cast<double>(step_bytes_per_s));
    EXPECT_GT(bursting, 4 * strict);
}

TEST_F(qos, PeakBoundsABurst)
{
    regulator.write(reg::control, reg::enable_read_rate | reg::enable_write_rate);
    set(reg::read_rate, 4, 1000);
    set(reg::write_rate, 4, 1000);
    regulator.write(reg::read_peak, 1U << 24U); // 250 MB/s
    const double wanted = 16.0 * static_cast<double>(step_bytes_per_s);
    const double got = copied(65536);
    EXPECT_NEAR(got, wanted, wanted / 50);
}

TEST_F(qos, RegistersKeepTheBitsThatTheyHave)
{
    for (std::uint64_t offset = 0; offset < qos_regulator::bytes; offset += 4) {
        regulator.write(offset, 0xFFFFFFFF);
    }
    EXPECT_EQ(regulator.read(reg::write_peak), 0xFF000000U);
    EXPECT_EQ(regulator.read(reg::read_burst), 0xFFFFU);
    EXPECT_EQ(regulator.read(reg::read_rate), 0xFFF00000U);
    EXPECT_EQ(regulator.read(reg::end), 0U);
    EXPECT_EQ(regulator.read(0x20), 0U);
}

} // namespace
} // namespace bulkhead::machine::devices::qos_regulator_test
