// SPDX-License-Identifier: Apache-2.0
// The fake board around the hosted hypervisor: memory for its pool, symbols that the linker script defines on
// the target, and a way out of the idle loop.
#include "hosted_machine.h"
#include "core/crc32.h"
#include "hosted_gic.h"
#include "run/domain_life.h"
#include "run/shared_core.h"
#include "run/vcpu_run.h"
#include "tests/hypervisor/zdma_model.h"
#include "time/bandwidth.h"
#include "time/bandwidth_update.h"
#include "time/statistics.h"
#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>

extern "C" {
#include "console/console.h"
#include "flow/flows.h"
#include "iommu/smmu.h"
#include "its/its.h"
#include "memory/table_memory.h"
#include "memory/window.h"
#include "mpam/mpam_components.h"
#include "mpam/mpam_labels.h"
#include "pci/pci.h"
#include "run/crash.h"
#include "run/guest_state.h"
#include "run/irq.h"
#include "run/system_end.h"
#include "time/regulation.h"
#include "vm/clock.h"
#include "vm/rare_alarm.h"
#include <arch/gic.h>

constexpr size_t pool_bytes = 0x100000;
alignas(BH_PAGE_BYTES) char image_start[pool_bytes];
alignas(BH_PAGE_BYTES) char status_pages[(1 + BH_MAX_CORES) * BH_PAGE_BYTES];
struct boot_handover boot_handover;

int64_t arch_smc(uint64_t function, uint64_t first, uint64_t, uint64_t)
{
    return bulkhead_test::firmware_call(function, first);
}
}

namespace bulkhead_test {

namespace {

constexpr uint64_t cortex_a53 = 0x410FD034;

constexpr uint64_t uart_data = 0x00;
constexpr uint64_t uart_flags = 0x18;
constexpr uint64_t receive_fifo_empty = 0x10;
constexpr uint64_t transmit_fifo_full = 0x20;
// The number of unsuccessful polls by EL2 before the line takes characters again: EL2 would poll ten million
// times.
constexpr uint32_t patience_polls = 2000;

struct Board {
    std::string uart_text;
    std::deque<uint8_t> uart_typed;
    bool uart_full = false;
    uint32_t polls_while_full = 0;
    std::map<uint64_t, std::vector<char>> memory;
};

Board board;
std::jmp_buf idle;
std::function<void(uint64_t)> window_hook;
std::function<int64_t(uint64_t, uint64_t)> firmware;

bool uart_read(uint64_t offset, unsigned, uint64_t *value)
{
    if (offset == uart_flags) {
        if (board.uart_full && ++board.polls_while_full == patience_polls) {
            board.uart_full = false;
        }
        *value =
            (board.uart_typed.empty() ? receive_fifo_empty : 0) | (board.uart_full ? transmit_fifo_full : 0);
        return true;
    }
    if (offset == uart_data && !board.uart_typed.empty()) {
        *value = board.uart_typed.front();
        board.uart_typed.pop_front();
        return true;
    }
    return false;
}

bool uart_write(uint64_t offset, unsigned, uint64_t value)
{
    if (offset == uart_data) {
        board.uart_text.push_back(static_cast<char>(value));
        return true;
    }
    return false;
}

// Memory that DMA reaches: within a page.
std::span<char> bytes_at(uint64_t pa, uint64_t bytes)
{
    const uint64_t in_page = pa % BH_PAGE_BYTES;
    auto &page = board.memory[pa - in_page];

    page.resize(BH_PAGE_BYTES);
    return in_page + bytes <= BH_PAGE_BYTES ? std::span(page).subspan(in_page, bytes) : std::span<char>{};
}

// The idle loop, and the end of the machine, wait for events that a single host thread cannot produce: they
// are left here. CPU_SUSPEND waits too, but is allowed to return at once.
void leave_idle_loop()
{
    if (this_cpu()->status->idle != 0 || this_cpu()->hold != 0 || system_status()->phase == BH_PHASE_ENDED) {
        std::longjmp(idle, 1);
    }
}

// Only for tests that need them: the boards of the others have none.
void make_monitors(const manifest_header &manifest)
{
    const std::span domains(manifest_domains(&manifest), manifest.domains.count);
    const bool needed = std::ranges::any_of(domains, [](const manifest_domain &domain) {
        return (domain.flags & (BH_DOMAIN_FLAG_PMU | BH_DOMAIN_FLAG_BUDGET)) != 0;
    });

    if (needed) {
        fake_pmu_init(6, 1, manifest_cpus(&manifest)[0].pmu_irq);
    }
}

// As the builder would have left it in the pool: the manifest is in frame 1.
void copy_manifest(const manifest_header &manifest)
{
    const auto frames = (manifest.total_bytes + BH_PAGE_BYTES - 1) / BH_PAGE_BYTES;

    std::memcpy(image_start + BH_PAGE_BYTES, &manifest, manifest.total_bytes);
    boot_handover = {};
    boot_handover.manifest_frame = 1;
    boot_handover.pool_used = 1 + frames; // tables clear their own frames
}

} // namespace

void set_firmware(std::function<int64_t(uint64_t, uint64_t)> answers)
{
    firmware = std::move(answers);
}

int64_t firmware_call(uint64_t function, uint64_t first)
{
    constexpr uint64_t of_psci = 0x1F;

    if (firmware) {
        return firmware(function, first);
    }
    return (function & ~of_psci & ~0x40000000ull) == 0x84000000 ? 0 : -1;
}

extern "C" void *window_open(uint32_t, enum window, paddr_t page)
{
    auto &bytes = board.memory[page.value];
    bytes.resize(BH_PAGE_BYTES);
    if (window_hook) {
        window_hook(page.value);
    }
    return bytes.data();
}

extern "C" void window_close(uint32_t, enum window) {}

extern "C" void *window_tables(uint32_t first, const struct color_range *, uint32_t count, uint64_t)
{
    alignas(BH_PAGE_BYTES) static char frames[BH_MAX_TABLE_FRAMES][BH_PAGE_BYTES];

    return first + count <= BH_MAX_TABLE_FRAMES ? frames[first] : nullptr;
}

extern "C" void *window_sram(paddr_t first, uint32_t pages)
{
    auto &bytes = board.memory[first.value];
    bytes.resize(size_t{pages} * BH_PAGE_BYTES);
    return bytes.data();
}

uint64_t esr_load(unsigned bytes, unsigned reg, bool sign_extend, bool wide)
{
    uint64_t size = static_cast<uint64_t>(__builtin_ctz(bytes));

    return 0x24ull << 26 | 1u << 25 | 1u << 24 | size << 22 | (sign_extend ? 1u << 21 : 0) |
           uint64_t{reg} << 16 | (wide || bytes == 8 ? 1u << 15 : 0) | translation_fault_level3;
}

uint64_t esr_store(unsigned bytes, unsigned reg)
{
    return esr_load(bytes, reg) | 1u << 6;
}

uint64_t esr_sysreg(unsigned op0, unsigned op1, unsigned crn, unsigned crm, unsigned op2, unsigned reg,
                    bool read)
{
    return 0x18ull << 26 | 1u << 25 | uint64_t{op0} << 20 | uint64_t{op2} << 17 | uint64_t{op1} << 14 |
           uint64_t{crn} << 10 | uint64_t{reg} << 5 | uint64_t{crm} << 1 | (read ? 1 : 0);
}

HostedMachine::HostedMachine(const std::function<void(SampleManifest &)> &change,
                             const std::function<void()> &hardware)
{
    auto sample = make_sample_manifest();

    change(*sample);
    sample->seal();
    boot(sample->header, 4, hardware);
}

HostedMachine::HostedMachine(const manifest_header &manifest, uint32_t list_registers,
                             const std::function<void()> &hardware)
{
    boot(manifest, list_registers, hardware);
}

void HostedMachine::boot(const manifest_header &manifest, uint32_t list_registers,
                         const std::function<void()> &hardware)
{
    if (manifest_check(&manifest, manifest.total_bytes, SampleManifest::package_bytes).error !=
        BH_MANIFEST_ERROR_NONE) {
        throw std::invalid_argument("the machine's manifest is refused");
    }
    fake_reset();
    make_hosted_gic(manifest.platform, 4, list_registers);
    make_monitors(manifest);
    fake_map(0x09000000, 0x1000, uart_read, uart_write);
    if (manifest.broker.engine_pa != 0) {
        make_zdma(manifest.broker.engine_pa, manifest.broker.qos_pa, bytes_at);
    }
    hardware();
    fake_hook_wfi(leave_idle_loop);
    board = {};
    window_hook = nullptr;
    std::memset(status_pages, 0, sizeof status_pages);
    copy_manifest(manifest);
    fake_set_core_sysreg(0, SYSREG_ID_CNTFRQ_EL0, 62500000);

    system_init(&boot_handover);
    table_memory_init(system_pool(), system_manifest());
    cpu_init_all();
    const manifest_platform &platform = system_manifest()->platform;
    console_init(&platform, system_manifest()->hypervisor.console_core, BH_ALL_DOMAINS);
    crash_init();
    gic_init(&platform);
    for (uint32_t i = 0; i < BH_MAX_DOMAINS; i++) {
        std::memset(static_cast<void *>(domain_at(i)), 0, sizeof(struct domain));
    }
    const bool silent = smmu_silence(system_manifest());
    pci_silence(system_manifest());
    const bool gic_silent = gic_silence(&platform);
    const bool its_silent = its_silence(system_manifest());
    booted_ =
        domain_init_all() && flows_init_all() && statistics_init_all() && silent && gic_silent && its_silent;
    mpam_detect();
    booted_ = mpam_label_domains() && mpam_components_init() == BH_MANIFEST_ERROR_NONE && booted_;
    booted_ = booted_ && smmu_init() == BH_MANIFEST_ERROR_NONE && pci_init() == BH_MANIFEST_ERROR_NONE &&
              its_init() == BH_MANIFEST_ERROR_NONE;
    regulation_init();
    for (uint32_t core = 0; core < 4; core++) {
        fake_set_core_sysreg(core, SYSREG_ID_TPIDR_EL2, reinterpret_cast<uintptr_t>(cpu_at(core)));
        fake_set_core_sysreg(core, SYSREG_ID_CNTFRQ_EL0, 62500000);
        fake_set_core_sysreg(core, SYSREG_ID_MIDR_EL1, cortex_a53);
        fake_switch_core(core);
        booted_ = mpam_core_init() && booted_;
        (void)branch_predictors_init(this_cpu());
        (void)gic_cpu_init(core, core);
        booted_ = booted_ && its_cpu_init(this_cpu());
        cpu_take_early_requests(this_cpu());
        for (uint32_t alarm = 0; alarm < RARE_ALARM_COUNT; alarm++) {
            rare_alarm_set(static_cast<enum rare_alarm>(alarm), 0);
        }
        for (uint32_t alarm = 0; alarm < CLOCK_ALARM_COUNT; alarm++) {
            clock_set_alarm(static_cast<enum clock_alarm>(alarm), 0);
        }
        clock_enable_alarms(this_cpu());
        uint64_t monitors = 0;
        booted_ = bandwidth_init(this_cpu(), &monitors) && booted_;
        const struct vcpu *pinned = this_cpu()->pinned;
        guest_traps_init(
            monitors, guest_hcr(pinned != nullptr ? pinned->domain : nullptr, this_cpu()->shared != nullptr));
        if (core == system_manifest()->hypervisor.console_core) {
            mpam_components_start(this_cpu());
            if (booted_) {
                smmu_start(this_cpu());
            }
        }
        while (irq_handle_one(this_cpu())) {
        }
    }
    fake_switch_core(0);
    system_started();
    bandwidth_update_init_all(system_status()->started_at);
    for (uint32_t core = 0; core < 4; core++) {
        if (cpu_at(core)->shared != nullptr) {
            shared_core_begin(cpu_at(core), system_status()->started_at);
        } else {
            bandwidth_set_epoch(cpu_at(core), system_status()->started_at);
        }
    }
    if (booted_) {
        domain_start_all();
    }
}

// The part of the pool that EL2 uses: all of it that a machine can change.
struct HostedMachine::State {
    Board board;
    struct boot_handover handover;
    std::vector<char> pool;
    std::vector<char> status;
    bool booted;
    std::array<guest_regs, FAKE_CORES> regs;
};

std::shared_ptr<const HostedMachine::State> HostedMachine::state() const
{
    auto state = std::make_shared<State>();
    const size_t pool_used = system_pool()->used * BH_PAGE_BYTES;

    state->board = board;
    state->handover = boot_handover;
    state->pool.assign(image_start, image_start + pool_used);
    state->status.assign(std::begin(status_pages), std::end(status_pages));
    state->booted = booted_;
    std::copy(std::begin(regs_), std::end(regs_), state->regs.begin());
    return state;
}

HostedMachine::HostedMachine(const State &state) : booted_(state.booted)
{
    board = state.board;
    window_hook = nullptr;
    boot_handover = state.handover;
    std::memcpy(image_start, state.pool.data(), state.pool.size());
    std::memcpy(status_pages, state.status.data(), state.status.size());
    std::copy(state.regs.begin(), state.regs.end(), std::begin(regs_));
}

std::vector<char> &HostedMachine::page(uint64_t pa)
{
    auto &bytes = board.memory[pa];
    bytes.resize(BH_PAGE_BYTES);
    return bytes;
}

void HostedMachine::on_window(std::function<void(uint64_t)> hook)
{
    window_hook = std::move(hook);
}

template <typename Exit> void HostedMachine::run(const Exit &exit)
{
    waited_ = setjmp(idle) != 0;
    if (!waited_) {
        exit();
    }
}

namespace {

// As vectors.S does it: the short path does not see x19 to x29, which then keep the guest's values.
void take_sync(guest_regs &regs)
{
    constexpr uint64_t not_saved = 0xDEADDEADDEADDEAD;
    const guest_regs guest = regs;
    std::fill(regs.x + 19, regs.x + 30, not_saved);
    const bool done = trap_sync_short(&regs);
    if (std::count(regs.x + 19, regs.x + 30, not_saved) != 11) {
        throw std::logic_error("the short way changed a register that it was not given");
    }
    std::copy(guest.x + 19, guest.x + 30, regs.x + 19);
    if (!done) {
        trap_sync(&regs);
    }
}

} // namespace

guest_regs &HostedMachine::on_core(uint32_t core)
{
    fake_switch_core(core);
    struct cpu *cpu = this_cpu();

    if (cpu->vcpu == nullptr ? cpu->shared != nullptr : !vcpu_may_run(cpu->vcpu)) {
        run([&] { vcpu_wait(cpu, &regs_[core]); });
    }
    return regs_[core];
}

void HostedMachine::trap(uint64_t esr, uint64_t ipa)
{
    fake_set_sysreg(SYSREG_ID_ESR_EL2, esr);
    fake_set_sysreg(SYSREG_ID_FAR_EL2, ipa & 0xFFF);
    fake_set_sysreg(SYSREG_ID_HPFAR_EL2, ipa >> 12 << 4);
    run([&] { take_sync(regs_[fake_current_core()]); });
}

uint64_t HostedMachine::hvc(uint64_t function, uint64_t first, uint64_t second, uint64_t third)
{
    guest_regs &regs = regs_[fake_current_core()];

    regs.x[0] = function;
    regs.x[1] = first;
    regs.x[2] = second;
    regs.x[3] = third;
    trap(esr_hvc);
    return regs.x[0];
}

void HostedMachine::interrupt()
{
    run([&] {
        if (!trap_irq_short()) {
            trap_settle(&regs_[fake_current_core()]);
        }
    });
}

void HostedMachine::serror()
{
    run([&] { trap_serror(&regs_[fake_current_core()]); });
}

void HostedMachine::end()
{
    fake_switch_core(system_manifest()->hypervisor.console_core);
    run([] {
        system_end(BH_END_REASON_RUN_LIMIT);
        system_finish_if_ending();
    });
}

void HostedMachine::take_while_idle()
{
    run([&] {
        while (irq_handle_one(this_cpu())) {
        }
    });
}

void HostedMachine::type(uint8_t character)
{
    board.uart_typed.push_back(character);
}

void HostedMachine::set_uart_full(bool full)
{
    board.uart_full = full;
    board.polls_while_full = 0;
}

status_domain &HostedMachine::status(uint32_t domain) const
{
    return system_status()->domains[domain];
}

uint64_t HostedMachine::exits(uint32_t core, bh_exit_reason reason) const
{
    return system_core_status(core)->exits[reason];
}

const std::string &HostedMachine::uart_output() const
{
    return board.uart_text;
}

} // namespace bulkhead_test
