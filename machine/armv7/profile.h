// SPDX-License-Identifier: Apache-2.0
// What the interpreter of Armv7 instructions needs from the system level of its core: memory as an
// instruction accesses it (translated, checked, timed), exceptions, and the system instructions. There are
// two implementations, Armv7-M (m_profile/) and Armv7-A (a_profile/); tests have a third with flat memory
// (flat_profile.h).
//
// State at a call, except for read() and write(), where r[15] and `it` are unspecified: registers::r[15] is
// the address of the calling instruction, `it` the ITSTATE with which it executes, and all other registers
// are as before it, unless a call says otherwise. A call that takes an exception changes r[15], `thumb` and
// `it` to those of the handler (and clears the exclusive monitor: interpreter::clear_exclusive()); the
// interpreter continues there.
//
// Calls may switch fibers, as each access of a core may.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/core.h"

namespace bulkhead::machine::armv7 {

class interpreter;

// Features of the modelled core. Constant while the interpreter exists. v7-M always has the DSP extension
// here (Cortex-M4, M7).
struct features {
    bool m_profile = false;    // v7-M: only T32, EXC_RETURN, M-profile encodings of MRS, MSR and CPS
    bool divide_thumb = false; // SDIV, UDIV in T32: all Armv7-M and -R
    bool divide_arm = false;   // SDIV, UDIV in A32: Cortex-A7, A15; not A9
    // Words per cycle that LDM, STM and similar instructions transfer on hits in L1; 0: no limit.
    std::uint32_t words_per_cycle = 0;
};

// One access of an instruction. LDM, LDRD and similar instructions make one access for each word.
struct access_request {
    std::uint32_t address = 0;
    std::uint8_t bytes = 4;     // 1, 2 or 4
    std::uint8_t alignment = 1; // alignment that the instruction requires regardless of SCTLR.A or
                                // CCR.UNALIGN_TRP
    bool unprivileged = false;  // LDRT, STRT
    bool dependent = false;     // a load whose value becomes an address soon: core::dependent_read()
    bool exclusive = false;     // LDREX, STREX
};

// Code from an address on, as far as the same mapping and attributes apply.
struct code_span {
    phys_addr where{};                     // physical address of the requested address
    std::uint32_t bytes = 0;               // from there on, with one answer; whole instructions of A32
    bool cached = true;                    // false: uncached, each line is read when it is entered
    const std::uint8_t *content = nullptr; // these bytes on the host; valid until translation_changed()
};

enum class barrier_kind : std::uint8_t { dmb, dsb, isb };

// CPS. Armv7-M: enable or disable `i` (PRIMASK) and `f` (FAULTMASK).
struct cps_change {
    bool enable = false;
    bool disable = false;
    bool a = false;
    bool i = false;
    bool f = false;
    std::optional<std::uint32_t> mode; // v7-A: M[4:0]
};

// MRC, MCR: the operands by their names. MRRC, MCRR: only coprocessor, opc1 and crm.
struct coprocessor_register {
    std::uint32_t coprocessor = 0;
    std::uint32_t opc1 = 0;
    std::uint32_t crn = 0;
    std::uint32_t crm = 0;
    std::uint32_t opc2 = 0;
};

class profile {
public:
    profile() = default;
    profile(const profile &) = delete;
    profile &operator=(const profile &) = delete;
    virtual ~profile() = default;

    [[nodiscard]] virtual const features &has() const = 0;

    // Called by the interpreter's constructor.
    void attach(interpreter &by) { by_ = &by; }

    // --- Memory ---

    // Makes one access: checks alignment, translation and permission, charges the time to the core
    // (core::access(), dependent_read(), past_caches()), and transfers the data. Nothing or false: it
    // faulted. The profile has recorded the fault; no byte was read or written, and the interpreter calls
    // take_fault() next. The value of a load is zero-extended. A store to memory must call
    // interpreter::stored().
    [[nodiscard]] virtual std::optional<std::uint32_t> read(const access_request &what) = 0;
    [[nodiscard]] virtual bool write(const access_request &what, std::uint32_t value) = 0;

    // Code at `address` for the present privilege. Called when a block of instructions is first executed, and
    // again after interpreter::translation_changed() and for the other privilege
    // (interpreter::set_privileged()). Lookups of an instruction TLB take their time here. Nothing: it
    // faulted, as above. The interpreter itself fetches the lines, with their time.
    [[nodiscard]] virtual std::optional<code_span> fetch(std::uint32_t address) = 0;

    // --- Exceptions: the profile takes each of them ---

    // Takes the fault that read(), write() or fetch() recorded. Some words of an abandoned STM may have been
    // stored; the instruction is executed again as a whole.
    virtual void take_fault() = 0;
    // An undefined instruction: a word of A32, or one or two halfwords of T32, the first one upper.
    virtual void undefined(std::uint32_t word) = 0;
    // v7-M: the instruction at r[15] would execute with EPSR.T clear.
    virtual void invalid_state() { undefined(0); }
    // SVC. r[15] and `it` are those of the instruction after it.
    virtual void svc(std::uint32_t immediate) = 0;
    // BKPT. r[15] is its own address; to continue after it, add 2, or 4 in A32.
    virtual void breakpoint(std::uint32_t immediate) = 0;
    // Called between two instructions, when the core has signalled, or after
    // interpreter::look_for_interrupts() and WFI: takes an interrupt if one is pending and not masked, or
    // does nothing. r[15] is the address of the next instruction.
    virtual void attend() = 0;

    // --- Returns from exceptions ---

    // v7-M: BX, POP, LDM or LDR loaded `value`, whose bits 31 to 28 are ones, to the pc. All other effects of
    // the instruction are complete (including SP). True: the profile has returned from the exception, and
    // r[15] is the address to continue at. False: not in Handler mode; it is an ordinary branch.
    virtual bool exception_return(std::uint32_t value) = 0;
    // v7-A: SPSR of the mode; nothing in User and System mode, where its use is undefined here.
    [[nodiscard]] virtual std::optional<std::uint32_t> spsr() = 0;
    // v7-A: sets CPSR to `cpsr` as far as an exception return may change it, and r[15] to `address`. For MOVS
    // pc and similar with the SPSR, LDM with ^, RFE. All other effects of the instruction are complete.
    virtual void return_from_exception(std::uint32_t address, std::uint32_t cpsr) = 0;

    // --- Registers of other modes (v7-A): LDM and STM with ^ (User), SRS. `number` below 15. ---

    [[nodiscard]] virtual std::uint32_t banked(std::uint32_t mode, std::uint32_t number) = 0;
    virtual void set_banked(std::uint32_t mode, std::uint32_t number, std::uint32_t value) = 0;
    [[nodiscard]] virtual bool privileged() = 0;

    // --- System instructions. Nothing or false: undefined, and the interpreter calls undefined(). ---

    // v7-M: `which` is SYSm, `mask` bits 11 and 10 of the instruction. v7-A: `which` is 0 for CPSR, 1 for
    // SPSR; `mask` selects bytes f, s, x, c by bits 3 to 0. The profile combines the value with the flags in
    // `registers`.
    [[nodiscard]] virtual std::optional<std::uint32_t> mrs(std::uint32_t which) = 0;
    [[nodiscard]] virtual bool msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value) = 0;
    [[nodiscard]] virtual bool cps(const cps_change &what) = 0;
    [[nodiscard]] virtual std::optional<std::uint32_t> mrc(const coprocessor_register &which) = 0;
    [[nodiscard]] virtual bool mcr(const coprocessor_register &which, std::uint32_t value) = 0;
    [[nodiscard]] virtual std::optional<std::uint64_t> mrrc(const coprocessor_register &) { return {}; }
    [[nodiscard]] virtual bool mcrr(const coprocessor_register &, std::uint64_t) { return false; }

    // Returns when the core continues; attend() is called then. An interrupt that is already pending, masked
    // or not, must end it at once: the interpreter has already taken the core's signal for it, so
    // core::wait() would wait for the next signal.
    virtual void wfi() = 0;
    virtual void wfe() = 0;
    virtual void sev() = 0;
    virtual void barrier(barrier_kind which) = 0;

    // Called for an allocated instruction that is not implemented and executes as undefined: once for each
    // name.
    virtual void not_implemented(std::string_view name, std::uint32_t word) = 0;

protected:
    [[nodiscard]] interpreter &by() const { return *by_; }

private:
    interpreter *by_ = nullptr;
};

} // namespace bulkhead::machine::armv7
