// SPDX-License-Identifier: Apache-2.0
// What instrumented code runs in: an address space, a core, and someone to ask about accesses that cannot be
// made. Whoever puts a program on a fiber fills one in and enters it there; switching fibers keeps it with
// its fiber (fiber::word). The runtime behind the callbacks (callbacks.cpp) reads it at every access.
#pragma once

#include <optional>
#include <string_view>

#include "machine/core.h"
#include "machine/program/program_text.h"
#include "machine/program/window.h"

namespace bulkhead::machine {

// An access that the window does not allow.
struct fault {
    std::uint64_t address = 0;        // the host's
    std::optional<std::uint64_t> ipa; // nothing: outside of the window and of what stands for its pages
    access_kind kind = access_kind::read;
    std::uint32_t bytes = 0; // 0: unknown
    std::uint64_t code = 0;  // host address in the program, of the access or behind the call before it
    bool on_stack = false;   // it ran out of stack: there is no going on
};

class fault_handler {
public:
    // Called on the program's fiber, before the access; may switch fibers. Returns if the access shall be
    // tried again; else it does not return (leave_program, or another fiber for good).
    virtual void resolve(const fault &what) = 0;

protected:
    ~fault_handler() = default;
};

// Who lets accesses pay for their translation that `execution::pages` does not take.
class page_translator {
public:
    // Called on the program's fiber, before the access; may switch fibers. The window allows the access.
    // True: time has passed, and all is to be looked at again; false: the access can be made now. `code`: as
    // in a fault.
    virtual bool translate(std::uint64_t address, std::uint64_t ipa, access_kind kind,
                           std::uint64_t code) = 0;

    // Where the code at an IPA is, whose line is fetched; time may pass. Nothing: nowhere.
    virtual std::optional<phys_addr> translate_code(std::uint64_t ipa) = 0;

protected:
    ~page_translator() = default;
};

struct execution {
    // What accesses go through without a question: all of `space`, or, with a translator, what it says.
    page_view pages;
    core *on = nullptr;
    const window *space = nullptr;
    fault_handler *faults = nullptr;
    page_translator *translator = nullptr; // null: translation costs nothing
    std::shared_ptr<program_text> text;    // null: it is not fetched
    // The host's memory that the program may use at no cost: its stack, if that is not in an annex.
    std::uint64_t free_first = 0;
    std::uint64_t free_bytes = 0;

    void see(const window &what)
    {
        space = &what;
        pages = what.view();
    }
    // The same, asking `who` about all that `known` does not have.
    void see(const window &what, page_translator &who, const page_view &known)
    {
        space = &what;
        translator = &who;
        pages = known;
    }
};

// The running fiber's; null: none.
[[nodiscard]] inline execution *current_execution()
{
    return static_cast<execution *>(bulkhead_fiber_word);
}
inline void enter_execution(execution *what)
{
    bulkhead_fiber_word = what;
}

// Calls a function of an image on a stack of its own, and returns what it returns or what leave_program()
// says.
// `*left` is for leave_program(), valid until then.
std::uint64_t call_program(const void *function, std::uint64_t first, std::uint64_t second,
                           std::byte *stack_top, void **left);
[[noreturn]] void leave_program(void *left, std::uint64_t value);

// Accesses that are not instrumented (constant tables, spills, inlined copies) reach the window without a
// callback. From now on their faults, too, go to the execution's fault_handler instead of ending the process.
// Other faults go where they went before.
void catch_faults();

// What an image may need: callbacks of the compiler, budget, memcpy and its like. A symbol_table.
const void *runtime_symbol(std::string_view name);

// An access as a callback makes it: checked, then charged. For calls that touch the program's memory for it.
void touch(std::uint64_t address, std::uint64_t bytes, access_kind kind);

} // namespace bulkhead::machine
