// SPDX-License-Identifier: Apache-2.0
// What the interpreter of Armv7 instructions asks the system level of its core: memory as an instruction sees
// it (translated, checked, timed), exceptions, and the system instructions. Armv7-M (m_profile/) and Armv7-A
// (a_profile/) are the two that exist; tests have a third with flat memory (flat_profile.h).
//
// State at a call, but for read() and write(), which find r[15] and `it` unspecified: registers::r[15] is the
// address of the instruction that makes the call, `it` the ITSTATE with which it executes, and all other
// registers are as before it, unless a call says otherwise. A call that says that it takes an exception
// changes r[15], `thumb` and `it` to those of the handler (and clears the exclusive monitor:
// interpreter::clear_exclusive()); the interpreter goes on from there.
//
// Calls may switch fibers, as each access of a core may.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "machine/core.h"

namespace bulkhead::machine::armv7 {

class interpreter;

// What the modelled core has of the architecture. Constant while the interpreter exists. v7-M always has the
// DSP extension here (Cortex-M4, M7).
struct features {
    bool m_profile = false;    // v7-M: T32 alone, EXC_RETURN, M's encodings of MRS, MSR and CPS
    bool divide_thumb = false; // SDIV, UDIV in T32: all Armv7-M and -R
    bool divide_arm = false;   // and in A32: Cortex-A7, A15; not A9
    // Words that LDM, STM and their like move in a cycle while L1 has them; 0: any number.
    std::uint32_t words_per_cycle = 0;
};

// One access as an instruction makes it. An access of LDM, LDRD and their like is one of several words.
struct access_request {
    std::uint32_t address = 0;
    std::uint8_t bytes = 4;     // 1, 2 or 4
    std::uint8_t alignment = 1; // that the instruction demands whatever SCTLR.A or CCR.UNALIGN_TRP say
    bool unprivileged = false;  // LDRT, STRT
    bool dependent = false;     // a load whose value is an address soon: core::dependent_read()
    bool exclusive = false;     // LDREX, STREX
};

// Code that is mapped alike from an address on.
struct code_span {
    phys_addr where{};       // of the address that was asked for
    std::uint32_t bytes = 0; // from there on, all with one answer; whole instructions of A32
    bool cached = true;      // false: no cache may serve it, and each line is read when it is entered
    const std::uint8_t *content = nullptr; // those bytes on the host; valid until translation_changed()
};

enum class barrier_kind : std::uint8_t { dmb, dsb, isb };

// CPS. Armv7-M: enable or disable, with `i` (PRIMASK) and `f` (FAULTMASK).
struct cps_change {
    bool enable = false;
    bool disable = false;
    bool a = false;
    bool i = false;
    bool f = false;
    std::optional<std::uint32_t> mode; // v7-A: M[4:0]
};

// MRC, MCR: the operands by their names. MRRC, MCRR: coprocessor, opc1 and crm alone.
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

    // By the interpreter's constructor.
    void attach(interpreter &by) { by_ = &by; }

    // --- Memory ---

    // One access: alignment, translation and permission checked, the time charged to the core
    // (core::access(), dependent_read(), past_caches()), and done. Nothing or false: it faulted. The profile
    // has recorded how; no byte was read or written, and the interpreter calls take_fault() next.
    // A load's value is extended with zeros. A store to memory tells interpreter::stored().
    [[nodiscard]] virtual std::optional<std::uint32_t> read(const access_request &what) = 0;
    [[nodiscard]] virtual bool write(const access_request &what, std::uint32_t value) = 0;

    // Code at `address`, with the privilege that the core has: asked when a block of instructions is first
    // executed, and again after interpreter::translation_changed() and with each other privilege
    // (interpreter::set_privileged()). Lookups of an instruction TLB cost their time here. Nothing: it
    // faulted, as above. The time of the lines is the interpreter's to ask for.
    [[nodiscard]] virtual std::optional<code_span> fetch(std::uint32_t address) = 0;

    // --- Exceptions: each is taken by the profile ---

    // That which read(), write() or fetch() has recorded. Memory may have some of the words of an abandoned
    // STM; the instruction executes again as a whole.
    virtual void take_fault() = 0;
    // An undefined instruction: a word of A32, or of T32 one halfword or two, the first above.
    virtual void undefined(std::uint32_t word) = 0;
    // v7-M: the instruction at r[15] would execute with EPSR.T clear.
    virtual void invalid_state() { undefined(0); }
    // r[15] and `it` are those of the instruction behind it.
    virtual void svc(std::uint32_t immediate) = 0;
    // BKPT. r[15] is its own address; whoever wants to go on behind it adds 2, or 4 in A32.
    virtual void breakpoint(std::uint32_t immediate) = 0;
    // Between two instructions, when the core has signalled, or after interpreter::look_for_interrupts() and
    // WFI: takes an interrupt if one is pending and not masked, or does nothing. r[15] is the instruction
    // that executes next.
    virtual void attend() = 0;

    // --- Returns from exceptions ---

    // v7-M: `value`, of which bits 31 to 28 are ones, was loaded to the pc by BX, POP, LDM or LDR. The
    // instruction has done all else (SP included). True: the profile has returned from the exception, r[15]
    // is where to go on. False: not in Handler mode; a branch like any other.
    virtual bool exception_return(std::uint32_t value) = 0;
    // v7-A: of the mode; nothing in User and System mode, where its use is undefined here.
    [[nodiscard]] virtual std::optional<std::uint32_t> spsr() = 0;
    // v7-A: CPSR becomes `cpsr` as far as the return of an exception may change it, and r[15] `address`.
    // MOVS pc and the like with the SPSR, LDM with ^, RFE. All else of the instruction is done.
    virtual void return_from_exception(std::uint32_t address, std::uint32_t cpsr) = 0;

    // --- Registers of other modes (v7-A): LDM and STM with ^ (User), SRS. `number` below 15. ---

    [[nodiscard]] virtual std::uint32_t banked(std::uint32_t mode, std::uint32_t number) = 0;
    virtual void set_banked(std::uint32_t mode, std::uint32_t number, std::uint32_t value) = 0;
    [[nodiscard]] virtual bool privileged() = 0;

    // --- System instructions. Nothing or false: undefined, and the interpreter calls undefined(). ---

    // v7-M: `which` is SYSm, `mask` the instruction's bits 11 and 10. v7-A: `which` is 0 for CPSR, 1 for
    // SPSR, `mask` names bytes f, s, x, c as bits 3 to 0. The flags in `registers` are the profile's to
    // combine.
    [[nodiscard]] virtual std::optional<std::uint32_t> mrs(std::uint32_t which) = 0;
    [[nodiscard]] virtual bool msr(std::uint32_t which, std::uint32_t mask, std::uint32_t value) = 0;
    [[nodiscard]] virtual bool cps(const cps_change &what) = 0;
    [[nodiscard]] virtual std::optional<std::uint32_t> mrc(const coprocessor_register &which) = 0;
    [[nodiscard]] virtual bool mcr(const coprocessor_register &which, std::uint32_t value) = 0;
    [[nodiscard]] virtual std::optional<std::uint64_t> mrrc(const coprocessor_register &) { return {}; }
    [[nodiscard]] virtual bool mcrr(const coprocessor_register &, std::uint64_t) { return false; }

    // Returns when the core goes on; attend() follows. What is pending already, masked or not, ends it at
    // once: the interpreter has seen the core's signal of that, so core::wait() would wait for the next one.
    virtual void wfi() = 0;
    virtual void wfe() = 0;
    virtual void sev() = 0;
    virtual void barrier(barrier_kind which) = 0;

    // An allocated instruction that is not implemented and executes as undefined: once for each name.
    virtual void not_implemented(std::string_view name, std::uint32_t word) = 0;

protected:
    [[nodiscard]] interpreter &by() const { return *by_; }

private:
    interpreter *by_ = nullptr;
};

} // namespace bulkhead::machine::armv7
