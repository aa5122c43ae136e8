// SPDX-License-Identifier: Apache-2.0
// Threads of control that the machine switches between by itself: a stack and the place where to go on. All
// that runs on a simulated core runs on one; the engine has one more, the host thread's own. Switching is
// symmetrical and takes some nanoseconds; it must never happen inside a signal handler.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "machine/types.h"

// A word of the running fiber's own, which switching keeps: what runs on it finds its surroundings there.
extern "C" void *bulkhead_fiber_word;

namespace bulkhead::machine {

class fiber {
public:
    // What runs on it. The fiber that it returns goes on when it has ended, and it is never resumed again.
    using body = std::function<fiber &()>;

    static constexpr byte_count default_stack{256 * 1024};

    // The host thread's own stack: it is running.
    fiber() = default;
    // A new one, which starts when it is first switched to. Its stack ends in a guard page. A fiber that is
    // destroyed before its body has returned is not unwound: what its frames own is lost.
    explicit fiber(body what, byte_count stack = default_stack);
    ~fiber();
    fiber(const fiber &) = delete;
    fiber &operator=(const fiber &) = delete;

    // From the running fiber, which must be *this, to another one; returns when somebody switches back.
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
    void *word_ = nullptr;      // bulkhead_fiber_word, while others run
    stack_memory stack_;
    body body_;
    bool ended_ = false;
    fiber *came_from_ = nullptr;
    // What the address sanitizer wants to know, if it is there.
    void *fake_stack_ = nullptr;
    const void *sanitizer_bottom_ = nullptr;
    std::size_t sanitizer_bytes_ = 0;
};

} // namespace bulkhead::machine
