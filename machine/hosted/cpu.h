// SPDX-License-Identifier: Apache-2.0
// One core as hosted software sees it: registers, exception levels, and the two fibers between which
// exceptions and exception returns switch. EL2's fiber exists as long as the core is on; the other one is
// that of the entered VCPU, a new one each time that a VCPU starts. A core has at most one VCPU of a domain,
// so the VMID identifies it. The core model (machine/core.h) does the timing.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "machine/core.h"
#include "machine/hosted/event_register.h"
#include "machine/hosted/guest_space.h"
#include "machine/hosted/partition_registers.h"
#include "machine/hosted/registers.h"
#include "machine/hosted/tables.h"
#include "machine/mmu.h"
#include "machine/program/execution.h"
#include "machine/program/fast_pages.h"

struct guest_regs;

namespace bulkhead::machine::hosted {

class system;

// An exception that takes a core from a guest to EL2.
struct exception {
    std::uint64_t syndrome = 0; // ESR_EL2; 0: an interrupt
    std::uint64_t address = 0;  // FAR_EL2
    std::uint64_t page = 0;     // IPA for HPFAR_EL2
    std::uint64_t resume = 0;   // ELR_EL2
};

class cpu final : fault_handler, page_translator {
public:
    // `translation`: the core's TLBs; nothing: translation takes no time. `partitions`: the core's MPAM
    // registers, or null.
    cpu(system &whole, core &timing, std::uint64_t mpidr, std::optional<mmu> translation,
        partition_registers *partitions);
    ~cpu();

    // The core that an execution belongs to.
    [[nodiscard]] static cpu &of(const execution &what) { return static_cast<cpu &>(*what.faults); }
    [[nodiscard]] system &whole() { return system_; }

    [[nodiscard]] core &timing() { return timing_; }
    [[nodiscard]] core_id id() const { return timing_.id(); }
    [[nodiscard]] registers &state() { return state_; }
    // MPAM registers; null: the core has none.
    [[nodiscard]] partition_registers *partitions() { return partitions_; }
    [[nodiscard]] bool in_guest() const { return in_guest_; }
    [[nodiscard]] bool is_on() const { return on_; }

    // Starts the core at a function of the hypervisor's image, with the MMU off.
    void power_on(const void *function, std::uint64_t x0, std::uint64_t x1);

    // --- For EL2 --- ERET; returns at the next exception: 0 synchronous, 1 interrupt, 2 SError.
    int enter_guest(guest_regs &regs);
    void wait_for_interrupt();
    void wait_for_event();
    [[nodiscard]] event_register &event() { return event_; }
    // EL2's MMU was turned on: its accesses are translated from now on.
    void translation_on();
    // Effects of the operations of the same names on this core's TLBs, for operations of this core and of
    // others.
    void invalidate_all();
    void invalidate_el2_page(std::uint64_t address);
    void invalidate_intermediate(std::uint16_t vmid, std::uint64_t ipa);
    void invalidate_stage1(std::uint16_t vmid);
    [[nodiscard]] std::uint16_t vmid() const;

    // --- For the guest --- Switches to EL2 and back. True if the instruction is done (EL2 has advanced past
    // it), false if it must be repeated.
    bool leave(const exception &why);
    // Takes the interrupts that are due.
    void take_interrupts();
    void guest_wait(const void *where);
    void guest_wait_for_event();
    void set_interrupt_mask(bool masked);
    void inject_undefined(std::uint64_t address);
    [[nodiscard]] std::uint64_t *exchange(); // x0 to x30 of the guest, in EL2's copy of its registers
    // Adds the translation time of an access at an intermediate address, whether the translation succeeds or
    // faults.
    void pay_translation(std::uint64_t ipa, access_kind kind);
    // Tells that the guest maps part of its memory as uncached, or, if `bytes` is 0, all of it as cached.
    void map_guest_past_caches(std::uint64_t ipa, byte_count bytes);
    [[nodiscard]] guest_space *space() const { return space_; }
    [[nodiscard]] tables stage2() const;
    [[nodiscard]] std::uint64_t resume_address(const void *return_address) const;

private:
    void resolve(const fault &what) override;
    bool translate(std::uint64_t address, std::uint64_t ipa, access_kind kind, std::uint64_t code) override;
    std::optional<phys_addr> translate_code(std::uint64_t ipa) override;
    void enter(execution &what, const window &space, const std::shared_ptr<program_text> &text);
    void translate_guest();
    // Makes a page of the guest's memory accessible, with an exception to EL2 if necessary; returns when it
    // is mapped.
    void map_page(std::uint64_t ipa, access_kind kind, std::uint64_t resume);
    void map_around(std::uint64_t ipa, const translation &page);
    void map_runs(std::span<const mapping_run> runs, page_attributes attributes);
    void run_guest();
    void start_guest();
    [[nodiscard]] translation_regime guest_regime() const;
    void execute_at(std::uint32_t level);
    void sleep();
    [[nodiscard]] bool sees_interrupt();
    [[nodiscard]] bool sees_event();
    [[nodiscard]] bool takes_virtual_interrupt();
    void deliver(std::uint64_t vector);
    [[nodiscard]] const void *fetch(std::uint64_t ipa);

    system &system_;
    core &timing_;
    registers state_;
    partition_registers *partitions_;
    std::optional<mmu> mmu_;
    translation_regime el2_regime_;
    translation_regime guest_regime_;
    bool on_ = false;
    event_register event_;
    bool in_guest_ = false;
    fiber *el2_ = nullptr;
    execution el2_execution_;
    std::unique_ptr<fast_pages> el2_pages_;
    std::vector<fast_pages *> pages_of_entry_; // for each entry of the first-level TLB: the object that has
                                               // allowed pages because of it
    // A VCPU that was entered here.
    struct guest {
        execution runs;
        std::unique_ptr<fast_pages> pages;
        std::unique_ptr<fiber> on;
        std::uint64_t left_at = 0; // ELR_EL2 as set by its last exception
        bool continues = false;    // its fiber can be resumed
        std::optional<std::uint64_t> pending_vector;
    };
    std::map<std::uint64_t, guest> guests_; // by VMID
    guest *guest_ = nullptr;                // the one that was entered last
    guest_regs *regs_ = nullptr;
    guest_space *space_ = nullptr;
    std::uint64_t pstate_ = 0;
    int kind_ = 0;
};

} // namespace bulkhead::machine::hosted
