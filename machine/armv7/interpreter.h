// SPDX-License-Identifier: Apache-2.0
// Executes the instructions of an Armv7 core. Code is decoded once into blocks, which are stored by virtual
// and physical address, instruction set and ITSTATE, and linked to the blocks that followed them. Each
// instruction is charged to the core, each line of code is fetched through its L1I, and interrupts are taken
// between two instructions. Everything that depends on a mode or a system register is in the profile
// (profile.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "machine/armv7/profile.h"
#include "machine/armv7/registers.h"
#include "machine/core.h"

namespace bulkhead::machine::armv7 {

struct block;
struct code_line;
class blocks;

class interpreter {
public:
    // All arguments must outlive it. It sets the core's attend function.
    interpreter(core &on, registers &state, profile &system);
    interpreter(const interpreter &) = delete;
    interpreter &operator=(const interpreter &) = delete;
    ~interpreter();

    // Called on the core's fiber. Executes from r[15] on until stop(). After an exception, a reset or a
    // context switch, the new state must be in the registers when it is called again.
    void run();
    // The same for at most `instructions`; returns how many it executed. For tests.
    std::uint64_t run(std::uint64_t instructions);

    // --- For the profile; each may be called at any time ---

    // Makes run() return after the present instruction.
    void stop() { attention_ |= wants_stop; }
    // Requests a call of attend() before the next instruction: a mask was cleared, or an interrupt became
    // pending.
    void look_for_interrupts() { attention_ |= wants_interrupts; }
    // The mapping or permission of code may have changed, or an instruction TLB has lost an entry: fetch() is
    // called again for each block.
    void translation_changed()
    {
        ++epoch_;
        attention_ |= wants_lookup;
    }
    // Sets the privilege from the next instruction on; privileged at the start. Answers of fetch() are stored
    // separately for privileged and unprivileged code.
    void set_privileged(bool privileged)
    {
        if (privileged_ != privileged) {
            privileged_ = privileged;
            attention_ |= wants_lookup;
        }
    }
    // Must be called when memory has changed, by a store of this or another core or by DMA: blocks of that
    // code are decoded again. Cheap where there is no code.
    void stored(phys_addr where, std::uint32_t bytes)
    {
        if (bytes > 4 || code_at(where) || code_at(phys_addr{where.value + bytes - 1})) [[unlikely]] {
            code_changed(where, bytes);
        }
    }
    // All code is decoded again: memory was loaded without stores of the cores.
    void forget_code();
    // `marked` is called when the program executes DBG, a hint to a debugger (DDI 0406C.d A8.8.42), with its
    // option.
    void when_marked(std::function<void(std::uint32_t option)> marked) { marked_ = std::move(marked); }
    // Clears the exclusive monitor: for an exception, an exception return, or CLREX.
    void clear_exclusive() { exclusive_.reset(); }

    [[nodiscard]] registers &state() { return state_; }
    [[nodiscard]] core &on() { return on_; }
    [[nodiscard]] profile &system() { return system_; }
    // Instructions executed up to the last return of run().
    [[nodiscard]] std::uint64_t executed() const { return executed_; }
    // Blocks that were decoded since the start. For tests.
    [[nodiscard]] std::uint64_t blocks_decoded() const;

    // --- For the instructions (execute.h) ---

    struct exclusive_access {
        std::uint32_t address;
        std::uint32_t bytes;
    };
    void set_exclusive(exclusive_access what) { exclusive_ = what; }
    // Whether a store-exclusive succeeds; clears the monitor.
    [[nodiscard]] bool take_exclusive(exclusive_access what)
    {
        const bool open =
            exclusive_ && exclusive_->address == what.address && exclusive_->bytes == what.bytes;
        exclusive_.reset();
        return open;
    }
    // Charges an instruction that transfers `words` words; the first cycle is that of any instruction.
    void moved(std::uint32_t words)
    {
        if (words_per_cycle_ != 0 && words > words_per_cycle_) {
            on_.busy((words - 1) / words_per_cycle_);
        }
    }
    void mark(std::uint32_t option)
    {
        if (marked_) {
            marked_(option);
        }
    }
    void report_not_implemented(std::string_view name, std::uint32_t word);
    [[nodiscard]] bool m_profile() const { return m_profile_; }

private:
    static constexpr std::uint32_t wants_interrupts = 1;
    static constexpr std::uint32_t wants_lookup = 2;
    static constexpr std::uint32_t wants_stop = 4;
    static constexpr std::size_t recent_size = 1024;

    [[nodiscard]] bool code_at(phys_addr where) const;
    void code_changed(phys_addr where, std::uint32_t bytes);
    void take_attention();
    [[nodiscard]] bool fits(const block &one) const;
    [[nodiscard]] block *look_up();
    [[nodiscard]] block *find_block();
    [[nodiscard]] block *execute(block &one);
    void enter_line(code_line &line);

    core &on_;
    registers &state_;
    profile &system_;
    bool m_profile_;
    std::uint32_t words_per_cycle_;
    bool privileged_ = true;
    std::uint32_t attention_ = 0;
    std::uint64_t left_ = 0; // instructions that run() may execute
    std::uint64_t executed_ = 0;
    std::uint64_t epoch_ = 1;
    std::optional<exclusive_access> exclusive_;
    std::unique_ptr<blocks> blocks_;
    std::array<block *, recent_size> recent_{}; // by address
    std::set<std::string, std::less<>> reported_;
    std::function<void(std::uint32_t)> marked_;
};

} // namespace bulkhead::machine::armv7
