// SPDX-License-Identifier: Apache-2.0
// The context of instrumented code: an address space, a core, and handlers for accesses that cannot be made.
// The code that puts a program on a fiber fills one in and enters it there; it stays with the fiber across
// switches (bulkhead_fiber_word). The runtime behind the callbacks (callbacks.cpp) reads it on every access.
#pragma once

#include <optional>
#include <string_view>

#include "machine/core.h"
#include "machine/program/program_text.h"
#include "machine/program/window.h"

namespace bulkhead::machine {

// An access that the window does not allow.
struct fault {
    std::uint64_t address = 0;        // host address
    std::optional<std::uint64_t> ipa; // nothing: outside of the window and of the annexes that stand for its
                                      // pages
    access_kind kind = access_kind::read;
    std::uint32_t bytes = 0; // 0: unknown
    std::uint64_t code = 0;  // host address in the program: of the access, or after the call before it
    bool on_stack = false;   // the stack overflowed: the program cannot continue
};

class fault_handler {
public:
    // Called on the program's fiber, before the access; may switch fibers. Returns if the access is to be
    // repeated; otherwise it does not return (leave_program, or another fiber for good).
    virtual void resolve(const fault &what) = 0;

protected:
    ~fault_handler() = default;
};

// Adds the translation time of accesses that `execution::pages` does not allow directly.
class page_translator {
public:
    // Called on the program's fiber, before the access; may switch fibers. The window allows the access.
    // True: time has passed, and everything must be checked again; false: the access can be made now. `code`:
    // as in fault.
    virtual bool translate(std::uint64_t address, std::uint64_t ipa, access_kind kind,
                           std::uint64_t code) = 0;

    // The physical address of code at an IPA whose line is fetched; time may pass. Nothing: it is not mapped.
    virtual std::optional<phys_addr> translate_code(std::uint64_t ipa) = 0;

protected:
    ~page_translator() = default;
};

struct execution {
    // Pages that are accessed without a call: all of `space`, or, with a translator, those that it allows.
    page_view pages;
    core *on = nullptr;
    const window *space = nullptr;
    fault_handler *faults = nullptr;
    page_translator *translator = nullptr; // null: translation takes no time
    std::shared_ptr<program_text> text;    // null: instruction fetches are not modelled
    // Host memory that the program may access at no cost: its stack, if that is not in an annex.
    std::uint64_t free_first = 0;
    std::uint64_t free_bytes = 0;

    void see(const window &what)
    {
        space = &what;
        pages = what.view();
    }
    // The same with a translator `who`, which is called for all pages that `known` does not allow.
    void see(const window &what, page_translator &who, const page_view &known)
    {
        space = &what;
        translator = &who;
        pages = known;
    }
};

// The execution of the running fiber; null: none.
[[nodiscard]] inline execution *current_execution()
{
    return static_cast<execution *>(bulkhead_fiber_word);
}
inline void enter_execution(execution *what)
{
    bulkhead_fiber_word = what;
}

// Calls a function of an image on its own stack, and returns its result or the value of leave_program().
// `*left` is the argument for leave_program(), valid until this function returns.
std::uint64_t call_program(const void *function, std::uint64_t first, std::uint64_t second,
                           std::byte *stack_top, void **left);
[[noreturn]] void leave_program(void *left, std::uint64_t value);

// Accesses that are not instrumented (constant tables, spills, inlined copies) reach the window without a
// callback. From this call on their faults also go to the execution's fault_handler instead of ending the
// process. Other faults are handled as before.
void catch_faults();

// Functions that an image may need: callbacks of the compiler, budget, memcpy and similar ones. A
// symbol_table.
const void *runtime_symbol(std::string_view name);

// Makes an access like a callback: checks it, then charges its time. For calls that access the program's
// memory on its behalf.
void touch(std::uint64_t address, std::uint64_t bytes, access_kind kind);

} // namespace bulkhead::machine
