// SPDX-License-Identifier: Apache-2.0
// Visits of cores to a range of instructions, such as the hypervisor's program: how many instructions each
// visit takes, and which marked instructions it executes. A visit ends with an ERET or a WFI in the range.
// For emulators with one thread for all cores (-icount), which may change cores between two blocks, so the
// first instruction of each block reads which core executes it: TPIDR_EL2 is different on each core.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/qemu_plugin_api.h"

namespace bulkhead::observe {

class visits {
public:
    static constexpr std::size_t most_marks = 32;

    // `marks`: addresses of the instructions to mark, at most `most_marks`.
    visits(std::uint64_t first, std::uint64_t bytes, std::vector<std::uint64_t> marks);

    // A core has been created. Returns false if it has no register that tells cores apart.
    bool attach();

    // Registers callbacks for the instructions of a block that are in the range. A block is wholly in the
    // range, or wholly outside.
    void translate(qemu_plugin_tb *block);

    // Visits that ended before are left out.
    void restart();

    // The visits in the order of their ends, as JSON: `[[core, marks, instructions], …]`. Cores have numbers
    // in the order of their TPIDR_EL2; bit i of `marks` is mark i.
    [[nodiscard]] std::string json() const;

private:
    struct visit {
        std::uint64_t core = 0; // its TPIDR_EL2
        std::uint32_t marks = 0;
        std::uint64_t instructions = 0;
    };

    static void on_block(unsigned vcpu, void *own);
    static void on_instruction(unsigned vcpu, void *own);
    static void on_mark(unsigned vcpu, void *mark);
    static void on_end(unsigned vcpu, void *own);

    struct mark {
        visits *own = nullptr;
        std::uint64_t address = 0;
        std::uint32_t bit = 0;
    };

    std::uint64_t first_;
    std::uint64_t bytes_;
    std::vector<mark> marks_;
    GByteArray *buffer_ = nullptr;
    qemu_plugin_register *which_core_ = nullptr;
    std::map<std::uint64_t, visit> open_; // by core
    visit *current_ = nullptr;            // of the core that executes now
    std::vector<visit> ended_;
};

} // namespace bulkhead::observe
