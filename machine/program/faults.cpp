// SPDX-License-Identifier: Apache-2.0
// Faulting accesses of programs that made no callback before. The signal handler only redirects the program,
// on its own stack, to a function that calls the execution's fault_handler and repeats the access; a signal
// handler itself must never switch fibers. Faults outside of programs go to the previous signal handler.
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <ucontext.h>

#include "machine/program/execution.h"

extern "C" {
std::uint64_t bulkhead_program_call(const void *function, std::uint64_t first, std::uint64_t second,
                                    std::byte *stack_top, void **left);
[[noreturn]] void bulkhead_program_leave(void *left, std::uint64_t value);
void bulkhead_program_trap();
void bulkhead_program_trapped(std::uint64_t code);
}

namespace bulkhead::machine {

namespace {

constexpr std::size_t stack_bytes = 128 * 1024;

// The kernel calls the handler on the first; if the program's own stack is full, the report is made on the
// second.
alignas(16) std::array<std::byte, stack_bytes> signal_stack;
alignas(16) std::array<std::byte, stack_bytes> last_stack;

struct sigaction before_segv;
struct sigaction before_bus;

// Describes the fault that was redirected last; bulkhead_program_trapped takes it before anything else runs.
fault sent;

// A program's stack has overflowed if the failed access is just beyond its end.
constexpr std::uint64_t near_stack_bytes = 4096;

bool is_programs(const execution *here, std::uint64_t address, std::uint64_t code)
{
    if (here == nullptr || here->space == nullptr || here->faults == nullptr) {
        return false;
    }
    const page_view &pages = here->space->view();
    const std::uint64_t bytes = pages.pages * page_bytes;
    return address - pages.low < bytes || code - pages.low < bytes;
}

void forward(int signal, siginfo_t *info, void *context)
{
    const struct sigaction &before = signal == SIGSEGV ? before_segv : before_bus;
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
        before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else {
        sigaction(signal, &before, nullptr); // the access fails once more, without the handler
    }
}

void handle(int signal, siginfo_t *info, void *context)
{
    execution *here = current_execution();
    auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    const auto code = static_cast<std::uint64_t>(registers[REG_RIP]);
    const auto stack = static_cast<std::uint64_t>(registers[REG_RSP]);
    const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (!is_programs(here, address, code)) {
        forward(signal, info, context);
        return;
    }
    constexpr std::uint64_t page_fault = 14;
    constexpr std::uint64_t was_write = 2;
    const bool known = static_cast<std::uint64_t>(registers[REG_TRAPNO]) == page_fault;
    const bool write = (static_cast<std::uint64_t>(registers[REG_ERR]) & was_write) != 0;
    const bool full = known && address - (stack - near_stack_bytes) < 2 * near_stack_bytes;
    sent = {address, std::nullopt, write ? access_kind::write : access_kind::read, 0, code, full};
    std::uint64_t top = stack;
    if (full) {
        top = reinterpret_cast<std::uint64_t>(last_stack.data() + last_stack.size());
    }
    top -= sizeof(code);
    std::memcpy(reinterpret_cast<void *>(top), &code, sizeof(code));
    registers[REG_RSP] = static_cast<greg_t>(top);
    registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uint64_t>(&bulkhead_program_trap));
}

} // namespace

void catch_faults()
{
    stack_t stack{};
    stack.ss_sp = signal_stack.data();
    stack.ss_size = signal_stack.size();
    sigaltstack(&stack, nullptr);
    struct sigaction now {};
    now.sa_sigaction = handle;
    now.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&now.sa_mask);
    struct sigaction old {};
    sigaction(SIGSEGV, &now, &old);
    if (old.sa_sigaction != handle) {
        before_segv = old;
    }
    sigaction(SIGBUS, &now, &old);
    if (old.sa_sigaction != handle) {
        before_bus = old;
    }
}

std::uint64_t call_program(const void *function, std::uint64_t first, std::uint64_t second,
                           std::byte *stack_top, void **left)
{
    return bulkhead_program_call(function, first, second, stack_top, left);
}

void leave_program(void *left, std::uint64_t value)
{
    bulkhead_program_leave(left, value);
}

} // namespace bulkhead::machine

using namespace bulkhead::machine;

void bulkhead_program_trapped(std::uint64_t code)
{
    fault what = sent;
    what.code = code;
    execution &here = *current_execution();
    what.ipa = here.space->ipa_of(what.address);
    here.faults->resolve(what);
    if (what.on_stack) {
        std::abort(); // the handler has returned, but no stack is left to continue on
    }
}
