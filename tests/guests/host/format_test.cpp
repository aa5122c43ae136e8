// SPDX-License-Identifier: Apache-2.0
//
// The guests' formatter prints the same as the C library's printf, for the conversions that it supports, and
// never writes beyond its buffer.
extern "C" {
#include "guests/runtime/format.h"
}

#include <gtest/gtest.h>

#include <climits>
#include <cstdio>
#include <memory>
#include <string>

namespace format_test {
namespace {

template <typename... Arguments> void expect_like_printf(const char *format, Arguments... arguments)
{
    char expected[200];
    char buffer[200];
    struct text text;
    std::snprintf(expected, sizeof(expected), format, arguments...);
    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, format, arguments...);
    EXPECT_STREQ(buffer, expected) << format;
    EXPECT_EQ(text.length, std::string(expected).size());
    EXPECT_FALSE(text.truncated);
}

TEST(Format, NumbersLikePrintf)
{
    for (int number : {0, 1, -1, 42, INT_MAX, INT_MIN}) {
        for (const char *format : {"%d", "%i", "%5d", "%-5d|", "%05d", "%012d", "%1d"})
            expect_like_printf(format, number);
    }
    for (unsigned number : {0u, 7u, 255u, UINT_MAX}) {
        for (const char *format : {"%u", "%x", "%08x", "%-10x|", "%3u"})
            expect_like_printf(format, number);
    }
    for (unsigned long number : {0ul, 1ul << 40, ULONG_MAX}) {
        for (const char *format : {"%lu", "%lx", "%016lx", "%zu", "%llx", "%30lu"})
            expect_like_printf(format, number);
    }
    for (long number : {0l, LONG_MAX, LONG_MIN})
        expect_like_printf("%ld", number);
}

TEST(Format, TextLikePrintf)
{
    expect_like_printf("%s and %s%c", "one", "", '!');
    expect_like_printf("[%6s|%-6s|%2s]", "abc", "abc", "abc");
    expect_like_printf("100 %%");
    expect_like_printf("");
}

TEST(Format, PointersHaveAllTheirDigits)
{
    char buffer[20];
    struct text text;
    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, "%p", reinterpret_cast<void *>(0x40080000));
    EXPECT_STREQ(buffer, "0000000040080000");
}

TEST(Format, AppendsBehindWhatIsThere)
{
    char buffer[20];
    struct text text;
    text_start(&text, buffer, sizeof(buffer));
    text_append(&text, "a%d", 1);
    text_append(&text, "b%d", 2);
    EXPECT_STREQ(buffer, "a1b2");
}

TEST(Format, WhatDoesNotFitIsDroppedAndRemembered)
{
    for (size_t capacity = 1; capacity <= 12; capacity++) {
        auto buffer = std::make_unique<char[]>(capacity); // the sanitizer guards its end
        struct text text;
        text_start(&text, buffer.get(), capacity);
        text_append(&text, "%s %05d", "hello", -123);
        EXPECT_EQ(std::string(buffer.get()), std::string("hello -0123").substr(0, capacity - 1));
        EXPECT_EQ(text.truncated, capacity < 12);
    }
}

} // namespace
} // namespace format_test
