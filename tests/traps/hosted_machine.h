// SPDX-License-Identifier: Apache-2.0
// The hosted hypervisor, booted from a manifest on fake registers, and a guest that traps into it. One
// instance at a time; one host thread acts as all cores.
#pragma once

#include "sample_manifest.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stdatomic.h> // what C headers need of C11, before any of them

extern "C" {
#include "arch/hosted/fake_clock.h"
#include "arch/hosted/fake_gic.h"
#include "arch/hosted/fake_pmu.h"
#include "arch/hosted/fake_registers.h"
#include "boot/boot.h"
#include "memory/stage2.h"
#include "run/vcpu_run.h"
#include "trap/trap.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include "vm/vcpu.h"
}

namespace bulkhead_test {

// Exception syndromes as the core reports them (DDI 0487, D24.2.40).
constexpr uint64_t esr_hvc = 0x16ull << 26 | 1u << 25;
constexpr uint64_t esr_smc = 0x17ull << 26 | 1u << 25;
constexpr uint64_t translation_fault_level3 = 0x07;
uint64_t esr_load(unsigned bytes, unsigned reg, bool sign_extend = false, bool wide = false);
uint64_t esr_store(unsigned bytes, unsigned reg);
uint64_t esr_sysreg(unsigned op0, unsigned op1, unsigned crn, unsigned crm, unsigned op2, unsigned reg,
                    bool read);

// Sets an answer of the firmware beneath, by function and first argument. Before the first call, and after
// nullptr, the firmware has only PSCI calls, which do nothing.
void set_firmware(std::function<int64_t(uint64_t function, uint64_t first)> answers);
int64_t firmware_call(uint64_t function, uint64_t first);

class HostedMachine {
public:
    // Boots the sample manifest after applying `change`; `hardware` adds parts of the board beside the usual
    // ones.
    explicit HostedMachine(
        const std::function<void(SampleManifest &)> &change = [](SampleManifest &) {},
        const std::function<void()> &hardware = [] {});
    // Boots any other manifest for this board: up to four cores, the UART at the sample's address.
    HostedMachine(
        const manifest_header &manifest, uint32_t list_registers,
        const std::function<void()> &hardware = [] {});
    HostedMachine(const HostedMachine &) = delete;
    HostedMachine &operator=(const HostedMachine &) = delete;

    // All state of a machine except the static storage of C code: a caller that saves and restores that, too,
    // can start another machine from this state without booting.
    struct State;
    std::shared_ptr<const State> state() const;
    explicit HostedMachine(const State &state);

    // Whether all domains could be set up, and the hardware agrees with the manifest.
    bool booted() const { return booted_; }

    // The registers of the guest on a core, which executes from now on. Starts its VCPU if it waits to be
    // started.
    guest_regs &on_core(uint32_t core);

    // The guest of the executing core traps. Returns after the exit path; if the hypervisor then waits for
    // work, `waited()` is true.
    void trap(uint64_t esr, uint64_t ipa = 0);
    // HVC with up to four arguments; returns x0.
    uint64_t hvc(uint64_t function, uint64_t first = 0, uint64_t second = 0, uint64_t third = 0);
    // A physical interrupt arrives while the guest runs.
    void interrupt();
    // An asynchronous abort arrives while the guest runs.
    void serror();
    // The run ends: EL2's last steps, on the console core.
    void end();
    // The executing core, idle at EL2, is woken by an interrupt and handles what is pending.
    void take_while_idle();
    bool waited() const { return waited_; }

    // A page of physical memory as EL2 reaches it through windows: created at the first access.
    std::vector<char> &page(uint64_t pa);
    // Called whenever EL2 opens a window, with the page's address.
    void on_window(std::function<void(uint64_t)> hook);

    status_domain &status(uint32_t domain) const;
    uint64_t exits(uint32_t core, bh_exit_reason reason) const;
    guest_regs &regs(uint32_t core) { return regs_[core]; }

    // The board's UART: its output, its input, and whether it accepts more (if not, for some thousand polls).
    const std::string &uart_output() const;
    void type(uint8_t character);
    void set_uart_full(bool full);

private:
    void boot(const manifest_header &manifest, uint32_t list_registers,
              const std::function<void()> &hardware);
    template <typename Exit> void run(const Exit &exit);

    bool booted_ = false;
    bool waited_ = false;
    guest_regs regs_[FAKE_CORES] = {};
};

} // namespace bulkhead_test
