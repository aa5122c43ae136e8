// SPDX-License-Identifier: Apache-2.0
// The system level of an Armv7-M core (Arm DDI 0403E.e, parts A and B) for the interpreter: each access is
// checked by the MPU at its exact addresses; exceptions with their frames on the stack; special registers. No
// floating-point unit. Registers are in system_registers.h, priorities in exceptions.h, regions in mpu.h.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/armv7/interpreter.h"
#include "machine/armv7/m_profile/exceptions.h"
#include "machine/armv7/m_profile/mpu.h"
#include "machine/armv7/m_profile/system_registers.h"
#include "machine/armv7/physical_bus.h"
#include "machine/devices/down_counter.h"
#include "machine/frames.h"

namespace bulkhead::machine::armv7::m_profile {

struct m_profile_settings {
    std::uint32_t interrupts = 32;   // number of external interrupts, up to 240
    std::uint32_t priority_bits = 8; // number of implemented bits, 3 to 8
    std::uint32_t mpu_regions = 8;   // 0: there is no MPU
    bool caches = false; // the caches in the core's settings can be turned on; otherwise all memory is
                         // equally fast
    std::uint32_t cpuid = 0x411FC271;  // Cortex-M7 r1p1
    std::uint32_t words_per_cycle = 0; // for multiple and double accesses; 0: no limit
    // Cycles in addition to the accesses to frame and vector, which add nothing if they hit.
    std::uint32_t entry_cycles = 0;
    std::uint32_t exit_cycles = 0;
    std::uint32_t tail_chain_cycles = 0; // from one handler to the next, instead of both
};

// Why a core has stopped.
enum class core_end : std::uint8_t {
    none,
    halted, // it waits for an interrupt, and no enabled one could be taken
    lockup, // a fault where HardFault cannot be taken (B1.5.15)
    reset,  // AIRCR.SYSRESETREQ
};

// Costs of the MPU.
struct mpu_counts {
    std::uint64_t faults = 0; // MemManage faults of accesses and fetches
    std::uint64_t misses = 0; // faults after which the same instruction was executed again: software loaded a
                              // region
    picoseconds miss_time{};  // sum for the misses, from the fault to the return
    picoseconds longest_miss{};
};

class m_profile final : public profile {
public:
    // All must outlive it. `ram`: the memory that the machine's caches know.
    m_profile(core &on, registers &state, physical_bus &bus, engine &timeline, const frames &ram,
              const m_profile_settings &wanted);

    // Reset with this VTOR: MSP and PC are read from the first two vectors. False: there is no memory.
    bool reset(std::uint32_t vector_table);
    // Sets an input of the NVIC, numbered from 0. Called by devices.
    void set_interrupt(std::uint32_t number, bool high);
    // `ended` is called once, when the core stops; interpreter::run() returns then.
    void when_ended(std::function<void()> ended) { when_ended_ = std::move(ended); }

    // Called after each miss (mpu_counts), with its time.
    void when_missed(std::function<void(picoseconds)> missed) { when_missed_ = std::move(missed); }

    [[nodiscard]] core_end end() const { return end_; }
    [[nodiscard]] const std::string &trouble() const { return trouble_; }
    // How often each exception was entered, by number.
    [[nodiscard]] const std::array<std::uint64_t, exceptions::most> &entered() const { return entered_; }
    [[nodiscard]] const mpu_counts &mpu_misses() const { return counts_; }
    [[nodiscard]] const std::vector<std::string> &missing() const { return missing_; }
    [[nodiscard]] const system_state &system() const { return system_; }
    [[nodiscard]] const exceptions &events() const { return events_; }

    // --- profile ---

    [[nodiscard]] const features &has() const override { return has_; }
    [[nodiscard]] std::optional<std::uint32_t> read(const access_request &what) override;
    [[nodiscard]] bool write(const access_request &what, std::uint32_t value) override;
    [[nodiscard]] std::optional<code_span> fetch(std::uint32_t address) override;
    void take_fault() override;
    void undefined(std::uint32_t word) override;
    void invalid_state() override;
    void svc(std::uint32_t immediate) override;
    void breakpoint(std::uint32_t immediate) override;
    void attend() override;
    bool exception_return(std::uint32_t value) override;
    [[nodiscard]] std::optional<std::uint32_t> spsr() override { return {}; }
    void return_from_exception(std::uint32_t, std::uint32_t) override {}
    [[nodiscard]] std::uint32_t banked(std::uint32_t, std::uint32_t number) override
    {
        return state_.r[number];
    }
    void set_banked(std::uint32_t, std::uint32_t, std::uint32_t) override {}
    [[nodiscard]] bool privileged() override { return is_privileged(); }
    [[nodiscard]] std::optional<std::uint32_t> mrs(std::uint32_t which) override;
    [[nodiscard]] bool msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value) override;
    [[nodiscard]] bool cps(const cps_change &what) override;
    [[nodiscard]] std::optional<std::uint32_t> mrc(const coprocessor_register &) override { return {}; }
    [[nodiscard]] bool mcr(const coprocessor_register &, std::uint32_t) override { return false; }
    void wfi() override;
    void wfe() override;
    void sev() override { event_ = true; }
    void barrier(barrier_kind) override {} // nothing to do: accesses are made in the order of instructions
    void not_implemented(std::string_view name, std::uint32_t word) override;

private:
    struct fault {
        std::uint32_t number = exception::none;
        std::uint32_t status = 0; // bits of CFSR
        std::uint32_t address = 0;
    };
    struct access {
        std::uint32_t address;
        std::uint32_t bytes;
        bool privileged;
        bool write;
        bool dependent = false;
        bool of_frame = false; // a store of an exception entry, whose bus errors are precise
    };

    [[nodiscard]] bool in_handler() const { return system_.ipsr != exception::none; }
    [[nodiscard]] bool is_privileged() const { return in_handler() || !unprivileged_thread_; }
    [[nodiscard]] int execution_priority() const { return events_.execution_priority(system_.masks); }

    // m_profile.cpp: accesses
    [[nodiscard]] answered_span span_of(std::uint32_t address, bool privileged);
    [[nodiscard]] bool is_aligned(const access_request &what);
    [[nodiscard]] std::optional<memory_attributes> allowed(const access &what);
    [[nodiscard]] std::optional<std::uint32_t> read_checked(const access &what);
    [[nodiscard]] bool write_checked(const access &what, std::uint32_t value);
    [[nodiscard]] bool private_bus_allows(const access &what);
    void charge(const access &what, memory_attributes attributes);
    void fail(std::uint32_t number, std::uint32_t status, std::uint32_t address = 0);
    void write_nowhere();
    void maintain(maintenance what, std::uint32_t value);
    void interrupts_changed();

    // exception_flow.cpp: entry and return
    void record(const fault &what);
    [[nodiscard]] std::optional<std::uint32_t> escalated(std::uint32_t number, int base);
    void synchronous(std::uint32_t number, std::uint32_t return_address);
    void enter(int base);
    void push_frame(int base);
    [[nodiscard]] bool pop_frame(std::uint32_t value);
    void derive(std::uint32_t memory_status, std::uint32_t bus_status, int base);
    void take(std::uint32_t number, std::uint32_t exc_return, std::uint32_t cycles, int base);
    void chain(std::uint32_t number, std::uint32_t exc_return);
    void deactivate(std::uint32_t number);
    void mode_changed();
    void use_stack(bool process);
    void finish(core_end why, std::string trouble);
    void wait_for_interrupt();
    void count_miss(std::uint32_t pc_after);
    [[nodiscard]] std::uint32_t xpsr() const;
    [[nodiscard]] std::uint32_t exc_return_now() const;

    // special_registers.cpp
    [[nodiscard]] std::uint32_t stack_pointer(bool process) const;
    void set_stack_pointer(bool process, std::uint32_t value);
    void set_control(std::uint32_t value);

    core &on_;
    registers &state_;
    physical_bus &bus_;
    engine &timeline_;
    const frames &ram_;
    m_profile_settings wanted_;
    features has_;
    system_state system_;
    exceptions events_;
    mpu mpu_;
    devices::down_counter systick_;
    system_registers registers_;

    bool unprivileged_thread_ = false; // CONTROL.nPRIV
    bool process_stack_ = false;       // CONTROL.SPSEL: r13 is the process stack pointer
    std::uint32_t other_stack_ = 0;    // the stack pointer that is not in r13
    bool default_view_ = true;         // accesses use the default map: the MPU is off, or does not apply to
                                       // this code
    bool event_ = false;               // the event register

    // Kept answers of the MPU, by address, valid while its configuration is unchanged.
    struct remembered {
        std::uint64_t change = ~std::uint64_t{0};
        answered_span span;
    };
    static constexpr std::uint32_t remembered_bits = 6;
    std::array<std::array<remembered, 1U << remembered_bits>, 2> spans_;

    fault fault_;
    struct {
        bool open = false; // a fault handler executes that may load a region
        std::uint32_t pc = 0;
        std::uint32_t stack = 0; // address of the frame
        picoseconds since{};
    } miss_;
    mpu_counts counts_;
    std::array<std::uint64_t, exceptions::most> entered_{};
    std::vector<std::string> missing_;
    core_end end_ = core_end::none;
    std::string trouble_;
    std::function<void()> when_ended_;
    std::function<void(picoseconds)> when_missed_;
};

} // namespace bulkhead::machine::armv7::m_profile
