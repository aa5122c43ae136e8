// SPDX-License-Identifier: Apache-2.0
// The hosted hypervisor under two domains of two VCPUs each, for fuzz targets: single steps that a guest, a
// device or a user at the console can make on any core, and checks after each. A step that breaks an
// invariant ends the process with a message; a step that is not possible now is left out.
#pragma once

#include "input.h"
#include "require.h"
#include "tests/traps/hosted_machine.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead_fuzz {

constexpr uint32_t cores = 4; // core c runs VCPU c / 2 of domain c % 2
constexpr uint32_t domains = 2;
constexpr uint64_t memory_ipa = 0x40000000;
constexpr uint64_t memory_bytes = 0x4000;  // cleared at every restart
constexpr uint64_t flash_ipa = 0x20000000; // takes commands
constexpr uint64_t flash_bytes = 0x40000;
constexpr uint64_t gicd_ipa = 0x08000000;
constexpr uint64_t uart_ipa = 0x09000000;
constexpr uint32_t virtual_timer = 27;
constexpr uint32_t physical_timer = 30;
constexpr uint32_t console_spi = 33;
constexpr uint64_t mpam_ipa = 0x2C000000;  // of a component, physically: guests have nothing there
constexpr uint64_t memory_pa = 0x50000000; // domain 0's, followed by domain 1's
constexpr uint64_t flash_pa = 0x58000000;  // the same

// With an SMMU: streams of domain i are streams[i] and streams[i + domains]. The first ones are of PCI
// functions, which have message interrupts.
constexpr uint32_t streams[] = {8, 16, 0x100, 0x7FFF};
constexpr uint32_t messages = 8; // of each function

// Passed-through devices: two of each domain, one of none.
constexpr uint32_t device_spis[] = {40, 72, 48, 49, 50};

struct Options {
    uint32_t list_registers = 4;
    uint32_t console_core = 1;
    std::array<uint32_t, domains> flags{}; // besides the console
    bool regulated = false;                // domain 1, domain 0 is counted: both with the flag `budget`
    bool limited = false;                  // budgets together, to less than managers may ask for
    bool partitioned = false;              // by MPAM: domain 0 sees none, domain 1 has virtual PARTIDs
    // the board has an SMMU, PCI and an ITS, which this adds at sample_smmu_pa, sample_config_pa,
    // sample_its_pa
    void (*plug_in_smmu)() = nullptr;
    uint32_t smmu_version = BH_SMMU_VERSION_SMMUV3; // with an SMMUv2 there is neither PCI nor an ITS

    bool operator==(const Options &) const = default;
};

// From one byte of input.
Options options_of(uint8_t byte);

class Machine {
public:
    // The guests run.
    explicit Machine(const Options &options);
    ~Machine();
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    // The machine is turned off: further steps have no effect.
    bool ended() const;
    // The core executes its guest.
    bool runs(uint32_t core) const { return runs_[core]; }
    const guest_regs &regs(uint32_t core) { return hosted_->regs(core); }
    void set_register(uint32_t core, uint32_t index, uint64_t value);
    // Called whenever EL2 opens a window, with the page's physical address.
    void on_window(std::function<void(uint64_t)> hook) { hosted_->on_window(std::move(hook)); }
    // A page of physical memory.
    std::vector<char> &page(uint64_t pa) { return hosted_->page(pa); }
    const std::string &uart_output() const { return hosted_->uart_output(); }

    // Something wakes the core, or it takes pending work: interrupts, its VCPU's start.
    void interrupt(uint32_t core);
    // The guest traps, with its registers as they are.
    void trap(uint32_t core, uint64_t esr, uint64_t ipa = 0);
    void serror(uint32_t core);
    // HVC or SMC; returns x0.
    uint64_t call(uint32_t core, bool smc, uint64_t function, uint64_t x1 = 0, uint64_t x2 = 0,
                  uint64_t x3 = 0);
    // A plain load or store of a device register.
    void write(uint32_t core, uint64_t ipa, unsigned bytes, uint64_t value);
    uint64_t read(uint32_t core, uint64_t ipa, unsigned bytes);

    // Accesses of the guest to its virtual CPU interface, without exits: IAR, EOIR, DIR. The first returns
    // the INTID.
    uint32_t acknowledge(uint32_t core);
    void end_innermost(uint32_t core);
    void end(uint32_t core, uint32_t intid);
    void deactivate(uint32_t core, uint32_t intid);

    // Writes of a guest with virtual PARTIDs to MPAM1_EL1 and MPAM0_EL1. Other guests: nothing.
    void choose_partitions(uint32_t core, uint64_t mpam1, uint64_t mpam0);

    // Devices and timers.
    void raise(uint32_t core, uint32_t intid);
    void set_line(uint32_t core, uint32_t intid, bool high);
    void type(uint8_t character) { hosted_->type(character); }
    void set_uart_full(bool full) { hosted_->set_uart_full(full); }
    void pass_time(uint64_t ticks);

    // All waiting output is printed, as before the machine is turned off.
    void flush_console();

    // Many steps of one core that were not chosen one by one: checked once, after the last.
    template <typename Steps> void together(uint32_t core, const Steps &steps)
    {
        judged_late_ = true;
        steps();
        judged_late_ = false;
        judge(core);
    }

    // All guests become cooperative: devices stop, all interrupts are enabled, routed to running VCPUs, taken
    // and ended. Then nothing may be left anywhere.
    void come_to_rest();
    // All domains end, all cores idle: none of their state may be left in the hardware.
    void end_all();

private:
    struct Shadow;
    struct Started; // a booted machine, saved

    void boot(const Options &options);
    void start_from(const Started &started);
    void enter(uint32_t core);
    void left(uint32_t core);
    void judge(uint32_t core);
    bool reach_alarm(uint32_t core);
    void take_everything();

    std::optional<bulkhead_test::HostedMachine> hosted_;
    uint32_t console_core_;
    bool judged_late_ = false;
    bool partitioned_ = false;
    uint32_t judged_ = 0;  // steps
    bool managed_ = false; // a manager calls: it may stop and restart the other domain
    std::array<bool, cores> runs_{};
    std::array<std::vector<uint32_t>, cores> acknowledged_; // of the guest, innermost last
    std::unique_ptr<Shadow> shadow_;
};

} // namespace bulkhead_fuzz
