/* SPDX-License-Identifier: Apache-2.0
 *
 * Invocation, dispatch and the end of components (X6): the kernel only switches.
 */
#include "tests/microkernel/kernel_world.h"

extern "C" {
#include "microkernel/kernel/report.h"
}

namespace bulkhead::test::calls_test {
namespace {

class Calls : public KernelTest {
protected:
    Calls()
    {
        start();
        dispatch(SERVER);
        call(SYS_REPLY_WAIT, SLOT_SERVE);
        EXPECT_EQ(word(1), EVENT_WAITS);
    }

    void dispatch(uint32_t thread)
    {
        ASSERT_EQ(running(), SCHEDULER);
        call(SYS_DISPATCH, SLOT_THREADS + thread);
    }

    void tick() { kernel.current = kernel_tick(kernel.current); }

    void kill_running()
    {
        const violation violation = {"violation", FREE_FIRST, 0x1234, ACCESS_WRITE, true};

        kernel.current = report_violation(kernel.current, &violation);
    }
};

TEST_F(Calls, X6_a_message_reaches_the_server_with_the_badge_and_comes_back)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS, 1, 2, 3);
    ASSERT_EQ(running(), SERVER);
    EXPECT_EQ(word(0) >> BADGE_SHIFT, CLIENT);
    EXPECT_EQ(word(1) + 10 * word(2) + 100 * word(3), 321u);
    call(SYS_REPLY_WAIT, SLOT_SERVE, 7, 8, 9);
    ASSERT_EQ(running(), CLIENT);
    EXPECT_EQ(word(0), SYS_OK);
    EXPECT_EQ(word(1) + 10 * word(2) + 100 * word(3), 987u);
}

TEST_F(Calls, X6_a_tick_tells_the_scheduler_whom_it_had_dispatched_not_the_server)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS);
    tick();
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_TICK);
    EXPECT_EQ(word(2), CLIENT);
    dispatch(CLIENT);
    EXPECT_EQ(running(), SERVER);
}

TEST_F(Calls, X6_a_second_caller_helps_the_first_one)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS, 1);
    tick();
    dispatch(OTHER);
    ASSERT_EQ(running(), OTHER);
    call(SYS_CALL, SLOT_CALLS, 2);
    ASSERT_EQ(running(), SERVER);
    EXPECT_EQ(kernel.thread[OTHER].context.calls_again, 1u);
    call(SYS_REPLY_WAIT, SLOT_SERVE);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_SERVED);
    EXPECT_EQ(word(2), OTHER);
    dispatch(OTHER);
    call(SYS_CALL, SLOT_CALLS, 2);
    ASSERT_EQ(running(), SERVER);
    EXPECT_EQ(word(0) >> BADGE_SHIFT, OTHER);
}

TEST_F(Calls, X6_a_server_that_calls_its_caller_s_chain_gets_an_error)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS);
    ASSERT_EQ(running(), SERVER);
    call(SYS_CALL, SLOT_SERVE);
    ASSERT_EQ(running(), SERVER);
    EXPECT_EQ(word(0), SYS_EDEADLOCK);
}

TEST_F(Calls, X6_ticks_while_the_scheduler_runs_are_told_at_the_next_dispatch)
{
    tick();
    tick();
    ASSERT_EQ(running(), SCHEDULER);
    dispatch(CLIENT);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_TICK);
    EXPECT_EQ(word(3), 2u);
    call(SYS_DISPATCH, SLOT_NONE);
    EXPECT_EQ(word(1), EVENT_NONE);
}

TEST_F(Calls, X6_a_violation_kills_its_component_and_nothing_else)
{
    dispatch(CLIENT);
    kill_running();
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_KILLED);
    EXPECT_EQ(word(3), CLIENT);
    EXPECT_EQ(said(), "kernel: client killed: violation: write to 0x10002800 by 0x00001234; range none, "
                      "unmapped memory\n");
    dispatch(OTHER);
    EXPECT_EQ(running(), OTHER);
    call(SYS_CALL, SLOT_CALLS);
    EXPECT_EQ(running(), SERVER);
}

TEST_F(Calls, X6_who_waits_for_a_killed_server_gets_an_error)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS);
    kill_running();
    ASSERT_EQ(running(), SCHEDULER);
    dispatch(CLIENT);
    ASSERT_EQ(running(), CLIENT);
    EXPECT_EQ(word(0), SYS_EDEAD);
    EXPECT_EQ(call(SYS_CALL, SLOT_CALLS), SYS_EDEAD);
}

TEST_F(Calls, X6_a_reply_to_a_killed_caller_goes_nowhere)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_CALLS);
    tick();
    kernel.component[CLIENT].is_dead = 1;
    thread_end(&kernel.thread[CLIENT]);
    dispatch(OTHER);
    call(SYS_CALL, SLOT_CALLS);
    ASSERT_EQ(running(), SERVER);
    call(SYS_REPLY_WAIT, SLOT_SERVE);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_SERVED);
}

TEST_F(Calls, X6_a_stack_pointer_outside_of_the_stack_kills_before_the_frame_is_used)
{
    dispatch(CLIENT);
    kernel.current->context.has_left_stack = true;
    call(SYS_CALL, SLOT_CALLS);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_KILLED);
    EXPECT_NE(said().find("stack pointer outside of the stack"), std::string::npos);
}

TEST_F(Calls, X6_a_tick_finds_a_stack_pointer_outside_of_the_stack)
{
    dispatch(CLIENT);
    kernel.current->context.has_left_stack = true;
    tick();
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_KILLED);
    EXPECT_NE(said().find("stack pointer outside of the stack"), std::string::npos);
}

TEST_F(Calls, X6_only_the_scheduler_dispatches)
{
    dispatch(CLIENT);
    EXPECT_EQ(call(SYS_DISPATCH, SLOT_NONE), SYS_ERIGHTS);
    ASSERT_EQ(running(), CLIENT);
    call(SYS_YIELD, SLOT_NONE, 5);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(word(1), EVENT_YIELD);
    EXPECT_EQ(word(3), 5u);
    EXPECT_EQ(call(SYS_YIELD, SLOT_NONE, 5), SYS_EINVAL);
}

TEST_F(Calls, X6_the_scheduler_s_own_call_survives_a_busy_manager)
{
    dispatch(CLIENT);
    call(SYS_CALL, SLOT_MANAGER);
    ASSERT_EQ(running(), MANAGER);
    tick();
    ASSERT_EQ(running(), SCHEDULER);
    call(SYS_CALL, SLOT_MANAGER, 42);
    ASSERT_EQ(running(), MANAGER);
    call(SYS_REPLY_WAIT, SLOT_SERVE);
    ASSERT_EQ(running(), SCHEDULER);
    EXPECT_EQ(kernel.scheduler->context.calls_again, 1u);
    EXPECT_EQ(word(0), SLOT_MANAGER); /* its registers are unchanged: it calls again */
    EXPECT_EQ(word(1), 42u);
}

} // namespace
} // namespace bulkhead::test::calls_test
