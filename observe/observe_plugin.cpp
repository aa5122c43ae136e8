// SPDX-License-Identifier: Apache-2.0
// libobserve.so: the emulator's side of the observer. It instruments blocks when they are translated,
// converts every access to physical addresses, and writes the result at the emulator's exit or on request. It
// counts nothing itself and must never change what the guest sees.
//
//     -plugin libobserve.so,config=PATH,out=PATH
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "observe/a64.h"
#include "observe/arguments.h"
#include "observe/observer.h"
#include "observe/qemu_plugin_api.h"
#include "observe/result.h"
#include "observe/result_file.h"
#include "observe/zeroed_blocks.h"

int qemu_plugin_version = 4;

namespace {

using namespace bulkhead;
using machine::phys_addr;

// The emulator keeps translations of each exception level apart. Of a guest, programs at EL0 access the lower
// half of virtual addresses, and a kernel at EL1 the upper half. Who executes an instruction does not tell:
// the emulator uses a translated block at several virtual addresses.
enum space : std::uint8_t { hypervisor_space, lower_space, upper_space };
constexpr std::size_t spaces = 3;

constexpr space space_of(bool is_guest, std::uint64_t virtual_address)
{
    constexpr unsigned half_bit = 55;
    if (!is_guest) {
        return hypervisor_space;
    }
    return (virtual_address >> half_bit & 1) == 0 ? lower_space : upper_space;
}

// The emulator's callbacks pass no pointer of ours, so this is the one global variable.
struct plugin {
    struct alignas(128) vcpu {
        observe::zeroed_blocks zeroed;
        std::array<qemu_plugin_meminfo_t, spaces> latest_access{}; // in each
    };

    std::unique_ptr<observe::observer> observer;
    std::vector<vcpu> vcpus;
    std::string out;
    std::string request;
    std::jthread requests;
};

plugin *self = nullptr;

std::optional<std::uint64_t> low_64_bits(qemu_plugin_meminfo_t info)
{
    const qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);
    switch (value.type) {
    case QEMU_PLUGIN_MEM_VALUE_U8:
        return value.data.u8;
    case QEMU_PLUGIN_MEM_VALUE_U16:
        return value.data.u16;
    case QEMU_PLUGIN_MEM_VALUE_U32:
        return value.data.u32;
    case QEMU_PLUGIN_MEM_VALUE_U64:
        return value.data.u64;
    case QEMU_PLUGIN_MEM_VALUE_U128:
        break;
    }
    return value.data.u128.low;
}

// A load or store, or the part of it that lies within one page.
template <bool is_store>
void access_page(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t virtual_address, unsigned bytes,
                 bool is_whole = true)
{
    const qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, virtual_address);
    if (where == nullptr) [[unlikely]] {
        self->observer->unattributed(vcpu).data_unknown.add();
        return;
    }
    if (qemu_plugin_hwaddr_is_io(where)) [[unlikely]] {
        self->observer->unattributed(vcpu).device_accesses.add();
        return;
    }
    self->observer->data<is_store>(vcpu, phys_addr{qemu_plugin_hwaddr_phys_addr(where)}, bytes,
                                   [=] { return is_whole ? low_64_bits(info) : std::nullopt; });
}

// Whether the hypervisor accesses configuration space of PCI. Where such an access is must not be asked: if
// it has turned off a function's registers, the emulator (10.0.2) looks its address up by a number of the
// memory map that was valid before, and aborts (`iotlb_to_section`).
bool is_configuration(std::uint64_t virtual_address)
{
    return self->observer->configuration().configuration_space.contains(phys_addr{virtual_address});
}

// `is_guest`: the instruction is not the hypervisor's.
template <bool is_store, bool is_guest>
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t virtual_address, void *)
{
    if constexpr (!is_guest) {
        if (is_configuration(virtual_address)) [[unlikely]] {
            self->observer->unattributed(vcpu).device_accesses.add();
            return;
        }
    }
    self->vcpus[vcpu].latest_access[space_of(is_guest, virtual_address)] = info;
    const unsigned bytes = 1U << qemu_plugin_mem_size_shift(info);
    const auto to_page_end =
        static_cast<unsigned>(machine::frame_bytes - virtual_address % machine::frame_bytes);
    if (bytes <= to_page_end) [[likely]] {
        access_page<is_store>(vcpu, info, virtual_address, bytes);
    } else {
        access_page<is_store>(vcpu, info, virtual_address, to_page_end, false);
        access_page<is_store>(vcpu, info, virtual_address + to_page_end, bytes - to_page_end, false);
    }
}

void on_fetch(unsigned vcpu, void *physical)
{
    self->observer->fetch(vcpu, phys_addr{reinterpret_cast<std::uint64_t>(physical)});
}

void on_unknown_fetch(unsigned vcpu, void *)
{
    self->observer->unattributed(vcpu).fetches_unknown.add();
}

void on_zeroing(unsigned vcpu, void *register_index)
{
    self->vcpus[vcpu].zeroed.begin(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(register_index)));
}

// The instruction after a DC ZVA has been reached.
template <bool is_guest> void on_zeroed(unsigned vcpu, void *)
{
    plugin::vcpu &state = self->vcpus[vcpu];
    const auto block = state.zeroed.complete();
    if (!block) {
        return;
    }
    observe::unattributed_counts &counts = self->observer->unattributed(vcpu);
    counts.zeroed_blocks.add();
    const qemu_plugin_meminfo_t latest = state.latest_access[space_of(is_guest, *block)];
    const qemu_plugin_hwaddr *where = latest != 0 ? qemu_plugin_get_hwaddr(latest, *block) : nullptr;
    if (where == nullptr || qemu_plugin_hwaddr_is_io(where)) {
        counts.zeroed_unknown.add();
        return;
    }
    const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(where);
    self->observer->zero(vcpu, phys_addr{physical}, state.zeroed.block_bytes());
}

std::uint32_t word_of(const qemu_plugin_insn *instruction)
{
    std::uint32_t word = 0;
    qemu_plugin_insn_data(instruction, &word, sizeof(word));
    return word;
}

// Whether the word in memory before this one, in the same page, is a DC ZVA.
bool follows_zeroing(const std::uint32_t *host, std::uint64_t virtual_address)
{
    return host != nullptr && virtual_address % machine::frame_bytes != 0 &&
           observe::a64::zeroed_block_register(host[-1]);
}

void instrument_fetch(qemu_plugin_insn *instruction, std::optional<phys_addr> where)
{
    if (where) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_fetch, QEMU_PLUGIN_CB_NO_REGS,
                                               reinterpret_cast<void *>(where->value));
    } else {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_unknown_fetch, QEMU_PLUGIN_CB_NO_REGS,
                                               nullptr);
    }
}

template <bool is_guest>
void instrument_accesses(qemu_plugin_insn *instruction, std::uint32_t word, bool after_zeroing)
{
    if (after_zeroing) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_zeroed<is_guest>, QEMU_PLUGIN_CB_NO_REGS,
                                               nullptr);
    }
    qemu_plugin_register_vcpu_mem_cb(instruction, on_access<true, is_guest>, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_W, nullptr);
    if (!observe::a64::reads_and_writes(word)) { // read and write in one: the write stands for both
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access<false, is_guest>, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_R, nullptr);
    }
}

// Whether an instruction is not the hypervisor's.
bool is_guests(std::optional<phys_addr> where)
{
    return !where || !self->observer->is_hypervisor(*where);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb *block)
{
    const std::uint64_t line_mask = ~(self->observer->instruction_line_bytes() - 1);
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    std::uint64_t line_before = 0;
    bool is_guest = true;
    for (std::size_t index = 0; index < count; ++index) {
        qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
        const std::uint64_t virtual_address = qemu_plugin_insn_vaddr(instruction);
        const void *host = qemu_plugin_insn_haddr(instruction);
        const std::uint32_t word = word_of(instruction);
        const bool after_zeroing = follows_zeroing(static_cast<const std::uint32_t *>(host), virtual_address);
        // A line is entered at the first instruction of a block, and where a block continues into the next
        // line.
        const std::uint64_t line = virtual_address & line_mask;
        if (index == 0 || line != line_before) {
            const auto where = self->observer->memory().locate(host, virtual_address);
            is_guest = is_guests(where);
            instrument_fetch(instruction, where);
        }
        line_before = line;
        if (const auto register_index = observe::a64::zeroed_block_register(word)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_zeroing, QEMU_PLUGIN_CB_R_REGS,
                                                   reinterpret_cast<void *>(std::uintptr_t{*register_index}));
        }
        if (is_guest) {
            instrument_accesses<true>(instruction, word, after_zeroing);
        } else {
            instrument_accesses<false>(instruction, word, after_zeroing);
        }
    }
}

void on_vcpu_start(qemu_plugin_id_t, unsigned vcpu)
{
    self->vcpus[vcpu].zeroed.attach();
}

// To get the result before the end, a caller creates the file OUT.request; it is removed when OUT is written.
void serve_requests(const std::stop_token &stop)
{
    while (!stop.stop_requested()) {
        std::error_code ignored;
        if (std::filesystem::exists(self->request, ignored)) {
            observe::write_result(self->out, observe::result_json(*self->observer));
            std::filesystem::remove(self->request, ignored);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

void on_exit(qemu_plugin_id_t, void *)
{
    self->requests.request_stop();
    self->requests.join();
    observe::write_result(self->out, observe::result_json(*self->observer));
}

// Why the run cannot be observed, or nothing.
std::optional<std::string> prepare(const qemu_info_t &info, std::span<char *> given)
{
    constexpr std::array<std::string_view, 2> known{"config", "out"};
    auto parsed = observe::parse_arguments(given, known);
    if (const auto *refused = std::get_if<machine::refusal>(&parsed)) {
        return refused->reason;
    }
    auto &arguments = std::get<observe::arguments>(parsed);
    if (arguments.size() != known.size()) {
        return "config=PATH and out=PATH are needed";
    }
    if (!info.system_emulation || std::string_view(info.target_name) != "aarch64") {
        return "only system emulation of aarch64 can be observed";
    }
    auto config = observe::read_config(arguments["config"]);
    if (const auto *refused = std::get_if<machine::refusal>(&config)) {
        return refused->reason;
    }
    auto &read = std::get<observe::config>(config);
    const auto vcpus = static_cast<unsigned>(info.system.max_vcpus);
    if (vcpus > read.cores) {
        return "the machine has " + std::to_string(vcpus) + " cores, the configuration " +
               std::to_string(read.cores);
    }
    auto made = observe::observer::make(std::move(read));
    if (const auto *refused = std::get_if<machine::refusal>(&made)) {
        return refused->reason;
    }
    self = new plugin; // lives as long as the process: VCPU threads may use it until the end
    self->observer = std::get<std::unique_ptr<observe::observer>>(std::move(made));
    self->vcpus.resize(vcpus);
    self->out = arguments["out"];
    self->request = self->out + ".request";
    return std::nullopt;
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    if (const auto reason = prepare(*info, std::span(argv, static_cast<std::size_t>(argc)))) {
        std::fprintf(stderr, "bulkhead observer: %s\n", reason->c_str());
        return 1;
    }
    self->requests = std::jthread(serve_requests);
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_start);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
