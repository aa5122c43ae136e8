// SPDX-License-Identifier: Apache-2.0
// Exceptions and exception returns. A guest that was left continues where it was if ELR_EL2 is unchanged; if
// EL2 has set another address, this is an exception to EL1 or the start of a VCPU.
#include "machine/hosted/cpu.h"

#include "hypervisor/base/syndrome.h"
#include "machine/hosted/calls.h"
#include "machine/hosted/entry_point.h"
#include "machine/hosted/system.h"
#include "machine/program/text.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t instruction_bytes = 4;
constexpr std::uint64_t vector_bytes = 0x80;
constexpr std::uint64_t vectors = 16;
constexpr std::uint64_t vector_sync_el1h = 4;
constexpr std::uint64_t vector_irq_el1h = 5;
constexpr std::uint64_t syndrome_il = 1u << 25;
constexpr std::uint64_t hcr_twi = 1u << 13;
constexpr std::uint64_t hcr_fwb = std::uint64_t{1} << 46;
constexpr std::uint64_t abort_write = 1u << 6;
constexpr std::uint64_t translation_fault = 0x04; // and the level

std::uint64_t class_bits(exception_class which)
{
    return static_cast<std::uint64_t>(which) << 26 | syndrome_il;
}

// The parts of the runs that lie in the pieces.
std::vector<mapping_run> parts_of(std::span<const mapping_run> runs,
                                  std::span<const guest_space::piece> pieces)
{
    std::vector<mapping_run> found;
    for (const mapping_run &run : runs) {
        for (const guest_space::piece &piece : pieces) {
            const std::uint64_t first = std::max(run.ipa, piece.ipa);
            const std::uint64_t end = std::min(run.ipa + run.bytes.value, piece.ipa + piece.bytes.value);
            if (first < end) {
                found.push_back({first, phys_addr{run.pa.value + (first - run.ipa)}, {end - first}});
            }
        }
    }
    return found;
}

} // namespace

cpu::cpu(system &whole, core &timing, std::uint64_t mpidr, std::optional<mmu> translation,
         partition_registers *partitions)
    : system_(whole), timing_(timing),
      state_(mpidr, whole.has_gic_v3(), whole.board().s2fwb,
             partitions != nullptr ? &*whole.hardware().made_from().mpam : nullptr),
      partitions_(partitions), mmu_(std::move(translation))
{
    timing_.set_attend([this] {
        if (in_guest_) {
            take_interrupts();
        }
    });
}

cpu::~cpu() = default;

void cpu::power_on(const void *function, std::uint64_t x0, std::uint64_t x1)
{
    on_ = true;
    timing_.start([this, function, x0, x1](core &) {
        el2_ = &timing_.current();
        enter(el2_execution_, system_.el2_space(), system_.hypervisor().text());
        reinterpret_cast<void (*)(std::uint64_t, std::uint64_t)>(reinterpret_cast<std::uintptr_t>(function))(
            x0, x1);
    });
}

// Called at the start of a fiber: code on it accesses `space`. Its stack is the host's.
void cpu::enter(execution &what, const window &space, const std::shared_ptr<program_text> &text)
{
    constexpr std::uint64_t above = 1024; // from this frame to the stack's top
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    what = {};
    what.on = &timing_;
    what.text = text;
    what.faults = this;
    what.see(space); // translated: for EL2 by translation_on(), for a guest by translate_guest()
    what.free_first = here + above - fiber::default_stack.value;
    what.free_bytes = fiber::default_stack.value;
    enter_execution(&what);
}

// Handles an access that a window does not allow. EL2 has no such accesses; for a guest, stage 2 decides.
void cpu::resolve(const fault &what)
{
    if (what.on_stack) {
        system_.give_up("stack overflow");
    }
    if (!in_guest_) {
        system_.give_up(sentence("EL2 ", what.kind == access_kind::read ? "reads " : "writes ",
                                 hex{what.ipa.value_or(what.address)}, " in ",
                                 system_.hypervisor().describe(what.code)));
    }
    // An address beyond its window is beyond all that stage 2 maps.
    const std::uint64_t ipa =
        what.ipa ? space_->ipa_at(*what.ipa) : what.address & ((std::uint64_t{1} << 39) - 1);
    map_page(ipa, what.kind, resume_address(reinterpret_cast<const void *>(what.code)));
}

// --- EL2 ---

int cpu::enter_guest(guest_regs &regs)
{
    regs_ = &regs;
    const std::uint64_t vmid = state_[SYSREG_ID_VTTBR_EL2] >> 48;
    space_ = system_.space_of(vmid);
    if (space_ == nullptr) {
        system_.give_up("a guest is entered whose VMID no domain has");
    }
    guest_ = &guests_[vmid];
    timing_.spend(system_.board().exit);
    pstate_ = state_[SYSREG_ID_SPSR_EL2];
    const std::uint64_t address = state_[SYSREG_ID_ELR_EL2];
    const std::uint64_t vector = (address - state_[SYSREG_ID_VBAR_EL1]) / vector_bytes;
    guest_->pending_vector.reset();
    if (!guest_->continues ||
        (address != guest_->left_at && address != guest_->left_at + instruction_bytes)) {
        if (guest_->continues && vector < vectors && address % vector_bytes == 0 &&
            state_[SYSREG_ID_VBAR_EL1] != 0) {
            guest_->pending_vector = vector;
        } else {
            start_guest();
        }
    }
    in_guest_ = true;
    event_.set(); // DDI 0487, D1.6.2: an exception return is an event Interrupts that came while EL2 ran are
                  // still pending: the guest takes them before its first instruction.
    if (sees_interrupt() || system_.gic().virtual_interface(id()).signalled()) {
        timing_.signal(timing_.clock());
    }
    guest_regime_ = guest_regime();
    execute_at(1);
    timing_.run_on(*guest_->on);
    execute_at(2);
    in_guest_ = false;
    timing_.spend(system_.board().entry);
    return kind_;
}

void cpu::start_guest()
{
    system_.vcpu_starts(state_[SYSREG_ID_VTTBR_EL2] >> 48, id());
    guest_->on = std::make_unique<fiber>([this]() -> fiber & {
        enter(guest_->runs, space_->pages(), system_.text_of(vmid()));
        translate_guest();
        run_guest();
        return *el2_;
    });
    guest_->continues = false;
}

// Sets the exception level to which events are counted, and by which requests are labelled, from now on.
void cpu::execute_at(std::uint32_t level)
{
    if (partitions_ != nullptr) {
        level == 2 ? partitions_->enter_el2() : partitions_->enter_el1();
    }
    if (monitors *counted = system_.monitors_of(id())) {
        counted->registers().set_exception_level(level);
    }
}

// Waits until the core is signalled.
void cpu::sleep()
{
    monitors *counted = system_.monitors_of(id());
    if (counted != nullptr) {
        counted->set_asleep(true);
    }
    timing_.wait();
    timing_.order();
    if (counted != nullptr) {
        counted->set_asleep(false);
    }
}

// Whether an interrupt can be taken now. An interrupt that arrives later signals the core.
bool cpu::sees_interrupt()
{
    const devices::irq_output &output = system_.irq_output_of(id());
    if (output.is_seen(timing_.clock())) {
        return true;
    }
    if (output.seen_from() != engine::never) {
        timing_.signal(output.seen_from());
    }
    return false;
}

bool cpu::sees_event()
{
    const bool there = event_.is_set(timing_.clock());
    if (!there && event_.coming() != engine::never) {
        timing_.signal(event_.coming());
    }
    return there;
}

void cpu::wait_for_interrupt()
{
    timing_.order();
    while (!sees_interrupt()) {
        sleep();
    }
}

void cpu::wait_for_event()
{
    timing_.order();
    while (!sees_event() && !sees_interrupt()) {
        sleep();
    }
    event_.clear();
}

// --- Guest ---

tables cpu::stage2() const
{
    return {vmsa::stage2_from(state_[SYSREG_ID_VTTBR_EL2], state_[SYSREG_ID_VTCR_EL2])};
}

// The function that a record in the guest's memory names; nothing if there is no record or the address is not
// mapped.
const void *cpu::fetch(std::uint64_t ipa)
{
    const auto found = stage2().walk(system_.memory(), ipa);
    const auto *page = std::get_if<translation>(&found);
    if (page == nullptr || ipa % entry_point_alignment != 0) {
        return nullptr;
    }
    const auto distance = entry_point_distance(system_.memory().bytes(page->pa, {entry_point_bytes}));
    return distance ? space_->host(ipa) + *distance : nullptr;
}

// The body of a VCPU's fiber. Fetches the next instruction until it finds a function that can run.
void cpu::run_guest()
{
    for (;;) {
        const std::uint64_t address = state_[SYSREG_ID_ELR_EL2];
        const auto found = stage2().walk(system_.memory(), address);
        if (const auto *fault = std::get_if<walk_fault>(&found)) {
            leave({class_bits(EC_INSTRUCTION_ABORT_LOWER) | translation_fault | fault->level, address,
                   address, address});
        } else if (const void *function = fetch(address)) {
            guest_->continues = true;
            take_interrupts();
            reinterpret_cast<void (*)(std::uint64_t)>(reinterpret_cast<std::uintptr_t>(function))(
                exchange()[0]);
            system_.give_up("a guest's program has returned to nowhere");
        } else {
            leave({syndrome_il, 0, 0, address}); // unknown reason: undefined
        }
    }
}

bool cpu::leave(const exception &why)
{
    state_[SYSREG_ID_ELR_EL2] = why.resume;
    state_[SYSREG_ID_SPSR_EL2] = pstate_;
    guest_->left_at = why.resume;
    kind_ = 1;
    if (why.syndrome != 0) {
        kind_ = 0;
        state_[SYSREG_ID_ESR_EL2] = why.syndrome;
        state_[SYSREG_ID_FAR_EL2] = why.address;
        state_[SYSREG_ID_HPFAR_EL2] = why.page >> 12 << 4;
    }
    const std::uint64_t before = pstate_;
    timing_.run_on(*el2_);
    const bool done = state_[SYSREG_ID_ELR_EL2] != why.resume;
    if (guest_->pending_vector) {
        const std::uint64_t vector = *guest_->pending_vector;
        guest_->pending_vector.reset();
        deliver(vector);
        pstate_ = before;
        return true;
    }
    return done;
}

void cpu::take_interrupts()
{
    for (;;) {
        if (sees_interrupt()) {
            leave({.resume = resume_address(nullptr)});
        } else if (takes_virtual_interrupt()) {
            const std::uint64_t before = pstate_;
            state_[SYSREG_ID_ELR_EL1] = resume_address(nullptr);
            state_[SYSREG_ID_SPSR_EL1] = before;
            deliver(vector_irq_el1h);
            pstate_ = before;
        } else {
            return;
        }
    }
}

// Runs at EL1, on the guest's own stack. A handler that returns continues after the call that caused the
// exception.
void cpu::deliver(std::uint64_t vector)
{
    pstate_ = pstate::el1h | pstate::all_masked;
    const void *function = fetch(state_[SYSREG_ID_VBAR_EL1]);
    if (function == nullptr) {
        system_.give_up("a guest has no vectors");
    }
    reinterpret_cast<void (*)(std::uint64_t, std::uint64_t, std::uint64_t)>(reinterpret_cast<std::uintptr_t>(
        function))(vector, state_[SYSREG_ID_ELR_EL1], state_[SYSREG_ID_SPSR_EL1]);
}

// For an instruction that is not trapped: the core's own exception to EL1.
void cpu::inject_undefined(std::uint64_t address)
{
    state_[SYSREG_ID_ESR_EL1] = syndrome_il;
    state_[SYSREG_ID_ELR_EL1] = address;
    const std::uint64_t before = pstate_;
    state_[SYSREG_ID_SPSR_EL1] = before;
    deliver(vector_sync_el1h);
    pstate_ = before;
}

void cpu::guest_wait(const void *where)
{
    timing_.order();
    if ((state_[SYSREG_ID_HCR_EL2] & hcr_twi) != 0) {
        if (!system_.gic().virtual_interface(id()).signalled()) {
            leave({.syndrome = class_bits(EC_WFX), .resume = resume_address(where)});
        }
        return take_interrupts();
    }
    while (!sees_interrupt() && !system_.gic().virtual_interface(id()).signalled()) {
        sleep();
    }
    take_interrupts();
}

// EL2 does not trap WFE. A return to the guest sets the event register, too: see enter_guest().
void cpu::guest_wait_for_event()
{
    timing_.order();
    while (!sees_event() && !sees_interrupt() && !takes_virtual_interrupt()) {
        sleep();
    }
    event_.clear();
    take_interrupts();
}

bool cpu::takes_virtual_interrupt()
{
    return (pstate_ & pstate::irq_masked) == 0 && system_.gic().virtual_interface(id()).signalled();
}

void cpu::set_interrupt_mask(bool masked)
{
    pstate_ = masked ? pstate_ | pstate::irq_masked : pstate_ & ~pstate::irq_masked;
    if (!masked) {
        timing_.order();
        take_interrupts();
    }
}

std::uint64_t *cpu::exchange()
{
    return reinterpret_cast<std::uint64_t *>(regs_); // its first member is x[31]
}

// Code addresses are those of the link, at which no guest has memory.
std::uint64_t cpu::resume_address(const void *return_address) const
{
    const auto window_start = reinterpret_cast<std::uint64_t>(space_->host(space_->own_first()));
    return return_address == nullptr
               ? link_low
               : reinterpret_cast<std::uint64_t>(return_address) - window_start + link_window;
}

// Maps the whole neighbourhood, since its pages are likely to be accessed next. Of another's memory it maps
// one page only: that page has two users from now on, whose accesses are kept in order, which costs host
// time.
void cpu::map_around(std::uint64_t ipa, const translation &page)
{
    const bool others = space_->is_others(ipa);
    const std::uint64_t span = others ? page_bytes : 2u << 20;
    std::uint64_t first = ipa & ~(span - 1);
    std::uint64_t end = first + span;
    if (!others) {
        first = std::max(first, space_->own_first());
        end = std::min(end, space_->own_end());
    }
    const stage2_caching caching = stage2_cached(page.attributes, (state_[SYSREG_ID_HCR_EL2] & hcr_fwb) != 0);
    page_attributes attributes{.writable = vmsa::stage2_of(page.attributes).writable,
                               .past_caches = caching == stage2_caching::never};
    auto runs = stage2().runs(system_.memory(), first, end - first);
    for (mapping_run &run : runs) {
        run.ipa = space_->in_window(run.ipa);
        if (others) {
            system_.share_page(run.pa);
        }
    }
    map_runs(runs, attributes);
    if (caching == stage2_caching::as_stage1) {
        attributes.past_caches = true;
        map_runs(parts_of(runs, space_->mapped_past_caches()), attributes);
    }
}

void cpu::map_runs(std::span<const mapping_run> runs, page_attributes attributes)
{
    if (auto bad = space_->pages().map(runs, attributes)) {
        system_.give_up(bad->reason);
    }
}

// Writes the memory's lines back from the caches of this core; its pages are looked up again at the next
// access.
void cpu::map_guest_past_caches(std::uint64_t ipa, byte_count bytes)
{
    if (bytes.value == 0) {
        for (const guest_space::piece &one : space_->mapped_past_caches()) {
            space_->pages().unmap(one.ipa, one.bytes);
        }
        space_->map_all_cached();
        return;
    }
    for (std::uint64_t at = ipa; at < ipa + bytes.value; at += page_bytes) {
        if (const auto pa = space_->pages().translate(at)) {
            timing_.flush(*pa, {page_bytes});
        }
    }
    space_->map_past_caches(ipa, bytes);
    space_->pages().unmap(ipa, bytes);
}

void cpu::map_page(std::uint64_t ipa, access_kind kind, std::uint64_t resume)
{
    for (;;) {
        const auto found = stage2().walk(system_.memory(), ipa);
        if (const auto *page = std::get_if<translation>(&found)) {
            if (system_.memory().offset_of(page->pa, {1}) == ram::absent) {
                system_.give_up("a guest's program uses a device as memory");
            }
            map_around(ipa, *page);
            return;
        }
        const auto &fault = std::get<walk_fault>(found);
        const std::uint64_t write = kind == access_kind::write ? abort_write : 0;
        leave({class_bits(EC_DATA_ABORT_LOWER) | write | translation_fault | fault.level, ipa, ipa, resume});
    }
}

} // namespace bulkhead::machine::hosted
