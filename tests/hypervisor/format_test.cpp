// SPDX-License-Identifier: Apache-2.0
//
// The small printf: which conversions it has, which it leaves unchanged, and where it stops.
#include <array>
#include <gtest/gtest.h>
#include <string>

extern "C" {
#include "base/format.h"
}

namespace format_test {
namespace {

template <typename... Arguments> std::string format(const char *text, Arguments... arguments)
{
    std::array<char, 128> out{};
    size_t length = format_text(out.data(), out.size(), text, arguments...);

    EXPECT_EQ(out[length], '\0');
    return {out.data(), length};
}

// Not checked by the compiler against the format: for conversions that do not exist.
size_t unchecked(char *out, size_t size, const char *text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    size_t length = format_text_va(out, size, text, arguments);
    va_end(arguments);
    return length;
}

TEST(Format, Numbers)
{
    EXPECT_EQ(format("%d %d %d", 0, -1, 2147483647), "0 -1 2147483647");
    EXPECT_EQ(format("%d", -2147483647 - 1), "-2147483648");
    EXPECT_EQ(format("%u %x", 4294967295u, 0xDEADBEEFu), "4294967295 deadbeef");
    EXPECT_EQ(format("%lu", ~0ul), "18446744073709551615");
    EXPECT_EQ(format("%ld", -9223372036854775807l - 1), "-9223372036854775808");
    EXPECT_EQ(format("%lx", 0x8000000000000000ul), "8000000000000000");
}

TEST(Format, WidthAndZeros)
{
    EXPECT_EQ(format("[%5d|%05d|%5d|%05d]", 42, 42, -42, -42), "[   42|00042|  -42|-0042]");
    EXPECT_EQ(format("%016lx", 0x1234ul), "0000000000001234");
    EXPECT_EQ(format("%06lu", 1234567ul), "1234567");
    EXPECT_EQ(format("[%6s]", "abc"), "[abc   ]");
}

TEST(Format, TextAndPercent)
{
    EXPECT_EQ(format("%s%c%%", "abc", 'd'), "abcd%");
}

TEST(Format, UnknownConversionsStayText)
{
    std::array<char, 32> out{};

    EXPECT_EQ(unchecked(out.data(), out.size(), "a %q b %"), 8u);
    EXPECT_STREQ(out.data(), "a %q b %");
}

TEST(Format, NeverWritesPastTheEnd)
{
    std::array<char, 8> out{};

    out.fill('#');
    EXPECT_EQ(format_text(out.data(), 4, "%s", "abcdef"), 3u);
    EXPECT_EQ(std::string(out.data(), out.size()), std::string("abc\0####", 8));
    EXPECT_EQ(format_text(out.data(), 1, "%d", 12), 0u);
    EXPECT_EQ(out[0], '\0');
    out[0] = '#';
    EXPECT_EQ(format_text(out.data(), 0, "%d", 12), 0u);
    EXPECT_EQ(out[0], '#');
}

} // namespace
} // namespace format_test
