// SPDX-License-Identifier: Apache-2.0
//
// The virtual PL011: registers that drivers probe, input and back pressure.
#include "console/vuart.h"
#include "test_system.h"
#include "vgic/vgic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace vuart_test {
namespace {

using namespace bulkhead_test;
using testing::HasSubstr;

constexpr uint32_t kDr = 0x00, kRsr = 0x04, kFr = 0x18, kLcrH = 0x2C, kCr = 0x30, kIfls = 0x34, kImsc = 0x38,
                   kRis = 0x3C, kMis = 0x40, kIcr = 0x44;
constexpr uint32_t kRxfe = 1u << 4, kTxff = 1u << 5, kRxff = 1u << 6, kTxfe = 1u << 7;
constexpr uint32_t kIntRx = 1u << 4, kIntTx = 1u << 5, kIntRt = 1u << 6, kIntOe = 1u << 10;

DomainSpec spec(const char *name, uint32_t core)
{
    return {.name = name, .cores = {core}};
}

// drivers/amba/bus.c reads the identification, drivers/tty/serial/amba-pl011.c takes the FIFO size from it.
TEST(Vuart, LinuxFindsAPl011R1p5)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);
    uint32_t peripheral = 0;
    uint32_t cell = 0;

    for (uint32_t i = 0; i < 4; i++) {
        peripheral |= (guest.read_uart(0xFE0 + i * 4) & 0xFF) << 8 * i;
        cell |= (guest.read_uart(0xFF0 + i * 4) & 0xFF) << 8 * i;
    }
    EXPECT_EQ(peripheral & 0x000FFFFF, 0x00041011u);
    EXPECT_GE(peripheral >> 20 & 0xF, 3u) << "32 characters";
    EXPECT_EQ(cell, 0xB105F00Du);
    guest.write_uart(kIfls, 0x12);
    guest.write_uart(0x24, 13);
    guest.write_uart(0x28, 1);
    guest.write_uart(kLcrH, 0x70);
    guest.write_uart(kCr, 0x301);
    EXPECT_EQ(guest.read_uart(kIfls), 0x12u);
    EXPECT_EQ(guest.read_uart(0x24), 13u);
    EXPECT_EQ(guest.read_uart(0x28), 1u);
    EXPECT_EQ(guest.read_uart(kLcrH), 0x70u);
    EXPECT_EQ(guest.read_uart(kCr), 0x301u);
    EXPECT_EQ(guest.read_uart(kFr) & (kRxfe | kTxff | kTxfe), kRxfe | kTxfe);
}

TEST(Vuart, PollingDriverReadsWhatIsTyped)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    system.type("ab");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.read_uart(kFr) & kRxfe, 0u);
    EXPECT_EQ(guest.read_uart(kDr), uint32_t{'a'});
    EXPECT_EQ(guest.read_uart(kDr), uint32_t{'b'});
    EXPECT_EQ(guest.read_uart(kFr) & kRxfe, kRxfe);
    EXPECT_EQ(guest.read_uart(kDr), 0u);
}

TEST(Vuart, OneCharacterInterruptsByTimeOutAndTheFifoByItsLevel)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    guest.write_uart(kLcrH, 0x70);
    guest.write_uart(kImsc, kIntRx | kIntRt);
    system.type("a");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.read_uart(kMis), kIntRt);
    system.type("bcdefghijklmnop");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.read_uart(kMis), kIntRt | kIntRx) << "half of the FIFO";
    guest.read_uart(kDr);
    EXPECT_EQ(guest.read_uart(kMis), kIntRt);
    while ((guest.read_uart(kFr) & kRxfe) == 0) {
        guest.read_uart(kDr);
    }
    EXPECT_EQ(guest.read_uart(kMis), 0u);
}

TEST(Vuart, ReceiveInterruptReachesTheGuestAndEndsWithTheInput)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    guest.open();
    guest.enable_spi(kPhysicalUartIntid);
    guest.write_uart(kImsc, kIntRx | kIntRt);
    system.type("x");
    ASSERT_TRUE(system.settle());
    ASSERT_EQ(guest.acknowledge(), kPhysicalUartIntid);
    guest.read_uart(kDr);
    guest.end(kPhysicalUartIntid);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.acknowledge(), FAKE_GIC_SPURIOUS);
}

TEST(Vuart, WhatIsTypedInTheMiddleOfAResetLeavesNoLineHigh)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    guest.write_uart(kImsc, kIntRx | kIntRt);
    system.run(0);
    vgic_domain_init(&system.domain(0));
    system.type("x");
    ASSERT_TRUE(system.settle());
    vuart_reset(&system.domain(0));
    EXPECT_EQ(system.domain(0).vgic.spis[0].line, 0u);
}

TEST(Vuart, InputThatNobodyReadsOverrunsInTheEnd)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    for (uint32_t i = 0; i < VUART_INPUT_BYTES; i++) {
        EXPECT_TRUE(vuart_receive(&system.domain(0), static_cast<uint8_t>(i)));
    }
    EXPECT_EQ(guest.read_uart(kFr) & kRxff, kRxff);
    EXPECT_EQ(guest.read_uart(kRis) & kIntOe, 0u);
    EXPECT_FALSE(vuart_receive(&system.domain(0), 'x'));
    EXPECT_EQ(guest.read_uart(kRis) & kIntOe, kIntOe);
    EXPECT_EQ(guest.read_uart(kRsr), 8u);
    EXPECT_EQ(guest.read_uart(kDr), 1u << 11) << "told with the first character";
    for (uint32_t i = 1; i < VUART_INPUT_BYTES; i++) {
        EXPECT_EQ(guest.read_uart(kDr), i & 0xFF);
    }
}

// Full UART: this guest waits, no output is lost, and it is told when it can continue.
TEST(Vuart, FullRingIsAFullFifoAndTheInterruptSaysWhenThereIsRoom)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);
    std::string text;
    uint32_t sent = 0;

    guest.open();
    guest.enable_spi(kPhysicalUartIntid);
    system.set_uart_full(true);
    while ((guest.read_uart(kFr) & kTxff) == 0) {
        char next = static_cast<char>('a' + sent % 26);

        guest.write_uart(kDr, static_cast<uint8_t>(next));
        text.push_back(next);
        sent++;
        ASSERT_LE(sent, CONSOLE_RING_BYTES);
    }
    EXPECT_GT(sent, CONSOLE_RING_BYTES / 2);
    EXPECT_EQ(guest.read_uart(kRis) & kIntTx, 0u);
    guest.write_uart(kImsc, kIntTx);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.acknowledge(), FAKE_GIC_SPURIOUS);

    system.set_uart_full(false);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(guest.read_uart(kFr) & kTxff, 0u);
    EXPECT_EQ(guest.acknowledge(), kPhysicalUartIntid);
    // Linux now fills half of the FIFO without reading the flags.
    for (uint32_t i = 0; i < 16; i++) {
        guest.write_uart(kDr, '.');
        text.push_back('.');
    }
    guest.write_uart(kDr, '\n');
    ASSERT_TRUE(system.settle());
    std::string got = system.uart_output();
    EXPECT_THAT(got, HasSubstr("[linux      0.000000] " + text.substr(0, 26)));
    EXPECT_EQ(got.substr(got.size() - 18), "................\r\n");
    EXPECT_EQ(got.size(), text.size() + 22 + 2)
        << "one tag, the text, a newline: nothing lost, nothing twice";
}

TEST(Vuart, TransmitInterruptIsOnWhileThereIsRoom)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);

    guest.write_uart(kImsc, kIntTx);
    EXPECT_EQ(guest.read_uart(kMis), 0u) << "nothing was ever sent";
    guest.write_uart(kDr, 'a');
    EXPECT_EQ(guest.read_uart(kMis), kIntTx);
    guest.write_uart(kIcr, kIntTx);
    EXPECT_EQ(guest.read_uart(kMis), 0u);
}

TEST(Vuart, ReservedRegistersReadAsZeroAndDoublewordsAreRefused)
{
    TestSystem system{spec("linux", 1)};
    Guest guest(system, 0);
    struct mmio_access access {};

    for (uint32_t offset : {0x08, 0x20, 0x4C, 0x80, 0xFDC, 0x1}) {
        guest.write_uart(offset, 0xFFFFFFFF);
        EXPECT_EQ(guest.read_uart(offset), 0u) << offset;
    }
    access.bytes = 8;
    EXPECT_FALSE(vuart_access(&system.run(0), &access));
    access.bytes = 4;
    access.offset = VUART_BYTES;
    EXPECT_FALSE(vuart_access(&system.run(0), &access));
}

TEST(Vuart, SurvivesRandomAccesses)
{
    TestSystem system{spec("linux", 1), spec("other", 2)};
    std::mt19937_64 random(7);

    Guest(system, 0).open();
    Guest(system, 0).enable_spi(kPhysicalUartIntid);
    for (int i = 0; i < 50000; i++) {
        struct mmio_access access {};

        access.bytes = 1u << random() % 4;
        access.offset = (random() % 3 == 0 ? random() : random() % 0x50) & ~uint64_t{access.bytes - 1};
        access.write = random() % 2 == 0;
        access.value = random();
        (void)vuart_access(&system.run(0), &access);
        if (random() % 8 == 0) {
            system.type("z");
        }
        if (random() % 64 == 0) {
            ASSERT_TRUE(system.settle());
            (void)Guest(system, 0).take_all();
        }
    }
    EXPECT_EQ(fake_gic_violations(), 0u);
}

} // namespace
} // namespace vuart_test
