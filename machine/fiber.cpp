// SPDX-License-Identifier: Apache-2.0
// Stacks, and the entry to a fiber's body; the switch itself is in machine/fiber_switch/<processor>.S.
#include "machine/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "machine/fiber_sanitizer.h"

// Pushes the registers that the calling convention preserves, stores the stack pointer at `*from`, loads `to`
// into it, and pops.
extern "C" void bulkhead_fiber_switch(void **from, void *to);
// A new stack returns here: calls the prepared function with its argument.
extern "C" void bulkhead_fiber_start();
// Prepares a new stack so that the first switch to it starts `function(argument)`.
extern "C" void *bulkhead_fiber_prepare(void *top, void (*function)(void *), void *argument);

void *bulkhead_fiber_word = nullptr;

namespace bulkhead::machine {

fiber::fiber(body what, byte_count stack) : body_(std::move(what))
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    stack_.bytes = (stack.value + page - 1) / page * page + page;
    void *const memory = mmap(nullptr, stack_.bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
        throw std::bad_alloc();
    }
    stack_.lowest = static_cast<std::byte *>(memory);
    sanitizer_bottom_ = stack_.lowest + page;
    sanitizer_bytes_ = stack_.bytes - page;
    sanitizer::forget(sanitizer_bottom_, sanitizer_bytes_);
    resume_at_ = bulkhead_fiber_prepare(
        stack_.lowest + stack_.bytes, [](void *self) { run(static_cast<fiber *>(self)); }, this);
}

fiber::~fiber()
{
    if (stack_.lowest != nullptr) {
        munmap(stack_.lowest, stack_.bytes);
    }
}

void fiber::switch_to(fiber &next)
{
    if (&next == this) {
        return;
    }
    next.came_from_ = this;
    sanitizer::leave(ended_ ? nullptr : &fake_stack_, next.sanitizer_bottom_, next.sanitizer_bytes_);
    word_ = bulkhead_fiber_word;
    bulkhead_fiber_word = next.word_;
    bulkhead_fiber_switch(&resume_at_, next.resume_at_);
    arrived();
}

// The host thread's fiber learns where its own stack is when it is left for the first time.
void fiber::arrived()
{
    sanitizer::enter(fake_stack_, came_from_->sanitizer_bottom_, came_from_->sanitizer_bytes_);
}

void fiber::run(fiber *self)
{
    self->arrived();
    fiber &next = self->body_();
    self->ended_ = true;
    self->switch_to(next);
}

} // namespace bulkhead::machine
