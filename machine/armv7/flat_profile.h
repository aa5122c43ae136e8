// SPDX-License-Identifier: Apache-2.0
// A profile without a system level, for tests and measurements of the interpreter: memory is one piece, with
// virtual addresses equal to physical ones; accesses outside of it and undefined instructions stop execution.
#pragma once

#include <cstring>
#include <vector>

#include "machine/armv7/interpreter.h"

namespace bulkhead::machine::armv7 {

class flat_profile final : public profile {
public:
    enum class event : std::uint8_t { none, fault, undefined, svc, breakpoint, exception_return };

    flat_profile(core &on, registers &state, features has, std::uint32_t base, std::size_t bytes)
        : on_(on), state_(state), has_(has), base_(base), memory_(bytes)
    {
    }

    [[nodiscard]] std::vector<std::uint8_t> &memory() { return memory_; }
    [[nodiscard]] event last() const { return last_; }
    // The immediate of SVC or BKPT, the undefined word, or the address of the fault.
    [[nodiscard]] std::uint32_t detail() const { return detail_; }
    // Number of calls of attend() and fetch().
    [[nodiscard]] std::uint64_t attended() const { return attended_; }
    [[nodiscard]] std::uint64_t fetched() const { return fetched_; }
    // From now on each fetch() invalidates the answers of earlier ones, as with a TLB of one entry.
    void set_forgetful(bool forgetful) { forgetful_ = forgetful; }
    // Sets whether code is cached.
    void set_code_cached(bool cached) { code_cached_ = cached; }
    [[nodiscard]] const std::vector<std::string> &missing() const { return missing_; }
    void go_on() { last_ = event::none; }

    [[nodiscard]] const features &has() const override { return has_; }

    [[nodiscard]] std::optional<std::uint32_t> read(const access_request &what) override
    {
        if (!allowed(what)) {
            return {};
        }
        if (what.dependent) {
            on_.dependent_read(phys_addr{what.address}, what.bytes);
        } else {
            on_.access(phys_addr{what.address}, what.bytes, access_kind::read);
        }
        std::uint32_t value = 0;
        std::memcpy(&value, &memory_[what.address - base_], what.bytes);
        return value;
    }
    [[nodiscard]] bool write(const access_request &what, std::uint32_t value) override
    {
        if (!allowed(what)) {
            return false;
        }
        on_.access(phys_addr{what.address}, what.bytes, access_kind::write);
        std::memcpy(&memory_[what.address - base_], &value, what.bytes);
        by().stored(phys_addr{what.address}, what.bytes);
        return true;
    }
    [[nodiscard]] std::optional<code_span> fetch(std::uint32_t address) override
    {
        ++fetched_;
        if (forgetful_) {
            by().translation_changed();
        }
        if (address - base_ >= memory_.size()) {
            fault_ = address;
            return {};
        }
        const auto left = static_cast<std::uint32_t>(memory_.size() - (address - base_));
        return code_span{phys_addr{address}, left, code_cached_, &memory_[address - base_]};
    }

    void take_fault() override { end(event::fault, fault_); }
    void undefined(std::uint32_t word) override { end(event::undefined, word); }
    void svc(std::uint32_t immediate) override { end(event::svc, immediate); }
    void breakpoint(std::uint32_t immediate) override { end(event::breakpoint, immediate); }
    void attend() override { ++attended_; }
    bool exception_return(std::uint32_t value) override
    {
        state_.r[pc] = value;
        end(event::exception_return, value);
        return true;
    }
    [[nodiscard]] std::optional<std::uint32_t> spsr() override { return {}; }
    void return_from_exception(std::uint32_t address, std::uint32_t /*cpsr*/) override
    {
        end(event::exception_return, address);
    }
    [[nodiscard]] std::uint32_t banked(std::uint32_t /*mode*/, std::uint32_t number) override
    {
        return state_.r[number];
    }
    void set_banked(std::uint32_t /*mode*/, std::uint32_t number, std::uint32_t value) override
    {
        state_.r[number] = value;
    }
    [[nodiscard]] bool privileged() override { return false; }

    // Only the flags, and in v7-A the mode bits of User mode.
    [[nodiscard]] std::optional<std::uint32_t> mrs(std::uint32_t which) override
    {
        const std::uint32_t mode = has_.m_profile ? 0 : 0x10;
        return which == 0 ? std::optional(state_.apsr() | mode) : std::nullopt;
    }
    [[nodiscard]] bool msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value) override
    {
        const std::uint32_t flags = has_.m_profile ? mask >> 1U : mask >> 3U;
        const std::uint32_t ge = has_.m_profile ? mask : mask >> 2U;
        state_.set_apsr(value, ((flags & 1U) != 0 ? registers::apsr_nzcvq : 0) |
                                   ((ge & 1U) != 0 ? registers::apsr_ge : 0));
        return which == 0;
    }
    [[nodiscard]] bool cps(const cps_change & /*what*/) override { return true; }
    [[nodiscard]] std::optional<std::uint32_t> mrc(const coprocessor_register & /*which*/) override
    {
        return {};
    }
    [[nodiscard]] bool mcr(const coprocessor_register & /*which*/, std::uint32_t /*value*/) override
    {
        return false;
    }
    void wfi() override { on_.wait(); }
    void wfe() override {}
    void sev() override {}
    void barrier(barrier_kind /*which*/) override {}
    void not_implemented(std::string_view name, std::uint32_t /*word*/) override
    {
        missing_.emplace_back(name);
    }

private:
    [[nodiscard]] bool allowed(const access_request &what)
    {
        const std::uint32_t offset = what.address - base_;
        if (offset >= memory_.size() || memory_.size() - offset < what.bytes ||
            what.address % what.alignment != 0) {
            fault_ = what.address;
            return false;
        }
        return true;
    }
    void end(event why, std::uint32_t detail)
    {
        last_ = why;
        detail_ = detail;
        by().stop();
    }

    core &on_;
    registers &state_;
    features has_;
    std::uint32_t base_;
    std::vector<std::uint8_t> memory_;
    event last_ = event::none;
    std::uint32_t detail_ = 0;
    std::uint32_t fault_ = 0;
    std::uint64_t attended_ = 0;
    std::uint64_t fetched_ = 0;
    bool code_cached_ = true;
    bool forgetful_ = false;
    std::vector<std::string> missing_;
};

} // namespace bulkhead::machine::armv7
