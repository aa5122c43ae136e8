// SPDX-License-Identifier: Apache-2.0
// The board that hosted software runs on: its parts, how it starts, and the addresses of its devices.
#include "machine/hosted/system.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <stdatomic.h> // hypervisor/arch/hosted: C keywords as C++ has them

#include "hypervisor/base/image.h"
#include "hypervisor/memory/window.h"
#include "machine/hosted/calls.h"
#include "machine/hosted/cpu.h"
#include "machine/hosted/entry_point.h"
#include "machine/program/text.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t window_va = 0x6000000000; // hypervisor/arch/hosted/window.c
constexpr std::uint64_t window_pages = WINDOW_PAGES;
constexpr std::uint8_t owner_hypervisor = 1;
constexpr std::uint8_t owner_first_domain = 2;
constexpr std::uint64_t psci_version = 0x84000000;
constexpr std::uint64_t psci_cpu_off = 0x84000002;
constexpr std::uint64_t psci_cpu_on = 0xC4000003;
constexpr std::uint64_t psci_system_off = 0x84000008;
constexpr std::int64_t psci_not_supported = -1;
constexpr std::int64_t psci_invalid_parameters = -2;
constexpr std::int64_t psci_already_on = -4;

std::uint64_t up_to_pages(std::uint64_t bytes)
{
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace

system::system(board_settings board, contents what) : board_(std::move(board)), contents_(std::move(what)) {}

system::~system() = default;

result<std::unique_ptr<system>> system::make(const settings &wanted, board_settings board, contents what)
{
    std::unique_ptr<system> made(new system(std::move(board), std::move(what)));
    if (auto bad = made->make_hardware(wanted)) {
        return *std::move(bad);
    }
    if (auto bad = made->make_spaces()) {
        return *std::move(bad);
    }
    if (auto bad = made->fill_memory()) {
        return *std::move(bad);
    }
    return made;
}

std::optional<refusal> system::make_hardware(const settings &wanted)
{
    auto hardware = simulated_machine::make(wanted);
    if (auto *bad = std::get_if<refusal>(&hardware)) {
        return std::move(*bad);
    }
    machine_ = std::get<std::unique_ptr<simulated_machine>>(std::move(hardware));
    if (board_.mpidrs.size() != machine_->core_count()) {
        return refusal{sentence(board_.mpidrs.size(), " affinities for ", machine_->core_count(), " cores")};
    }
    for (const dma_settings &one : board_.dma) {
        if (std::ranges::find(wanted.masters, one.master, &master_settings::name) == wanted.masters.end()) {
            return refusal{"the machine has no master " + one.master};
        }
    }
    if (board_.event_counters > devices::pmu::max_counters ||
        (board_.event_counters != 0 && board_.overflow_irqs.size() != machine_->core_count())) {
        return refusal{sentence(board_.event_counters, " event counters, ", board_.overflow_irqs.size(),
                                " interrupts of theirs for ", machine_->core_count(), " cores")};
    }
    std::vector<memory_range> all{{machine_->ram().base(), machine_->ram().size()}};
    for (const region_settings &one : wanted.regions) { // on-chip memory
        all.push_back({phys_addr{one.base}, {one.size_bytes}});
    }
    auto bytes = ram::make(all);
    if (auto *bad = std::get_if<refusal>(&bytes)) {
        return std::move(*bad);
    }
    memory_ = std::make_unique<ram>(std::get<ram>(std::move(bytes)));

    irq_outputs_.resize(machine_->core_count());
    peripherals_ = std::make_unique<peripherals>(
        board_, peripherals::surroundings{
                    .machine = *machine_,
                    .memory = *memory_,
                    .interrupts_changed = [this](core_id which) { interrupts_changed(which); },
                    .sent = [this](std::uint8_t byte) { console_.push_back(static_cast<char>(byte)); },
                });
    gic().set_seen(
        [this](core_id which) { return irq_output_of(which).is_seen(machine_->core_at(which).clock()); });
    make_core_registers();
    return make_cpus();
}

std::optional<refusal> system::make_spaces()
{
    const std::uint64_t bytes =
        contents_.pool_bytes + window_pages * page_bytes + machine_->ram().size().value;
    auto space =
        window::make(*memory_, {.first = POOL_VA, .bytes = {bytes}, .below = image::below(), .above = {0}});
    if (auto *bad = std::get_if<refusal>(&space)) {
        return std::move(*bad);
    }
    el2_space_ = std::make_unique<window>(std::get<window>(std::move(space)));
    auto placed = instance::place(*contents_.hypervisor, *el2_space_, symbol);
    if (auto *bad = std::get_if<refusal>(&placed)) {
        return refusal{"hypervisor: " + bad->reason};
    }
    hypervisor_ = std::make_unique<instance>(std::get<instance>(std::move(placed)));
    for (const contents::domain &domain : contents_.domains) {
        auto seen = guest_space::make(*memory_, {machine_->ram().base(), machine_->ram().size()},
                                      domain.memory_end, domain.others_at);
        if (auto *bad = std::get_if<refusal>(&seen)) {
            return std::move(*bad);
        }
        guest &made = guests_.emplace_back();
        made.space = std::get<std::unique_ptr<guest_space>>(std::move(seen));
        auto program = instance::place(*domain.program, made.space->pages(), symbol);
        if (auto *bad = std::get_if<refusal>(&program)) {
            return std::move(*bad);
        }
        made.program = std::make_unique<instance>(std::get<instance>(std::move(program)));
    }
    return std::nullopt;
}

std::optional<refusal> system::fill_memory()
{
    for (const contents::piece &piece : contents_.pieces) {
        const std::span<std::byte> where = memory_->bytes(phys_addr{piece.pa}, {piece.bytes.size()});
        if (where.empty()) {
            return refusal{
                sentence(piece.bytes.size(), " bytes at ", hex{piece.pa}, " are not memory of the machine")};
        }
        std::ranges::copy(piece.bytes, where.begin());
    }
    std::uint64_t pa = machine_->ram().base().value;
    for (const std::uint8_t owner : contents_.owners) {
        machine_->ram().set_owner(phys_addr{pa}, {page_bytes}, owner_id{owner});
        if (owner == owner_hypervisor && machine_->core_count() > 1) {
            machine_->ram().set_shared(phys_addr{pa}, {page_bytes}, true);
        }
        pa += page_bytes;
    }
    // On-chip memory belongs to EL2, on every core.
    for (const region_settings &one : machine_->made_from().regions) {
        if (machine_->core_count() > 1) {
            machine_->ram().set_shared(phys_addr{one.base}, {one.size_bytes}, true);
        }
    }
    return std::nullopt;
}

// --- A run ---

end_of_run system::run(picoseconds until)
{
    catch_faults();
    if (!cpus_[0]->is_on()) {
        map_before_translation();
        const void *entry = hypervisor_->symbol("entry_primary");
        if (entry == nullptr) {
            trouble_ = "the hypervisor's image has no entry";
            return end_of_run::confused;
        }
        cpus_[0]->power_on(entry, contents_.load_address, 0);
    }
    const engine::ending how = machine_->timeline().run(until);
    if (!trouble_.empty()) {
        return end_of_run::confused;
    }
    if (off_) {
        return end_of_run::off;
    }
    return how == engine::ending::idle ? end_of_run::idle : end_of_run::time;
}

void system::give_up(std::string why)
{
    if (trouble_.empty()) {
        trouble_ = std::move(why);
    }
    stop_for_ever();
}

void system::stop_for_ever()
{
    machine_->timeline().stop();
    rest_for_ever();
}

// The running fiber does not continue.
void system::rest_for_ever()
{
    for (;;) {
        running().timing().wait();
    }
}

// While the MMU is off, code runs in the package, addresses are physical, and data bypass the caches
// (SCTLR_EL2.C is 0). So boot code leaves no lines of the package or of its copies in L1, whose later
// eviction would disturb other colors.
void system::map_before_translation()
{
    const std::uint64_t image_bytes = up_to_pages(contents_.hypervisor->data_bytes().value);
    const mapping_run runs[] = {
        {POOL_VA, phys_addr{contents_.load_address}, {image_bytes}},
        {physical_va(machine_->ram().base().value), machine_->ram().base(), machine_->ram().size()},
    };
    if (auto bad = el2_space_->map(runs, {.writable = true, .past_caches = true})) {
        trouble_ = bad->reason;
    }
}

std::uint64_t system::physical_va(std::uint64_t pa) const
{
    return POOL_VA + contents_.pool_bytes + window_pages * page_bytes + (pa - machine_->ram().base().value);
}

std::byte *system::physical(std::uint64_t pa)
{
    return el2_space_->host(physical_va(pa));
}

std::byte *system::el2_pointer(std::uint64_t va)
{
    return el2_space_->host(va < window_va ? va : POOL_VA + contents_.pool_bytes + (va - window_va));
}

std::uint64_t system::el2_address(std::uint64_t in_window) const
{
    const std::uint64_t windows = POOL_VA + contents_.pool_bytes;
    return in_window < windows ? in_window : window_va + (in_window - windows);
}

void system::translation_on(std::uint64_t ttbr0, std::uint64_t tcr)
{
    if (translating_) {
        return; // every core has the same registers
    }
    translating_ = true;
    el2_space_->unmap(POOL_VA, el2_space_->layout().bytes);
    const tables mapped{vmsa::stage1_from(ttbr0, tcr)};
    for (const mapping_run &run : mapped.runs(*memory_, POOL_VA, contents_.pool_bytes)) {
        const auto first = mapped.walk(*memory_, run.ipa);
        const bool writable = vmsa::stage1_of(std::get<translation>(first).attributes, 0).writable;
        if (auto bad = el2_space_->map({&run, 1}, {.writable = writable})) {
            give_up(bad->reason);
        }
    }
}

void system::map_el2_window(std::uint64_t va)
{
    cpu &core = running();
    const tables mapped{
        vmsa::stage1_from(core.state()[SYSREG_ID_TTBR0_EL2], core.state()[SYSREG_ID_TCR_EL2])};
    const std::uint64_t page = va & ~(page_bytes - 1);
    const std::uint64_t here = POOL_VA + contents_.pool_bytes + (page - window_va);
    el2_space_->unmap(here, {page_bytes});
    const auto found = mapped.walk(*memory_, page);
    if (const auto *one = std::get_if<translation>(&found)) {
        const mapping_run run{here, one->pa, {page_bytes}};
        if ((page - window_va) / page_bytes % WINDOW_COUNT >= WINDOW_DOOR) {
            share_page(one->pa); // of a guest that keeps running
        }
        const vmsa::stage1_attributes made =
            vmsa::stage1_of(one->attributes, core.state()[SYSREG_ID_MAIR_EL2]);
        const page_attributes attributes{.writable = made.writable, .past_caches = !made.cached};
        if (auto bad = el2_space_->map({&run, 1}, attributes)) {
            give_up(bad->reason);
        }
    }
}

// Detects the store by which the hypervisor reports that images are loaded and cores are ready
// (system_started()).
void system::look_for_start()
{
    if (started_ || !translating_) {
        return;
    }
    const auto *status = static_cast<const std::byte *>(hypervisor_->symbol("status_pages"));
    const auto ipa = el2_space_->ipa_of(reinterpret_cast<std::uint64_t>(status));
    const auto pa = ipa ? el2_space_->translate(*ipa + offsetof(status_system, phase)) : std::nullopt;
    std::uint32_t phase = 0;
    if (pa) {
        std::memcpy(&phase, memory_->bytes(*pa, {sizeof phase}).data(), sizeof phase);
    }
    if (phase == BH_PHASE_STARTED) {
        started_ = machine_->timeline().now();
        if (when_started_) {
            when_started_();
        }
    }
}

// --- Devices and firmware ---

cpu &system::running()
{
    return *cpus_[machine_->timeline().running()->id().value];
}

std::shared_ptr<program_text> system::text_of(std::uint64_t vmid) const
{
    return vmid - 1 < guests_.size() ? guests_[vmid - 1].program->text() : nullptr;
}

guest_space *system::space_of(std::uint64_t vmid)
{
    // VMID 0 belongs to no guest.
    return vmid >= 1 && vmid <= guests_.size() ? guests_[vmid - 1].space.get() : nullptr;
}

void system::vcpu_starts(std::uint64_t vmid, core_id where)
{
    guest &one = guests_.at(vmid - 1);
    const bool alone = std::popcount(one.cores) < 2;
    one.cores |= std::uint64_t{1} << where.value;
    if (!alone || std::popcount(one.cores) < 2) {
        return;
    }
    const auto owner = static_cast<std::uint8_t>(owner_first_domain + vmid - 1);
    const std::span<const std::uint8_t> owners = contents_.owners;
    for (auto first = std::ranges::find(owners, owner); first != owners.end();) {
        const auto end =
            std::find_if(first, owners.end(), [owner](std::uint8_t other) { return other != owner; });
        const auto frame = static_cast<std::uint64_t>(first - owners.begin());
        machine_->share(phys_addr{machine_->ram().base().value + frame * page_bytes},
                        {static_cast<std::uint64_t>(end - first) * page_bytes}, true);
        first = std::find(end, owners.end(), owner);
    }
}

void system::share_page(phys_addr page)
{
    const frames::frame *known = machine_->ram().find(page);
    if (known != nullptr && !known->shared) {
        machine_->share(page, {page_bytes}, true);
    }
}

// A core sees a physical interrupt after its latency, whatever the core does. A virtual interrupt is raised
// by the core itself, or by another core of its guest.
void system::interrupts_changed(core_id which)
{
    const picoseconds now = machine_->timeline().now();
    const picoseconds seen = now + picoseconds{machine_->made_from().signals.interrupt_ps};
    devices::irq_output &output = irq_outputs_[which.value];
    output.set(gic().signalled(which), seen);
    if (output.seen_from() != engine::never) {
        machine_->core_at(which).signal(std::max(output.seen_from(), now));
    }
    if (gic().virtual_interface(which).signalled()) {
        const sequencer *runs = machine_->timeline().running();
        machine_->core_at(which).signal(runs != nullptr && runs->id() == which ? now : seen);
    }
}

// Signals the event to the other cores after its latency; the sender sees it at once.
void system::send_event()
{
    cpu &from = running();
    const picoseconds when = from.timing().clock() + picoseconds{machine_->made_from().signals.event_ps};
    for (const auto &each : cpus_) {
        if (each.get() == &from) {
            each->event().set();
        } else {
            each->event().set_at(when);
            each->timing().signal(when);
        }
    }
}

void system::broadcast_maintenance()
{
    core &from = running().timing();
    const picoseconds when = from.order() + picoseconds{machine_->made_from().signals.maintenance_ps};
    for (const auto &each : cpus_) {
        if (&each->timing() != &from) {
            each->timing().stand_still(when, board_.broadcast_stall);
        }
    }
    from.spend(board_.broadcast_wait);
}

void system::type(picoseconds when, std::string_view text)
{
    for (const char one : text) {
        machine_->timeline().at(
            when, [this, one] { peripherals_->uart().receive(static_cast<std::uint8_t>(one)); });
    }
}

std::uint64_t system::read_device(std::uint64_t pa, unsigned bytes)
{
    const std::optional<std::uint64_t> value = peripherals_->read(running().id(), pa, bytes);
    if (!value) {
        give_up(sentence("no device at ", hex{pa}, " (read)"));
    }
    return *value;
}

void system::write_device(std::uint64_t pa, unsigned bytes, std::uint64_t value)
{
    if (!peripherals_->write(running().id(), pa, bytes, value)) {
        give_up(sentence("no device at ", hex{pa}, " (write)"));
    }
}

std::int64_t system::cpu_on(std::uint64_t mpidr, std::uint64_t entry, std::uint64_t argument)
{
    const auto which = std::ranges::find(board_.mpidrs, mpidr);
    const auto record = memory_->bytes(phys_addr{entry}, {entry_point_bytes});
    const auto distance = entry_point_distance(record);
    if (which == board_.mpidrs.end() || !distance) {
        return psci_invalid_parameters;
    }
    cpu &target = *cpus_[static_cast<std::size_t>(which - board_.mpidrs.begin())];
    if (target.is_on()) {
        return psci_already_on;
    }
    // The record is in the image's first page, which is frame 0 of the pool.
    target.power_on(el2_space_->host(POOL_VA + entry % page_bytes) + *distance, argument, 0);
    return 0;
}

std::int64_t system::firmware(std::uint64_t function, std::uint64_t x1, std::uint64_t x2, std::uint64_t x3)
{
    switch (function) {
    case psci_version:
        return 0x10001;
    case psci_cpu_on:
        return cpu_on(x1, x2, x3);
    case psci_cpu_off: // EL2 turns a core off only at the end of a run: no core turns it on again
        rest_for_ever();
    case psci_system_off:
        off_ = true;
        stop_for_ever();
    default:
        return psci_not_supported;
    }
}

} // namespace bulkhead::machine::hosted
