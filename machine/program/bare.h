// SPDX-License-Identifier: Apache-2.0
// Runs an instrumented program on a core without a hypervisor. The caller defines the program's physical
// memory and its arguments, and reads the results. An access to anything else ends the program with a report;
// the rest of the machine continues. Used for workloads alone and next to each other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "machine/program/execution.h"
#include "machine/program/image.h"
#include "machine/program/translated_program.h"

namespace bulkhead::machine {

class bare_program final : fault_handler {
public:
    struct setup {
        std::vector<mapping_run> memory;       // the program's memory; accesses outside of it end the program
        std::vector<std::string> arguments;    // arguments of main, including argv[0]
        byte_count stack{64 * 1024};           // the last part of its memory
        std::optional<space_settings> space{}; // its translation tables; nothing: translation takes no time
    };
    struct mark {
        std::uint32_t id;
        picoseconds when;
    };
    struct report {
        bool ended = false;
        int status = 0;                     // return value of main
        std::uint64_t result = 0;           // machine_result(), or the status
        std::string output;                 // machine_write()
        std::vector<mark> marks;            // machine_mark()
        std::optional<std::string> trouble; // why it was ended early
    };

    // Loads the program into its memory; refuses what does not fit. `file`, `memory` and `on` must outlive
    // it.
    static result<std::unique_ptr<bare_program>> make(const image &file, const ram &memory, core &on,
                                                      setup wanted);

    // Puts the program on its core; it runs when the machine runs, not before `begin`. Call it once.
    void start(picoseconds begin = {});

    [[nodiscard]] const report &outcome() const { return report_; }
    [[nodiscard]] const instance &program() const { return *program_; }

    bare_program(const bare_program &) = delete;
    bare_program &operator=(const bare_program &) = delete;

    // Resolves the program's calls (machine/program/calls.h); not for other callers.
    static const void *symbol(std::string_view name);

private:
    bare_program(core &on, setup wanted, window space);
    [[nodiscard]] std::optional<refusal> load(const image &file);
    [[nodiscard]] std::optional<refusal> translate();
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
    std::unique_ptr<translated_program> translated_;
    std::byte *stack_top_ = nullptr;
    std::uint64_t free_ipa_ = 0; // memory other than data and stack
    std::uint64_t free_end_ = 0;
    void *left_ = nullptr;
    std::optional<std::uint64_t> value_;
    report report_;
};

} // namespace bulkhead::machine
