// SPDX-License-Identifier: Apache-2.0
// Runs an instrumented program on a core without a hypervisor: the caller says which physical memory the
// program has, what it is told, and reads what it did. An access to anything else ends the program with a
// report; the rest of the machine goes on. Used for workloads alone and beside each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/program/execution.h"
#include "machine/program/image.h"

namespace bulkhead::machine {

class bare_program final : fault_handler {
public:
    struct setup {
        std::vector<mapping_run> memory;    // the program's; what is missing in it is nobody's
        std::vector<std::string> arguments; // of main, argv[0] included
        byte_count stack{64 * 1024};        // the last of its memory
    };
    struct mark {
        std::uint32_t id;
        picoseconds when;
    };
    struct report {
        bool ended = false;
        int status = 0;                     // what main returned
        std::uint64_t result = 0;           // machine_result(), or the status
        std::string output;                 // machine_write()
        std::vector<mark> marks;            // machine_mark()
        std::optional<std::string> trouble; // why it was ended before its end
    };

    // Puts the program into its memory, refusing what does not fit. `file`, `memory` and `on` must outlive
    // it.
    static result<std::unique_ptr<bare_program>> make(const image &file, const ram &memory, core &on,
                                                      setup wanted);

    // Puts it on its core; it runs when the machine does, not before `begin`. Once.
    void start(picoseconds begin = {});

    [[nodiscard]] const report &outcome() const { return report_; }
    [[nodiscard]] const instance &program() const { return *program_; }

    bare_program(const bare_program &) = delete;
    bare_program &operator=(const bare_program &) = delete;

    // For the program's calls (machine/program/calls.h); never by others.
    static const void *symbol(std::string_view name);

private:
    bare_program(core &on, setup wanted, window space);
    [[nodiscard]] std::optional<refusal> load(const image &file);
    void run();
    [[nodiscard]] char **copy_arguments(std::byte *&top) const;
    void resolve(const fault &what) override;
    [[nodiscard]] std::string describe(const fault &what) const;

    static bare_program &running();
    static void write(const char *text, std::uint64_t bytes);
    static void note(std::uint32_t id);
    static std::uint64_t clock_ps();
    static void *own_memory(std::uint64_t *bytes);
    static void set_result(std::uint64_t value);
    [[noreturn]] static void exit(int status);

    core &on_;
    setup setup_;
    window space_;
    std::unique_ptr<instance> program_;
    execution execution_;
    std::byte *stack_top_ = nullptr;
    std::uint64_t free_ipa_ = 0; // memory beside data and stack
    std::uint64_t free_end_ = 0;
    void *left_ = nullptr;
    std::optional<std::uint64_t> value_;
    report report_;
};

} // namespace bulkhead::machine
