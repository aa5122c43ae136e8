// SPDX-License-Identifier: Apache-2.0
//
// One UART for all domains: tags, interleaving, fairness, focus, and protection of these from a hostile
// guest.
#include "console/vuart.h"
#include "test_system.h"
#include "test_uart.h"

extern "C" {
#include "console/console_mux.h"
}

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace console_test {
namespace {

using namespace bulkhead_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kEscape[] = "\x1d";

DomainSpec spec(const char *name, uint32_t core, uint32_t flags = BH_DOMAIN_FLAG_CONSOLE)
{
    return {.name = name, .cores = {core}, .flags = flags};
}

std::vector<std::string> lines(const std::string &stream)
{
    std::vector<std::string> found;
    std::istringstream in(stream);

    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r') {
            line.pop_back();
        }
        found.push_back(line);
    }
    return found;
}

// `first` has the focus.
class Console : public testing::Test {
protected:
    TestSystem system{spec("linux", 1), spec("control", 2), spec("hog", 3)};
    Guest linux_guest{system, 0};
    Guest control{system, 1};
    Guest hog{system, 2};
};

TEST_F(Console, LinesCarryTheNameAndTheTimeAtWhichTheyBegan)
{
    system.set_time_us(2104311);
    linux_guest.print("text of");
    system.set_time_us(9000000);
    linux_guest.print(" a line\n");
    system.set_time_us(12345678901);
    control.print("later\r\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[linux      2.104311] text of a line\r\n"
                                    "[control 12345.678901] later\r\n");
}

TEST_F(Console, FocusedDomainIsWrittenThroughOthersWaitForTheirLine)
{
    linux_guest.print("$ ");
    control.print("half a ");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[linux      0.000000] $ ");
    system.set_time_us(5);
    control.print("line\n");
    ASSERT_TRUE(system.settle());
    system.set_time_us(6);
    linux_guest.print("ls\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[linux      0.000000] $ \r\n"
                                    "[control    0.000000] half a line\r\n"
                                    "[linux+     0.000006] ls\r\n");
}

TEST_F(Console, OutputWithoutALineEndIsShownWhenTheRingIsHalfFull)
{
    control.print(std::string(CONSOLE_RING_BYTES / 2, 'x'));
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(system.uart_output(), HasSubstr("[control    0.000000] xxxx"));
}

TEST_F(Console, ProducersSendNoMoreThanOneRequest)
{
    system.set_uart_full(true);
    system.run(1);
    fake_forget_writes();
    for (int i = 0; i < 20; i++) {
        control.print("line\n");
    }
    size_t interrupts = 0;
    for (size_t i = 0; i < fake_write_count(); i++) {
        interrupts += !fake_write_at(i)->is_mmio && fake_write_at(i)->id == SYSREG_ID_ICC_SGI1R_EL1;
    }
    EXPECT_EQ(interrupts, 1u);
}

TEST_F(Console, OneCallMovesABoundedNumberOfCharacters)
{
    for (int i = 0; i < 40; i++) {
        control.print("0123456789\n");
    }
    system.run_core(0);
    console_handle();
    EXPECT_LE(system.uart_output().size(), 28u + CONSOLE_STEP_BYTES)
        << "the console core's own guest waits for this, and its budget's overflow";
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(lines(system.uart_output()).size(), 40u);
}

// Guests that write without end, to a UART that is never full, must leave time to the console core's own
// guest: one call moves characters, and then nothing of the console interrupts until the pause ends. Not even
// output that comes in the middle of the call.
TEST_F(Console, AFloodCostsTheConsoleCoreABoundedPartOfItsTime)
{
    uart_on_write([this] {
        control.print("\n");
        system.run_core(0);
    });
    size_t before = 0;
    for (int pause = 0; pause < 20; pause++) {
        unsigned calls = 0;
        for (int i = 0; i < 1000; i++) {
            control.print("\n");
            hog.print("x\n");
            system.run_core(0);
            calls += fake_gic_has_interrupt();
            ASSERT_TRUE(system.take_interrupts());
        }
        EXPECT_EQ(calls, pause == 0) << "in a pause that an alarm ends";
        EXPECT_LE(system.uart_output().size() - before, 28u + CONSOLE_STEP_BYTES);
        EXPECT_GT(system.uart_output().size(), before) << "but it goes on after each pause";
        before = system.uart_output().size();
        system.run_alarm();
    }
    uart_on_write(nullptr);
}

// A UART that is full, or that receives all the time, does not add calls either.
TEST_F(Console, TheUartDoesNotInterruptInAPause)
{
    constexpr uint64_t pause_ns = BH_CONSOLE_PAUSE_NS;
    uint64_t moved_at = 0;
    size_t before = 0;

    for (int step = 0; step < 3000; step++) {
        system.type("t");
        system.set_uart_room(step % 9);
        control.print("line\n");
        system.run_core(0);
        if (system.has_alarm() && step % 2 == 0) {
            EXPECT_FALSE(fake_gic_has_interrupt());
            system.run_alarm();
        }
        ASSERT_TRUE(system.take_interrupts());
        if (system.uart_output().size() != before) {
            if (moved_at != 0) {
                EXPECT_GE(system.counter() - moved_at, pause_ns);
            }
            moved_at = system.counter();
            before = system.uart_output().size();
        }
        while ((linux_guest.read_uart(0x18) & 0x10) == 0) {
            (void)linux_guest.read_uart(0);
        }
    }
    EXPECT_GT(before, 5000u);
}

TEST_F(Console, TypedCharactersAreTakenWhileADomainPrintsWithoutEnd)
{
    size_t typed = 0;
    for (int pause = 0; pause < 200; pause++) {
        control.print("a line\na line\na line\na line\n");
        system.type("x");
        system.run_core(0);
        ASSERT_TRUE(system.take_interrupts());
        system.run_alarm();
        while ((linux_guest.read_uart(0x18) & 0x10) == 0) {
            (void)linux_guest.read_uart(0);
            typed++;
        }
    }
    EXPECT_EQ(typed, 200u);
}

// An interrupt for output that is not shown would begin no pause.
TEST_F(Console, WhatIsNotShownDoesNotInterrupt)
{
    linux_guest.print(std::string(3, '\0')); // the focus is its
    system.run_core(0);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST_F(Console, ADomainThatHasEndedDoesNotInterrupt)
{
    system.domain(1).state = BH_DOMAIN_STATE_STOPPED;
    control.print("line\n");
    system.run_core(0);
    EXPECT_FALSE(fake_gic_has_interrupt());
}

TEST_F(Console, AFlushEndsAlthoughAGuestGoesOnWriting)
{
    system.set_uart_room(5);
    control.print("before\n");
    system.set_uart_room(-1);
    system.run_core(0);
    console_flush();
    control.print("after\n");
    console_flush();
    EXPECT_THAT(system.uart_output(), HasSubstr("before"));
    EXPECT_THAT(system.uart_output(), testing::Not(HasSubstr("after")));
}

TEST_F(Console, AFullUartIsNeverWaitedFor)
{
    system.set_uart_room(10);
    control.print("a longer line than ten\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[control  ");
    system.set_uart_room(16);
    ASSERT_TRUE(system.settle());
    system.set_uart_room(-1);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[control    0.000000] a longer line than ten\r\n");
}

TEST_F(Console, AFloodDelaysTheLinesOfOthersByNoMoreThanTheirShare)
{
    system.set_uart_full(true);
    for (int i = 0; i < 30; i++) {
        hog.print("noise noise noise\n");
    }
    for (int i = 0; i < 5; i++) {
        control.print("signal\n");
    }
    system.set_uart_full(false);
    ASSERT_TRUE(system.settle());
    std::vector<std::string> all = lines(system.uart_output());
    ASSERT_EQ(all.size(), 35u);
    int last_signal = 0;
    for (int i = 0; i < 35; i++) {
        if (all[static_cast<size_t>(i)].find("signal") != std::string::npos) {
            last_signal = i;
        }
    }
    EXPECT_LE(last_signal, 10) << "every other line";
}

TEST_F(Console, AnEndlessLineGivesWay)
{
    system.set_uart_room(50);
    hog.print(std::string(1500, 'x') + "\n");
    ASSERT_TRUE(system.settle());
    control.print("signal\n");
    system.set_uart_room(-1);
    ASSERT_TRUE(system.settle());
    size_t signal = system.uart_output().find("signal");
    ASSERT_NE(signal, std::string::npos);
    EXPECT_LT(signal, 300u);
    EXPECT_THAT(system.uart_output(), HasSubstr("[hog+"));
}

TEST_F(Console, AGuestCannotForgeATag)
{
    hog.print("a\r[control    0.000001] forged\n");
    hog.print("b\n\r[control    0.000002] forged\n");
    hog.print("c\x0b\x0c\x01\x7f[control    0.000003] forged\n");
    hog.print("d\b\b\b\b\b\b[control    0.000004] forged\n");
    ASSERT_TRUE(system.settle());
    for (const std::string &line : lines(system.uart_output())) {
        EXPECT_EQ(line.rfind("[hog", 0), 0u) << line;
        // Also not after a carriage return, where a terminal would print it.
        for (size_t i = line.find('\r'); i != std::string::npos; i = line.find('\r', i + 1)) {
            EXPECT_EQ(line.compare(i + 1, 4, "[hog"), 0) << line;
        }
        EXPECT_EQ(line.find_first_of("\x0b\x0c\x01\x7f"), std::string::npos);
    }
    EXPECT_THAT(system.uart_output(), HasSubstr("d\b[control"));
}

TEST_F(Console, EscapeAndADigitMoveTheFocus)
{
    system.type("a");
    system.type(std::string(kEscape) + "1b");
    system.type(std::string(kEscape) + "nc");
    system.type(std::string(kEscape) + "nd");
    system.type(std::string(kEscape) + kEscape);
    system.type(std::string(kEscape) + "7e");
    ASSERT_TRUE(system.settle());
    auto typed = [](const Guest &guest) {
        std::string text;

        while ((guest.read_uart(0x18) & 0x10) == 0) {
            text.push_back(static_cast<char>(guest.read_uart(0)));
        }
        return text;
    };
    EXPECT_EQ(typed(linux_guest), std::string("ad\x1d") + "e");
    EXPECT_EQ(typed(control), "b");
    EXPECT_EQ(typed(hog), "c");
    EXPECT_THAT(system.uart_output(), HasSubstr("[bulkhead   0.000000] input goes to control\r\n"));
    EXPECT_THAT(system.uart_output(), HasSubstr("no console: domain 7"));
}

TEST_F(Console, NewFocusShowsItsPromptAtOnce)
{
    control.print("login: ");
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(system.uart_output(), IsEmpty());
    system.type(std::string(kEscape) + "1");
    ASSERT_TRUE(system.settle());
    EXPECT_THAT(system.uart_output(), HasSubstr("[control    0.000000] login: "));
}

TEST_F(Console, LogLinesAreWholeAndLostOnesAreCounted)
{
    system.set_uart_full(true);
    for (int i = 0; i < 200; i++) {
        console_log("line %d of the log", i);
    }
    system.set_uart_full(false);
    ASSERT_TRUE(system.settle());
    console_log("after");
    ASSERT_TRUE(system.settle());
    std::vector<std::string> all = lines(system.uart_output());
    int next = 0;
    for (size_t i = 0; i + 2 < all.size(); i++) {
        ASSERT_EQ(all[i], "[bulkhead   0.000000] line " + std::to_string(next++) + " of the log");
    }
    EXPECT_EQ(all[all.size() - 2], "[bulkhead   0.000000] " + std::to_string(200 - next) + " lines lost");
    EXPECT_EQ(all.back(), "[bulkhead   0.000000] after");
}

TEST_F(Console, ALineOfTheLogComesAfterWhatDomainsHadWrittenBefore)
{
    system.set_uart_full(true);
    control.print("one\ntwo\nthree\n");
    linux_guest.print(std::string(400, 'x') + "\n");
    hog.print("unfinished");
    system.set_time_us(1);
    vuart_end_line(&system.domain(2));
    console_log("hog: powered off");
    system.set_uart_full(false);
    ASSERT_TRUE(system.settle());
    std::vector<std::string> all = lines(system.uart_output());
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back(), "[bulkhead   0.000001] hog: powered off");
    EXPECT_THAT(system.uart_output(), HasSubstr("[control    0.000000] three\r\n"));
    EXPECT_THAT(system.uart_output(), HasSubstr("[hog        0.000000] unfinished\r\n"));
}

TEST_F(Console, ALineOfTheLogDoesNotWaitForLaterOrEndlessLines)
{
    system.set_uart_full(true);
    hog.print(std::string(1500, 'x')); // has begun first, and never ends
    system.set_time_us(1);
    console_log("signal");
    system.set_time_us(2);
    for (int i = 0; i < 30; i++) {
        control.print("noise\n");
    }
    system.set_uart_full(false);
    ASSERT_TRUE(system.settle());
    size_t signal = system.uart_output().find("signal");
    ASSERT_NE(signal, std::string::npos);
    EXPECT_LT(signal, 300u) << "after one turn of the endless line, and a line of another domain";
}

TEST_F(Console, OfADomainThatHasEndedNothingMoreIsTaken)
{
    control.print("before\n");
    system.domain(1).state = BH_DOMAIN_STATE_STOPPED;
    control.print("after\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[control    0.000000] before\r\n");
}

TEST_F(Console, EscapeAndTAskForTheTime)
{
    system.set_time_us(45000001);
    system.type(std::string(kEscape) + "t");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[bulkhead  45.000001] " CONSOLE_TIME_LINE "\r\n");
    EXPECT_NE(linux_guest.read_uart(0x18) & 0x10, 0u) << "the domain with the focus gets nothing of it";
}

TEST_F(Console, FlushWritesWhatIsUnfinishedToo)
{
    control.print("last words");
    console_log("bye");
    system.run_core(0);
    console_flush();
    EXPECT_THAT(system.uart_output(), HasSubstr("[control    0.000000] last words"));
    EXPECT_THAT(system.uart_output(), HasSubstr("bye\r\n"));
}

// Output for which a guest's first steps are not interrupted.
TEST_F(Console, LinesOfTheStartAreWrittenAtOnceAndLeaveNothingToDo)
{
    console_log("3 domains on 4 cores, 16 colors, memory 1000 of 8192 KiB");
    console_log("another line of the start, which does not fit into a window with the first one");
    system.run_core(0);
    console_write_start();
    std::string written = system.uart_output();
    EXPECT_THAT(lines(written), testing::SizeIs(2));
    EXPECT_THAT(written, testing::EndsWith("first one\r\n"));
    ASSERT_TRUE(system.take_interrupts());
    EXPECT_FALSE(system.has_alarm());
    EXPECT_FALSE(fake_gic_has_interrupt());
    EXPECT_EQ(system.uart_output(), written);
}

TEST_F(Console, LinesOfTheStartAreNotWaitedForLongerThanTwentyMilliseconds)
{
    console_log("a longer line than ten");
    system.run_core(0);
    system.set_uart_room(10);
    system.set_counter_step(1000);
    uint64_t before = system.counter();
    console_write_start();
    uint64_t took = system.counter() - before;
    system.set_counter_step(0);
    EXPECT_GE(took, 20'000'000u);
    EXPECT_LE(took, 20'010'000u);
    EXPECT_EQ(system.uart_output(), "[bulkhead ");
    system.set_uart_room(-1);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[bulkhead   0.000000] a longer line than ten\r\n");
}

// Printable characters are taken several at once, whatever stands between them at whatever position.
TEST_F(Console, RunsOfCharactersEndWhereAnythingElseBegins)
{
    for (size_t before = 0; before < 40; before++) {
        for (const auto &[text, shown] : std::vector<std::pair<std::string, std::string>>{
                 {"\x1b[1m", ""}, {"\x7f", "^?"}, {"\x80", "\\x80"}, {"\a", "^G"}, {"\x1bX", "^[X"}}) {
            std::string run(before, '~');
            system.uart_output().clear();
            control.print(run + text + " b\n");
            ASSERT_TRUE(system.settle());
            EXPECT_EQ(system.uart_output(), "[control    0.000000] " + run + shown + " b\r\n");
        }
    }
}

TEST(ConsoleRing, ALineIsPushedAsAWholeOrNotAtAll)
{
    struct console_ring ring = {};
    std::string text(90, 'a');
    size_t lines = 0;

    for (; console_ring_push_line(&ring, text.data(), 90, lines); lines++) {
    }
    EXPECT_EQ(lines, CONSOLE_RING_BYTES / (90 + 8));
    EXPECT_EQ(console_ring_waiting(&ring), lines * (90 + 8));
    EXPECT_EQ(ring.newlines, lines);
    for (size_t line = 0; line < lines; line++) {
        uint8_t character = 0;
        uint8_t taken[100];
        uint64_t time_us = 0;

        ASSERT_EQ(console_ring_take_printable(&ring, taken, 100), 0u) << "the time comes first";
        ASSERT_EQ(console_ring_take(&ring, &character, &time_us), CONSOLE_ITEM_LINE);
        EXPECT_EQ(time_us, line);
        ASSERT_EQ(console_ring_take_printable(&ring, taken, 50), 50u);
        ASSERT_EQ(console_ring_take_printable(&ring, taken + 50, 50), 40u);
        EXPECT_EQ(std::string(taken, taken + 90), text);
        ASSERT_EQ(console_ring_take(&ring, &character, &time_us), CONSOLE_ITEM_CHARACTER);
        EXPECT_EQ(character, '\n');
    }
    EXPECT_EQ(console_ring_waiting(&ring), 0u);
}

TEST(ConsoleFocus, GoesToTheFirstDomainWithAConsole)
{
    TestSystem system{spec("silent", 1, 0), spec("linux", 2)};

    system.type(std::string("x") + kEscape + "0y");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(Guest(system, 1).read_uart(0), uint32_t{'x'});
    EXPECT_EQ(Guest(system, 1).read_uart(0), uint32_t{'y'})
        << "a domain without a console cannot have the focus";
}

TEST(ConsoleStart, WhatWasTypedBeforeIsNotForgotten)
{
    TestSystem system{spec("linux", 2)};

    system.type("early");
    console_start();
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(Guest(system, 0).read_uart(0), uint32_t{'e'});
    system.type("!");
    ASSERT_TRUE(system.settle());
    for (char character : std::string("arly!")) {
        EXPECT_EQ(Guest(system, 0).read_uart(0), uint32_t(character));
    }
}

TEST(ConsoleFocus, WithoutAnyConsoleInputIsDropped)
{
    TestSystem system{spec("silent", 1, 0)};

    system.type(std::string("abc") + kEscape + "n");
    EXPECT_TRUE(system.settle());
}

} // namespace
} // namespace console_test
