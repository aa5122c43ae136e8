/* SPDX-License-Identifier: Apache-2.0
 *
 * The console (X6, X9): the kernel, not the component, tags each line with its writer, whatever a component
 * writes; only the writer waits for the UART, and nothing is lost.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "microkernel/kernel/console.h"
#include "microkernel/kernel/report.h"
}

#include <cstring>
#include <regex>
#include <sstream>
#include <vector>

namespace bulkhead::test::console_test {
namespace {

constexpr uint32_t TEXT = 8; /* characters of one call */

class Console : public KernelTest {
protected:
    Console()
    {
        system.flags = SYSTEM_TAGS;
        for (const uint32_t writer : {SCHEDULER, SERVER, CLIENT, OTHER}) {
            system.component[writer].hardware = 1u << HW_CONSOLE | 1u << HW_END;
        }
        seal(system);
        EXPECT_EQ(kernel_boot(&system), nullptr);
        start();
    }

    void dispatch(uint32_t thread)
    {
        ASSERT_EQ(running(), SCHEDULER);
        call(SYS_DISPATCH, SLOT_THREADS + thread);
        ASSERT_EQ(running(), thread);
    }

    void tick() { kernel.current = kernel_tick(kernel.current); }

    /* The running component writes up to 8 characters; returns whether it has finished. */
    bool writes(const std::string &text)
    {
        std::array<uint32_t, 2> word{};
        const uint32_t before = kernel.current->context.calls_again;

        std::memcpy(word.data(), text.data(), std::min<size_t>(text.size(), TEXT));
        call(SYS_HARDWARE, SLOT_HARDWARE, HW_CONSOLE, word[0], word[1]);
        return kernel.current->context.calls_again == before;
    }

    void prints(const std::string &text)
    {
        for (size_t at = 0; at < text.size(); at += TEXT) {
            ASSERT_TRUE(writes(text.substr(at, TEXT)));
        }
    }

    void takes(uint32_t characters)
    {
        fake.is_slow = true;
        fake.room = characters;
    }

    /* The UART's output, line by line: the name, with a '+' if the line continues, and text. */
    std::vector<std::pair<std::string, std::string>> lines() const
    {
        static const std::regex tag(R"(\[(\S+) +\d+\.\d{6}\] (.*))");
        std::vector<std::pair<std::string, std::string>> found;
        std::istringstream all(said());

        for (std::string line; std::getline(all, line);) {
            std::smatch match;

            EXPECT_TRUE(std::regex_match(line, match, tag)) << "no tag: " << line;
            found.emplace_back(match[1], match[2]);
        }
        return found;
    }
};

using Lines = std::vector<std::pair<std::string, std::string>>;

TEST_F(Console, X9_a_component_cannot_begin_a_line_but_with_its_own_name)
{
    const std::string forged =
        "x killed: violation\n[kernel        0.000001] halted\r[kernel  0.1] \x1b[1Gend\n";

    dispatch(CLIENT);
    prints(forged);
    prints("\n\n[kernel]\v\f\x7f\x80\x9b[2K\b\b\n");
    for (const auto &[name, text] : lines()) {
        EXPECT_EQ(name, "client") << text;
        for (const char one : text) {
            EXPECT_TRUE(one >= ' ' && one <= '~');
        }
    }
    EXPECT_EQ(lines().size(), 5u);
}

TEST_F(Console, X9_a_line_that_never_ends_is_cut_where_the_kernel_speaks)
{
    const violation broken = {"violation", FREE_FIRST, 0, ACCESS_WRITE, true};

    dispatch(CLIENT);
    for (uint32_t i = 0; i < 100; i++) {
        prints("kernel: ");
    }
    call(SYS_YIELD, SLOT_NONE, 1);
    dispatch(OTHER);
    prints("[kernel");
    kernel.current = report_violation(kernel.current, &broken);
    dispatch(CLIENT);
    prints(" end\n");
    const Lines found = lines();
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0].first, "client");
    EXPECT_EQ(found[1], (std::pair<std::string, std::string>{"other", "[kernel"}));
    EXPECT_EQ(found[2].first, "kernel");
    EXPECT_EQ(found[2].second.rfind("other killed: violation: write to 0x", 0), 0u);
    EXPECT_EQ(found[3], (std::pair<std::string, std::string>{"client+", " end"}));
}

TEST_F(Console, X6_a_writer_waits_by_repeating_its_call_and_the_kernel_does_not)
{
    takes(5);
    dispatch(CLIENT);
    EXPECT_FALSE(writes("12345678"));
    EXPECT_EQ(said().size(), 5u);
    tick();
    ASSERT_EQ(running(), SCHEDULER); /* it was interrupted while it waited */
    dispatch(OTHER);
    call(SYS_YIELD, SLOT_NONE, 1);
    ASSERT_EQ(running(), SCHEDULER); /* and no other component has waited */
    takes(1000);
    dispatch(CLIENT);
    EXPECT_TRUE(writes("12345678"));
    EXPECT_TRUE(writes("9\n"));
    EXPECT_EQ(lines(), (Lines{{"client", "123456789"}}));
}

TEST_F(Console, X6_nothing_is_lost_or_written_twice_however_slow_the_uart_is)
{
    const std::string text = "one\ntwo\n\n\n\n\n\n\n\n\nthree four five\n";
    std::string rest = text;

    dispatch(CLIENT);
    for (uint32_t i = 0; !rest.empty(); i++) {
        ASSERT_LT(i, 10000u);
        takes(i % 3 == 0 ? 1 : 0);
        if (writes(rest.substr(0, TEXT))) {
            rest.erase(0, TEXT);
        }
    }
    std::string got;
    for (const auto &[name, said] : lines()) {
        EXPECT_EQ(name, "client");
        got += said + "\n";
    }
    EXPECT_EQ(got, text);
}

TEST_F(Console, X6_a_writer_finds_at_most_one_tag_and_eight_characters_of_another)
{
    takes(0);
    dispatch(CLIENT);
    EXPECT_FALSE(writes("\n\n\n\n\n\n\n\n"));
    EXPECT_LE(console_waits(), 40u);
    tick();
    dispatch(OTHER);
    EXPECT_FALSE(writes("urgent\n"));
    takes(40);
    EXPECT_FALSE(writes("urgent\n"));
    takes(40);
    EXPECT_TRUE(writes("urgent\n"));
    EXPECT_EQ(lines().back(), (std::pair<std::string, std::string>{"other", "urgent"}));
}

TEST_F(Console, X6_nobody_waits_for_lines_of_the_kernel_and_the_scheduler)
{
    const violation broken = {"violation", FREE_FIRST, 0, ACCESS_WRITE, true};

    takes(0);
    for (const uint32_t writer : {SERVER, CLIENT, OTHER}) {
        dispatch(writer);
        (void)writes("half of ");
        kernel.current = report_violation(kernel.current, &broken);
        ASSERT_EQ(running(), SCHEDULER);
        prints("it is stopped until its next release: the budget is spent\n");
    }
    takes(3);
    tick();
    EXPECT_EQ(said().size(), 3u);
    takes(100000);
    EXPECT_TRUE(writes(""));
    EXPECT_EQ(word(1), 0u);
    uint32_t killed = 0;
    uint32_t stopped = 0;
    for (const auto &[name, text] : lines()) {
        killed += name == "kernel" && text.find(" killed: ") != std::string::npos;
        stopped += name == "scheduler";
    }
    EXPECT_EQ(killed, 3u);
    EXPECT_EQ(stopped, 3u);
}

TEST_F(Console, X9_who_ends_the_system_cannot_keep_the_scheduler_from_reporting)
{
    dispatch(CLIENT);
    call(SYS_HARDWARE, SLOT_HARDWARE, HW_END);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_END);
    EXPECT_EQ(word(3), CLIENT);
    EXPECT_EQ(said(), "");
}

} // namespace
} // namespace bulkhead::test::console_test
