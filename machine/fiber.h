// SPDX-License-Identifier: Apache-2.0
// Threads of control that the machine switches itself: a stack and the point where execution continues.
// Everything on a simulated core runs on a fiber; the engine has one more, the host thread's own stack.
// Switching is symmetrical and takes some nanoseconds; it must never happen inside a signal handler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "machine/types.h"

// A word that belongs to the running fiber and is preserved across switches: the code on the fiber finds its
// context there.
extern "C" void *bulkhead_fiber_word;

namespace bulkhead::machine {

class fiber {
public:
    // The function that runs on the fiber. When it returns, the fiber has ended and is never resumed; the
    // fiber that it returned runs next.
    using body = std::function<fiber &()>;

    static constexpr byte_count default_stack{256 * 1024};

    // Represents the host thread's own stack, which is running.
    fiber() = default;
    // Creates a fiber that starts when it is first switched to. Its stack ends in a guard page. A fiber that
    // is destroyed before its body has returned is not unwound: resources that its stack frames own are
    // leaked.
    explicit fiber(body what, byte_count stack = default_stack);
    ~fiber();
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;

    // Switches from the running fiber, which must be *this, to another one; returns when a fiber switches
    // back.
    void switch_to(fiber &next);

    [[nodiscard]] bool ended() const { return ended_; }

private:
    struct stack_memory {
        std::byte *lowest = nullptr;
        std::size_t bytes = 0;
    };

    static void run(fiber *self);
    void arrived();

    void *resume_at_ = nullptr; // stack pointer
    void *word_ = nullptr;      // saved bulkhead_fiber_word, while other fibers run
    stack_memory stack_;
    body body_;
    bool ended_ = false;
    fiber *came_from_ = nullptr;
    // State for the address sanitizer, if it is built in.
    void *fake_stack_ = nullptr;
    const void *sanitizer_bottom_ = nullptr;
    std::size_t sanitizer_bytes_ = 0;
};

} // namespace bulkhead::machine
