// SPDX-License-Identifier: Apache-2.0
// CP15 of a Cortex-A9 (DDI 0406C, B4; DDI 0388I, chapter 4): identification, control, translation, faults,
// maintenance of caches and TLBs, lockdown, performance monitors, context and thread IDs. Registers act on
// the core's caches and MMU. Unknown registers are reported by name, once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "machine/armv7/a_profile/monitors.h"
#include "machine/armv7/a_profile/tlb_lockdown.h"
#include "machine/armv7/profile.h"
#include "machine/core.h"
#include "machine/mmu.h"

namespace bulkhead::machine::armv7::a_profile {

class system_control {
public:
    struct surroundings {
        core &on;
        mmu &translation;
        std::uint32_t peripherals_at = 0; // CBAR
        // Called when mappings of code, or kept translations of data, may have changed.
        std::function<void()> translation_changed;
        std::function<void(std::string_view)> missing;
    };
    explicit system_control(surroundings around);

    // MRC and MCR of coprocessor 15, in User mode or not. Nothing or false: undefined.
    [[nodiscard]] std::optional<std::uint32_t> read(const coprocessor_register &which, bool privileged);
    [[nodiscard]] bool write(const coprocessor_register &which, bool privileged, std::uint32_t value);

    [[nodiscard]] bool translates() const { return (sctlr_ & 1U) != 0; }
    [[nodiscard]] bool checks_alignment() const { return (sctlr_ & 2U) != 0; }
    [[nodiscard]] bool caches_data() const { return (sctlr_ & 4U) != 0; }
    [[nodiscard]] bool caches_code() const { return (sctlr_ & 1U << 12U) != 0; }
    [[nodiscard]] bool exceptions_in_thumb() const { return (sctlr_ & 1U << 30U) != 0; }
    [[nodiscard]] bool exceptions_big_endian() const { return (sctlr_ & 1U << 25U) != 0; }
    [[nodiscard]] std::uint32_t vectors() const { return (sctlr_ & 1U << 13U) != 0 ? 0xFFFF0000U : vbar_; }
    [[nodiscard]] std::uint32_t dacr() const { return dacr_; }
    [[nodiscard]] const translation_regime &regime() const { return regime_; }

    void record_data_fault(std::uint32_t status, std::uint32_t address)
    {
        dfsr_ = status;
        dfar_ = address;
    }
    void record_fetch_fault(std::uint32_t status, std::uint32_t address)
    {
        ifsr_ = status;
        ifar_ = address;
    }
    [[nodiscard]] monitors &performance() { return monitors_; }

private:
    using key = std::uint32_t;

    static constexpr key key_of(std::uint32_t crn, std::uint32_t opc1, std::uint32_t crm, std::uint32_t opc2)
    {
        return crn << 12U | opc1 << 8U | crm << 4U | opc2;
    }
    static key key_of(const coprocessor_register &which)
    {
        return key_of(which.crn, which.opc1, which.crm, which.opc2);
    }
    [[nodiscard]] std::uint32_t *kept(key which);
    [[nodiscard]] std::optional<std::uint32_t> identification(key which) const;
    [[nodiscard]] std::uint32_t cache_size() const;
    [[nodiscard]] static std::optional<monitor_register> monitor_of(key which);
    [[nodiscard]] bool translation_written(key which);
    [[nodiscard]] bool maintain_caches(key which, std::uint32_t value);
    [[nodiscard]] bool maintain_tlb(key which, std::uint32_t value);
    [[nodiscard]] bool write_lockdown(key which, std::uint32_t value);
    void maintain_set_way(std::uint32_t value, bool clean, bool invalidate);
    void maintain_address(std::uint32_t address, bool clean, bool invalidate);
    [[nodiscard]] std::optional<phys_addr> physical(std::uint32_t address);
    void find_physical(std::uint32_t address, short_descriptors::access what);
    void make_regime();
    void regime_changed();
    void report(const coprocessor_register &which, bool read);

    surroundings around_;
    tlb_lockdown lockdown_;
    monitors monitors_;
    translation_regime regime_;

    std::uint32_t sctlr_ = 0x00C50078; // after reset: DDI 0388I, 4.3.9
    std::uint32_t actlr_ = 0, cpacr_ = 0, scr_ = 0, sder_ = 0, nsacr_ = 0;
    std::uint32_t ttbr0_ = 0, ttbr1_ = 0, ttbcr_ = 0, dacr_ = 0;
    std::uint32_t dfsr_ = 0, ifsr_ = 0, adfsr_ = 0, aifsr_ = 0, dfar_ = 0, ifar_ = 0, par_ = 0;
    std::uint32_t prrr_ = 0x00098AA4, nmrr_ = 0x44E048E0;
    std::uint32_t vbar_ = 0, mvbar_ = 0, contextidr_ = 0, csselr_ = 0;
    std::uint32_t user_thread_ = 0, read_only_thread_ = 0, privileged_thread_ = 0; // TPIDR*
    std::uint32_t power_ = 0, diagnostic_ = 0;
    std::set<std::string, std::less<>> reported_;
};

} // namespace bulkhead::machine::armv7::a_profile
