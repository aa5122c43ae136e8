// SPDX-License-Identifier: Apache-2.0
//
// Effects of a hostile guest on the terminal on which all domains' lines are shown: nothing outside of its
// own line, and no query that the terminal would answer.
#include "test_system.h"

extern "C" {
#include "console/console_mux.h"
}

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace console_controls_test {
namespace {

using namespace bulkhead_test;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHogTag = "[hog        0.000000] ";

DomainSpec spec(const char *name, uint32_t core, uint32_t flags = BH_DOMAIN_FLAG_CONSOLE)
{
    return {.name = name, .cores = {core}, .flags = flags};
}

// A terminal with no more functions than a printer with a backspace. It remembers which domain wrote each
// column, by the tag before the text.
class Printer {
public:
    // Returns the error in the stream, or nothing.
    std::string show(std::string_view stream)
    {
        for (size_t i = 0; i < stream.size(); i++) {
            const char character = stream[i];

            if (character == '\r' && i + 1 < stream.size() && stream[i + 1] == '\n') {
                rows_.emplace_back();
                column_ = edge_ = 0;
                i++;
            } else if (character == '\r') {
                column_ = edge_ = 0;
            } else if (character == '\b') {
                if (column_ <= edge_ || edge_ == 0) {
                    return "a backspace leaves the text at byte " + std::to_string(i);
                }
                column_--;
            } else if (character < ' ' || character > '~') {
                return "a byte that is not printable at " + std::to_string(i);
            } else if (column_ == 0) {
                const size_t end = stream.find("] ", i);

                if (character != '[' || end == std::string_view::npos ||
                    !write_tag(stream.substr(i, end + 2 - i))) {
                    return "a line without a tag at " + std::to_string(i);
                }
                i = end + 1;
            } else {
                put(character);
            }
        }
        return "";
    }

    const std::vector<std::string> &rows() const { return rows_; }

private:
    bool write_tag(std::string_view tag)
    {
        const size_t name = tag.find_first_of("+ ");

        for (char character : tag) {
            put(character);
        }
        edge_ = column_;
        return tag.substr(1, name - 1) == "hog" || tag.substr(1, name - 1) == "control" ||
               tag.substr(1, name - 1) == "bulkhead";
    }

    void put(char character)
    {
        std::string &row = rows_.back();

        row.resize(std::max(row.size(), column_ + 1), ' ');
        row[column_++] = character;
    }

    std::vector<std::string> rows_{""};
    size_t column_ = 0;
    size_t edge_ = 0; // end of the tag
};

class ConsoleControls : public testing::Test {
protected:
    std::string shown(std::string_view text)
    {
        system.uart_output().clear();
        hog.print(text);
        EXPECT_TRUE(system.settle());
        return system.uart_output();
    }

    // The row of the screen after printing the text.
    std::string row(std::string_view text)
    {
        Printer printer;

        EXPECT_EQ(printer.show(shown(std::string(text) + "\n")), "") << text;
        return printer.rows().front().substr(kHogTag.size());
    }

    TestSystem system{spec("control", 2), spec("hog", 3)};
    Guest control{system, 0};
    Guest hog{system, 1};
};

TEST_F(ConsoleControls, AreShownInCaretForm)
{
    EXPECT_EQ(row("a\x01z\x07\x0b\x0c\x1c\x7f"), "a^Az^G^K^L^\\^?");
    EXPECT_EQ(row("\x1b[2J\x1b[H"), "^[[2J^[[H");
    EXPECT_EQ(row("\x1b[1A\x1b[2K\x1b]0;title\x07\x1b"
                  "c\x1b(0"),
              "^[[1A^[[2K^[]0;title^G^[c^[(0");
    EXPECT_EQ(row("\x1b\x1b[31\x1b[?25l"), "^[^[[31^[[?25l");
    EXPECT_EQ(row("\x1b[00000000000000000000001A"), "^[[00000000000000000000001A") << "longer than is held";
    EXPECT_EQ(row("\x1b"), "^[");
    EXPECT_EQ(row("\x1b[12"), "^[[12");
}

// A terminal stops at its last column or continues in the next row: backspaces could then reach the tag.
TEST_F(ConsoleControls, ALineThatLeavesTheTerminalsRowCannotBeEdited)
{
    const std::string fits(79 - kHogTag.size(), 'x');
    const std::string leaves(80 - kHogTag.size(), 'x');

    EXPECT_NE(shown(fits + "\b\n").find('\b'), std::string::npos);
    EXPECT_EQ(shown(leaves + "\b\b\x1b[K\x1b[5D\x1b[J\n").find('\b'), std::string::npos);
    EXPECT_NE(shown(leaves + "\rab\b\n").find('\b'), std::string::npos) << "after its tag was written again";
}

TEST_F(ConsoleControls, BytesAboveAsciiAreShownByTheirNumbers)
{
    EXPECT_EQ(row("\x9b"
                  "2J"),
              "\\x9b2J")
        << "CSI in 8 bits";
    EXPECT_EQ(row("\xc2\x9b"
                  "2J"),
              "\\xc2\\x9b2J")
        << "and as UTF-8";
    EXPECT_EQ(row("\xc0\x9b\xff"), "\\xc0\\x9b\\xff") << "which need not be well formed";
    EXPECT_EQ(row("\xe2\x80\xae"
                  "cba"),
              "\\xe2\\x80\\xaecba")
        << "right-to-left override";
}

TEST_F(ConsoleControls, NoQuestionReachesTheTerminal)
{
    for (const char *question : {"\x1b[6n", "\x1b[5n", "\x1b[c", "\x1b[>c", "\x1b[?6n", "\x1bZ", "\x05",
                                 "\x1b[x", "\x1bP$qm\x1b\\", "\x1b[18t", "\x1b]10;?\x07"}) {
        EXPECT_THAT(shown(std::string(question) + "\n"), Not(testing::ContainsRegex("[\x1b\x05\x07]")))
            << question;
    }
    EXPECT_EQ(row("\x1b[6n~ # "), "~ # ") << "a shell asks so with every prompt";
}

TEST_F(ConsoleControls, ColorsAreDropped)
{
    EXPECT_EQ(row("\x1b[1;34mbin\x1b[m \x1b[38;5;208mdev\x1b[0m"), "bin dev");
    EXPECT_EQ(row("\x1b[>4;2m"), "^[[>4;2m") << "no color";
}

TEST_F(ConsoleControls, ALineCanBeEditedAsShellsDo)
{
    EXPECT_EQ(row("lsx\b\x1b[J"), "ls ");
    EXPECT_EQ(row("abcdef\x1b[4Dxy\x1b[K"), "abxy  ");
    EXPECT_EQ(row("abc\x1b[99Dx\x1b[0Ky"), "xy ");
    EXPECT_EQ(row("a\tb\b\b\bc"), "a     c b") << "a tabulator is blanks, so that its columns are known";
    EXPECT_EQ(row("10 %\r20 %"), "20 %");
    EXPECT_EQ(row("long text\rshort\x1b[K"), "short    ");
}

TEST_F(ConsoleControls, ALongErasureIsDoneInSteps)
{
    const std::string text(50, 'x');

    system.set_uart_room(60);
    hog.print(text + "\r.\x1b[K|\n");
    for (int i = 0; i < 50; i++) {
        system.set_uart_room(10);
        ASSERT_TRUE(system.settle());
    }
    Printer printer;
    ASSERT_EQ(printer.show(system.uart_output()), "");
    EXPECT_EQ(printer.rows().front(), "[hog+       0.000000] .|" + std::string(48, ' '));
}

// A line that another domain's has interrupted continues after a tag of its own; its text before the tag
// cannot be erased.
TEST_F(ConsoleControls, BackspacesDoNotReachTheTagOfAContinuation)
{
    control.print(std::string(22, 'x'));
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(shown("between\n"), "\r\n" + std::string(kHogTag) + "between\r\n");
    system.uart_output().clear();
    control.print(std::string(22, '\b') + std::string(kHogTag) + "bulkhead: ready\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), "[control+   0.000000] " + std::string(kHogTag) + "bulkhead: ready\r\n");
}

TEST_F(ConsoleControls, AnythingThatTwoGuestsWriteStaysInTheirLines)
{
    const std::vector<std::string> pieces = {"\x1b",
                                             "\x1b[",
                                             "[",
                                             "6n",
                                             "J",
                                             "K",
                                             "D",
                                             "9",
                                             ";",
                                             "m",
                                             "\b",
                                             "\b\b\b",
                                             "\r",
                                             "\n",
                                             "\r\n",
                                             "\t",
                                             "A",
                                             "\x7f",
                                             "\x9b",
                                             "\xc2\x9b",
                                             "\x07",
                                             "text",
                                             "\x1b[5D",
                                             "\x1b"
                                             "c",
                                             "?",
                                             "\x1b[2J",
                                             "\x0b",
                                             "\x1b[K",
                                             "[bulkhead",
                                             "[control  0.0] x",
                                             "hog] ",
                                             "\x05",
                                             "\xff",
                                             "\x1b[A"};
    std::mt19937 random(1);

    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 60; i++) {
            const Guest &guest = random() % 3 == 0 ? control : hog;

            if (random() % 4 == 0) {
                guest.print(std::string(1, static_cast<char>(1 + random() % 255)));
            } else {
                guest.print(pieces[random() % pieces.size()]);
            }
            if (random() % 8 == 0) {
                system.set_uart_room(static_cast<int>(random() % 50));
                ASSERT_TRUE(system.settle());
            }
        }
        control.print("\n");
        hog.print("\n");
        system.set_uart_room(-1);
        ASSERT_TRUE(system.settle());
    }
    Printer printer;
    EXPECT_EQ(printer.show(system.uart_output()), "");
    EXPECT_GT(printer.rows().size(), 1000u);
}

TEST(ConsoleRaw, ADomainThatHasTheTerminalForItselfIsPassedAsItIs)
{
    TestSystem system{spec("linux", 2, BH_DOMAIN_FLAG_CONSOLE | BH_DOMAIN_FLAG_CONSOLE_RAW),
                      spec("hog", 3, 0)};
    Guest guest(system, 0);
    const std::string text = "\x1b[2J\x1b[6n\xe2\x82\xac\r\n\x9b\b\b\x07~ # ";

    guest.print(text);
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), text);
    console_log("a line");
    ASSERT_TRUE(system.settle());
    guest.print("ls\n");
    ASSERT_TRUE(system.settle());
    EXPECT_EQ(system.uart_output(), text + "\r\n[bulkhead   0.000000] a line\r\nls\n");
}

} // namespace
} // namespace console_controls_test
