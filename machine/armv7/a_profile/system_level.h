// SPDX-License-Identifier: Apache-2.0
// The system level of an Armv7-A core for the interpreter (machine/armv7/profile.h): exceptions and exception
// returns, modes, CP15, memory through the MMU, waiting for interrupts and events. The exception model is
// that of DDI 0406C, B1.8, without Monitor and Hyp mode; IRQ is the only interrupt.
#pragma once

#include <array>
#include <functional>

#include "machine/armv7/a_profile/memory.h"
#include "machine/armv7/a_profile/modes.h"
#include "machine/armv7/a_profile/system_control.h"
#include "machine/armv7/profile.h"
#include "machine/devices/irq_output.h"

namespace bulkhead::machine::armv7::a_profile {

enum class exception : std::uint8_t { undefined, supervisor_call, prefetch_abort, data_abort, irq };
inline constexpr std::size_t exception_count = 5;
[[nodiscard]] std::string_view name_of(exception which);

class system_level final : public profile {
public:
    struct surroundings {
        core &on;
        registers &state;
        mmu &translation;
        const physical_bus &bus;
        std::uint32_t peripherals_at = 0;
        const devices::irq_output &irq; // the interrupt controller's output to this core
        std::function<void()> send_event;
        std::function<void(std::string_view)> missing;
        std::function<void()> ended; // called once, when halted() becomes true
    };
    explicit system_level(surroundings around);

    // Call it after the interpreter was made on this profile.
    void connect();
    // The core waits for an interrupt again and again and takes none, because IRQ is masked: it will never do
    // anything else.
    [[nodiscard]] bool halted() const { return halted_; }
    // An event (SEV) has arrived.
    void event() { event_ = true; }
    [[nodiscard]] std::uint64_t taken(exception which) const
    {
        return taken_[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] modes &state() { return modes_; }
    [[nodiscard]] system_control &control() { return control_; }

    // --- profile ---

    [[nodiscard]] const features &has() const override { return has_; }
    [[nodiscard]] std::optional<std::uint32_t> read(const access_request &what) override
    {
        return memory_.read(what);
    }
    [[nodiscard]] bool write(const access_request &what, std::uint32_t value) override
    {
        return memory_.write(what, value);
    }
    [[nodiscard]] std::optional<code_span> fetch(std::uint32_t address) override
    {
        return memory_.fetch(address);
    }
    void take_fault() override;
    void undefined(std::uint32_t word) override;
    void svc(std::uint32_t immediate) override;
    void breakpoint(std::uint32_t immediate) override;
    void attend() override;
    bool exception_return(std::uint32_t value) override;
    [[nodiscard]] std::optional<std::uint32_t> spsr() override;
    void return_from_exception(std::uint32_t address, std::uint32_t cpsr) override;
    [[nodiscard]] std::uint32_t banked(std::uint32_t mode, std::uint32_t number) override;
    void set_banked(std::uint32_t mode, std::uint32_t number, std::uint32_t value) override;
    [[nodiscard]] bool privileged() override { return modes_.privileged(); }
    [[nodiscard]] std::optional<std::uint32_t> mrs(std::uint32_t which) override;
    [[nodiscard]] bool msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value) override;
    [[nodiscard]] bool cps(const cps_change &what) override;
    [[nodiscard]] std::optional<std::uint32_t> mrc(const coprocessor_register &which) override;
    [[nodiscard]] bool mcr(const coprocessor_register &which, std::uint32_t value) override;
    void wfi() override;
    void wfe() override;
    void sev() override;
    void barrier(barrier_kind which) override;
    void not_implemented(std::string_view name, std::uint32_t word) override;

private:
    void take(exception which, std::uint32_t link);
    void state_changed();
    void translation_changed();
    [[nodiscard]] bool sees_interrupt();
    [[nodiscard]] bool waits_in_vain();

    surroundings around_;
    features has_{.m_profile = false, .divide_thumb = false, .divide_arm = false};
    modes modes_;
    system_control control_;
    memory memory_;
    bool connected_ = false;
    bool halted_ = false;
    std::uint64_t waited_at_ = 0; // instruction count at the last WFI with IRQ masked
    bool event_ = false;
    std::array<std::uint64_t, exception_count> taken_{};
};

} // namespace bulkhead::machine::armv7::a_profile
