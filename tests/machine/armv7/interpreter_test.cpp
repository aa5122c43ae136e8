// SPDX-License-Identifier: Apache-2.0
// How the interpreter executes: state at faults and between instructions, changes of code, interrupts and
// time. The results of instructions are compared with an emulator (test_against_emulator.py).
#include "machine/armv7/interpreter.h"

#include <gtest/gtest.h>

#include <random>

#include "machine/armv7/flat_profile.h"
#include "tests/machine/machine_make.h"

namespace bulkhead::machine::armv7::interpreter_test {
namespace {

using event = flat_profile::event;

constexpr std::uint32_t base = 0x10000;
constexpr std::uint32_t memory_bytes = 0x20000;
constexpr std::uint32_t data_at = base + 0x10000;
constexpr std::uint32_t end_of_memory = base + memory_bytes;
constexpr std::uint32_t line = 64;

class interpreting : public testing::Test {
protected:
    // `what` runs on a core with an L1I of two ways and 32 KiB.
    void on_core(const std::function<void()> &what)
    {
        settings hardware = test::small_machine(1);
        hardware.cores[0].l1i = {
            .size_bytes = 32 * 1024, .ways = 2, .line_bytes = line, .policy = replacement::lru};
        whole = test::make_machine(hardware);
        whole->core_at({0}).start([&](core &on) {
            own = &on;
            system = std::make_unique<flat_profile>(on, state, has, base, memory_bytes);
            cpu = std::make_unique<interpreter>(on, state, *system);
            state.r[pc] = base;
            state.thumb = true;
            what();
            cpu.reset();
        });
        whole->timeline().run(test::for_ever);
    }
    void put(std::uint32_t address, std::initializer_list<std::uint16_t> halfwords)
    {
        for (const std::uint16_t each : halfwords) {
            std::memcpy(&system->memory()[address - base], &each, sizeof each);
            address += 2;
        }
    }
    void put_word(std::uint32_t address, std::uint32_t word)
    {
        std::memcpy(&system->memory()[address - base], &word, sizeof word);
    }
    std::uint32_t word_at(std::uint32_t address) const
    {
        std::uint32_t word = 0;
        std::memcpy(&word, &system->memory()[address - base], sizeof word);
        return word;
    }
    // Executes until an event.
    event run_on()
    {
        system->go_on();
        cpu->run();
        return system->last();
    }

    features has{.m_profile = false, .divide_thumb = true, .divide_arm = true};
    registers state;
    core *own = nullptr;
    std::unique_ptr<simulated_machine> whole;
    std::unique_ptr<flat_profile> system;
    std::unique_ptr<interpreter> cpu;
};

TEST_F(interpreting, a_fault_in_an_it_block_reports_its_place_in_it_and_goes_on_there)
{
    on_core([this] {
        // movs r0, #0; cmp r0, #0; itet eq; moveq r1, #1; movne r1, #2; ldreq r2, [r3]; svc #1
        put(base, {0x2000, 0x2800, 0xBF0A, 0x2101, 0x2102, 0x681A, 0xDF01});
        state.r[3] = end_of_memory;
        EXPECT_EQ(run_on(), event::fault);
        EXPECT_EQ(state.r[pc], base + 10);
        EXPECT_EQ(state.it, 0x08) << "EQ, the last of three";
        EXPECT_EQ(state.r[1], 1U);
        state.r[3] = data_at;
        put_word(data_at, 0x1234);
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[2], 0x1234U);
        EXPECT_EQ(state.it, 0);
        EXPECT_EQ(cpu->executed(), 7U)
            << "an instruction that its condition stops counts, an abandoned one does not";
    });
}

TEST_F(interpreting, multiple_accesses_that_fault_leave_all_registers_as_they_were)
{
    on_core([this] {
        put(base, {0xC81E, 0xDF02});             // ldmia r0!, {r1-r4}; svc #2
        put(base + 8, {0xE920, 0x001E, 0xDF02}); // stmdb r0!, {r1-r4}; svc #2
        state.r[0] = end_of_memory - 8;
        state.r[1] = 77;
        EXPECT_EQ(run_on(), event::fault);
        EXPECT_EQ(system->detail(), end_of_memory);
        EXPECT_EQ(state.r[0], end_of_memory - 8);
        EXPECT_EQ(state.r[1], 77U);
        EXPECT_EQ(state.r[pc], base);
        state.r[pc] = base + 8;
        state.r[0] = base + 8;
        EXPECT_EQ(run_on(), event::fault) << "below the memory";
        EXPECT_EQ(state.r[0], base + 8);
        EXPECT_EQ(state.r[pc], base + 8);
        state.r[0] = data_at + 2;
        EXPECT_EQ(run_on(), event::fault) << "not aligned";
    });
}

TEST_F(interpreting, a_pop_of_the_pc_changes_the_instruction_set)
{
    on_core([this] {
        put(base, {0xBD02});             // pop {r1, pc}
        put_word(base + 16, 0xE3A02007); // mov r2, #7
        put_word(base + 20, 0xEF000003); // svc #3
        state.r[sp] = data_at;
        put_word(data_at, 5);
        put_word(data_at + 4, base + 16);
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_FALSE(state.thumb);
        EXPECT_EQ(state.r[1], 5U);
        EXPECT_EQ(state.r[2], 7U);
        EXPECT_EQ(state.r[sp], data_at + 8);
    });
}

TEST_F(interpreting, on_v7m_a_popped_exc_return_goes_to_the_profile_with_the_pop_done)
{
    has.m_profile = true;
    on_core([this] {
        put(base, {0xBD02}); // pop {r1, pc}
        state.r[sp] = data_at;
        put_word(data_at, 5);
        put_word(data_at + 4, 0xFFFFFFF9);
        EXPECT_EQ(run_on(), event::exception_return);
        EXPECT_EQ(system->detail(), 0xFFFFFFF9U);
        EXPECT_EQ(state.r[1], 5U);
        EXPECT_EQ(state.r[sp], data_at + 8);
    });
}

TEST_F(interpreting, on_v7m_there_is_no_other_instruction_set)
{
    has.m_profile = true;
    on_core([this] {
        put(base, {0x4700}); // bx r0
        state.r[0] = base + 16;
        EXPECT_EQ(run_on(), event::undefined);
        EXPECT_EQ(state.r[pc], base + 16) << "the instruction behind the branch faults";
    });
}

TEST_F(interpreting, a_store_to_code_is_seen_by_the_next_instruction)
{
    on_core([this] {
        put(base, {0x8001, 0x2201, 0xDF03}); // strh r1, [r0]; movs r2, #1; svc #3
        state.r[0] = base + 2;
        state.r[1] = 0x2209; // movs r2, #9
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[2], 9U);
        EXPECT_EQ(cpu->blocks_decoded(), 2U);
        state.r[0] = data_at;
        state.r[pc] = base;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(cpu->blocks_decoded(), 3U) << "the block before was ended, this store ends none";
    });
}

TEST_F(interpreting, exclusive_stores_need_the_monitor_open)
{
    on_core([this] {
        // ldrex r1, [r0]; adds r1, #1; strex r2, r1, [r0]; strex r3, r1, [r0]; svc #6
        put(base, {0xE850, 0x1F00, 0x3101, 0xE840, 0x1200, 0xE840, 0x1300, 0xDF06});
        state.r[0] = data_at;
        put_word(data_at, 41);
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[2], 0U);
        EXPECT_EQ(state.r[3], 1U);
        EXPECT_EQ(word_at(data_at), 42U);

        state.r[pc] = base;
        (void)cpu->run(2);
        cpu->clear_exclusive(); // an exception came between
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[2], 1U);
        EXPECT_EQ(word_at(data_at), 42U);

        state.r[0] = data_at + 2;
        state.r[pc] = base + 6;
        EXPECT_EQ(run_on(), event::fault) << "whether the monitor is open or not";
    });
}

TEST_F(interpreting, what_is_not_implemented_is_reported_once_and_undefined)
{
    on_core([this] {
        put(base, {0xEE30, 0x0A81, 0xEE30, 0x0A81}); // vadd.f32 s0, s1, s2
        EXPECT_EQ(run_on(), event::undefined);
        EXPECT_EQ(system->detail(), 0xEE300A81U);
        EXPECT_EQ(state.r[pc], base);
        state.r[pc] = base + 4;
        EXPECT_EQ(run_on(), event::undefined);
        EXPECT_EQ(system->missing(), std::vector<std::string>{"floating point"});
    });
}

TEST_F(interpreting, returns_from_exceptions_are_undefined_without_an_spsr)
{
    on_core([this] {
        state.thumb = false;
        // ldm sp, {r0, pc}^; movs pc, lr; srsdb sp!, #19; rfeia sp!
        const std::uint32_t words[] = {0xE8DD8001, 0xE1B0F00E, 0xF96D0513, 0xF8BD0A00};
        state.r[sp] = data_at;
        for (const std::uint32_t each : words) {
            put_word(base, each);
            cpu->forget_code();
            state.r[pc] = base;
            EXPECT_EQ(run_on(), event::undefined) << std::hex << each;
            EXPECT_EQ(state.r[sp], data_at);
        }
    });
}

TEST_F(interpreting, branches_go_where_they_should)
{
    on_core([this] {
        put(base,
            {0xE8DF, 0xF000, 0x0402, 0xBF00, 0x2107, 0xDF01, 0x2109, 0xDF01}); // tbb [pc, r0], with 2 and 4
        state.r[0] = 1;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[1], 9U);
        put(base + 0x100, {0xB108, 0x2101, 0xDF01, 0x2102, 0xDF01}); // cbz r0
        for (std::uint32_t i = 0; i < 2; ++i) {
            state.r[pc] = base + 0x100;
            state.r[0] = i;
            EXPECT_EQ(run_on(), event::svc);
            EXPECT_EQ(state.r[1], 2 - i);
        }
        put(base + 0x200, {0xF000, 0xE802, 0xDF09}); // blx to A32
        put_word(base + 0x208, 0xE3A01006);          // mov r1, #6
        put_word(base + 0x20C, 0xE12FFF1E);          // bx lr
        state.r[pc] = base + 0x200;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(system->detail(), 9U);
        EXPECT_EQ(state.r[1], 6U);
        EXPECT_TRUE(state.thumb);
        EXPECT_EQ(state.r[lr], base + 0x205);
    });
}

TEST_F(interpreting, code_outside_of_memory_faults)
{
    on_core([this] {
        put(end_of_memory - 2, {0xF000}); // the first half of a bl
        state.r[pc] = end_of_memory - 2;
        EXPECT_EQ(run_on(), event::fault);
        EXPECT_EQ(system->detail(), end_of_memory) << "of the second half";
        EXPECT_EQ(state.r[pc], end_of_memory - 2);
    });
}

TEST_F(interpreting, the_profile_is_asked_again_after_a_change_and_for_each_privilege)
{
    on_core([this] {
        put(base, {0xDF01}); // svc #1
        const auto again = [this] {
            state.r[pc] = base;
            (void)run_on();
            return system->fetched();
        };
        EXPECT_EQ(again(), 1U);
        EXPECT_EQ(again(), 1U);
        cpu->set_privileged(false);
        EXPECT_EQ(again(), 2U);
        cpu->set_privileged(true);
        EXPECT_EQ(again(), 2U);
        cpu->translation_changed();
        EXPECT_EQ(again(), 3U);
        EXPECT_EQ(cpu->blocks_decoded(), 1U) << "the code is the same";
    });
}

TEST_F(interpreting, code_whose_fetch_ends_what_was_said_before_executes_all_the_same)
{
    on_core([this] {
        system->set_forgetful(true);
        put(base, {0x3801, 0xD1FD, 0xDF04}); // 1: subs r0, #1; bne 1b; svc #4
        state.r[0] = 5;
        EXPECT_LE(cpu->run(100), 11U);
        EXPECT_EQ(system->last(), event::svc);
        EXPECT_GE(system->fetched(), 6U) << "once for each block that executes";
        EXPECT_EQ(cpu->blocks_decoded(), 2U);
    });
}

TEST_F(interpreting, a_loop_without_accesses_is_interrupted_at_its_time)
{
    on_core([this] {
        put(base, {0x3801, 0xD1FD, 0xDF04}); // 1: subs r0, #1; bne 1b; svc #4
        state.r[0] = 1;
        (void)run_on(); // the line is in the cache
        const picoseconds start = own->clock();
        constexpr std::uint64_t instruction_ps = 833;
        own->signal(start + picoseconds{1000 * instruction_ps});
        state.r[pc] = base;
        state.r[0] = 100'000;
        while (system->attended() == 0) {
            (void)cpu->run(1);
            ASSERT_LT(cpu->executed(), 10'000U);
        }
        EXPECT_NEAR(static_cast<double>((own->clock() - start).value), 1000 * instruction_ps,
                    2.0 * instruction_ps);
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(state.r[0], 0U);
        EXPECT_EQ(system->attended(), 1U);
    });
}

TEST_F(interpreting, lines_of_code_come_through_l1i_once)
{
    on_core([this] {
        put(base + line - 6,
            {0x3801, 0xF040, 0x8000, 0xD1FB, 0xDF04}); // subs; bne.w +0 over the line's end; bne; svc
        state.r[pc] = base + line - 6;
        state.r[0] = 100;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(own->count_of(core_event::l1i_refill), 2U);
        // Two other lines of the same sets evict them.
        constexpr std::uint32_t way = 16 * 1024;
        for (const std::uint32_t other : {1U, 2U}) {
            put(base + other * way, {0xDF05});
            put(base + other * way + line, {0xDF05});
            for (const std::uint32_t at : {0U, line}) {
                state.r[pc] = base + other * way + at;
                (void)run_on();
            }
        }
        const std::uint64_t before = own->count_of(core_event::l1i_refill);
        state.r[pc] = base + line - 6;
        state.r[0] = 100;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(own->count_of(core_event::l1i_refill), before + 2);
        EXPECT_EQ(before, 6U);
    });
}

TEST_F(interpreting, code_that_no_cache_serves_is_read_line_by_line)
{
    on_core([this] {
        system->set_code_cached(false);
        put(base, {0x3801, 0xD1FD, 0xDF04}); // subs; bne; svc
        state.r[0] = 10;
        EXPECT_EQ(run_on(), event::svc);
        EXPECT_EQ(own->count_of(core_event::l1i_refill), 0U);
        EXPECT_EQ(own->count_of(core_event::memory_access), 11U)
            << "ten turns of the loop, and what is behind it";
    });
}

TEST_F(interpreting, a_core_waits_for_loads_whose_value_is_an_address_soon)
{
    on_core([this] {
        put(base, {0x6800, 0x3901, 0xD1FC, 0xDF05});        // 1: ldr r0, [r0]; subs r1, #1; bne 1b; svc
        put(base + line, {0x6802, 0x3901, 0xD1FC, 0xDF05}); // the same into r2
        put_word(data_at, data_at);
        const auto time_of = [this](std::uint32_t code) {
            std::uint64_t before = 0;
            for (const std::uint32_t turns : {1U, 100U}) { // the first for lines
                before = own->clock().value;
                state.r[pc] = code;
                state.r[0] = data_at;
                state.r[1] = turns;
                (void)run_on();
            }
            return own->clock().value - before;
        };
        const std::uint64_t chased = time_of(base);
        const std::uint64_t independent = time_of(base + line);
        constexpr double load_use_ps = 2 * 833;
        EXPECT_NEAR(static_cast<double>(chased - independent), 100 * load_use_ps, load_use_ps);
    });
}

TEST_F(interpreting, each_cycle_moves_so_many_words_as_the_core_can)
{
    has.words_per_cycle = 2;
    on_core([this] {
        put(base, {0xE890, 0x5FFE, 0xDF02});        // ldm r0, {r1-r12, lr}
        put(base + line, {0xE890, 0x0006, 0xDF02}); // ldm r0, {r1, r2}
        const auto time_of = [this](std::uint32_t code) {
            for (const bool measured : {false, true}) {
                state.r[0] = data_at;
                state.r[pc] = code;
                const std::uint64_t before = own->clock().value;
                (void)run_on();
                if (measured) {
                    return own->clock().value - before;
                }
            }
            return std::uint64_t{0};
        };
        constexpr double cycle_ps = 833;
        EXPECT_NEAR(static_cast<double>(time_of(base) - time_of(base + line)), 6 * cycle_ps, 10);
    });
}

// For any words a run ends in an event or at its limit, within the machine's memory.
TEST_F(interpreting, random_code_executes_or_is_undefined)
{
    for (const bool v7m : {true, false}) {
        has.m_profile = v7m;
        on_core([&] {
            std::mt19937 random(9);
            for (std::uint8_t &each : system->memory()) {
                each = static_cast<std::uint8_t>(random());
            }
            state = {};
            std::array<std::uint32_t, 6> events{};
            for (std::uint32_t i = 0; i < 3000; ++i) {
                for (std::uint32_t number = 0; number < pc; ++number) {
                    state.r[number] = random() % 2 == 0
                                          ? data_at + static_cast<std::uint32_t>(random() % 4096)
                                          : static_cast<std::uint32_t>(random());
                }
                state.thumb = v7m || random() % 2 == 0;
                state.it = 0;
                state.r[pc] = base + static_cast<std::uint32_t>(random() % memory_bytes / 4 * 4);
                system->go_on();
                (void)cpu->run(20);
                ++events[static_cast<std::size_t>(system->last())];
                if (system->last() != event::none) {
                    EXPECT_TRUE(state.it == 0 || state.thumb);
                }
            }
            EXPECT_GT(events[static_cast<std::size_t>(event::undefined)], 100U);
            EXPECT_GT(events[static_cast<std::size_t>(event::fault)], 100U);
            EXPECT_GT(cpu->executed(), 3000U);
        });
    }
}

// A property: cutting a run into pieces changes nothing.
TEST_F(interpreting, registers_and_time_are_the_same_for_any_cut)
{
    std::array<std::uint32_t, 16> expected{};
    std::uint64_t expected_ps = 0;
    for (const std::uint64_t piece : {1'000'000U, 1U, 7U}) {
        on_core([&] {
            // 1: ldr r2, [r1]; adds r2, r0; str r2, [r1], #4; subs r0, #1; it ne; bne.n 1b; svc
            put(base, {0x680A, 0x1812, 0xF841, 0x2B04, 0x3801, 0xBF18, 0xE7F8, 0xDF05});
            state = {};
            state.thumb = true;
            state.r[pc] = base;
            state.r[0] = 300;
            state.r[1] = data_at;
            system->go_on();
            while (system->last() != event::svc) {
                (void)cpu->run(piece);
            }
            if (expected_ps == 0) {
                expected = state.r;
                expected_ps = own->clock().value;
                EXPECT_EQ(cpu->executed(), 1801U);
            }
            EXPECT_EQ(state.r, expected);
            EXPECT_EQ(own->clock().value, expected_ps);
        });
    }
}

} // namespace
} // namespace bulkhead::machine::armv7::interpreter_test
