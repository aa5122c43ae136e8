// SPDX-License-Identifier: Apache-2.0
// libcount.so: how many instructions a system executes from one event to another, exactly, under -icount. It
// compares the boot of a guest on the bare emulator with the same under the hypervisor. It counts all VCPUs
// together and must never change what the guest sees.
//
//     -plugin libcount.so,out=PATH,match=TEXT,uart=PA[,start=first|PA:VALUE][,from=ADDRESS]
//         [,within=ADDRESS:BYTES][,read=ADDRESS:BYTES][,visits=ADDRESS:BYTES][,marks=ADDRESS:…]
//
// The count starts with the first instruction (start=first, the default) or after a 32-bit store of VALUE to
// PA; with `from`, at the first execution, from then on, of the instruction at that virtual address, which is
// the first one counted. It ends when the bytes stored to the UART's data register contain TEXT (a comma is
// written as two). `out` is written at that moment, or at the emulator's exit with "matched": false. With
// `within`, instructions at these virtual addresses are also counted by themselves; with `read`, so much
// memory, as the core that completed TEXT sees it at that moment, is in `memory`, in hexadecimal. With
// `visits`, the length of each core's visits to these virtual addresses is listed (visits.h), with the
// instructions among `marks` that each visit executed.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "observe/arguments.h"
#include "observe/qemu_plugin_api.h"
#include "observe/result_file.h"
#include "observe/visits.h"

int qemu_plugin_version = 4;

namespace {

using namespace bulkhead;

constexpr std::uint64_t most_read_bytes = 65536;

// Instructions since reset, of all VCPUs.
struct counted {
    std::uint64_t all;
    std::uint64_t within; // a part of `all`
};

// Under -icount one thread executes all VCPUs. Inline counters would be faster, but QEMU 10.0.2 computes
// wrong addresses of them for all VCPUs except the first when there is one thread.
struct counters {
    std::uint64_t elsewhere = 0;
    std::uint64_t within = 0;
};

struct plugin {
    std::optional<std::pair<std::uint64_t, std::uint64_t>> start_store;
    std::optional<std::uint64_t> from;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> within; // address, bytes
    std::optional<std::pair<std::uint64_t, std::uint64_t>> read;   // address, bytes
    std::optional<observe::visits> visits;
    std::uint64_t uart = 0;
    std::string match;
    std::string out;

    // Guards the members below. Under -icount there is one thread; the lock makes other uses well-defined.
    std::mutex mutex;
    bool armed = false; // the start store, if one is needed, has been seen
    bool started = false;
    bool matched = false;
    counted before_start{};
    std::string memory; // memory that `read` names, once read
    std::string tail;   // the last bytes sent to the UART, never longer than `match`
};

plugin *self = nullptr;
counters executed;

counted count_now()
{
    return {.all = executed.elsewhere + executed.within, .within = executed.within};
}

void on_instruction(unsigned, void *counter)
{
    ++*static_cast<std::uint64_t *>(counter);
}

void write_count()
{
    const counted now = self->started ? count_now() : self->before_start;
    std::string text = "{\"instructions\": " + std::to_string(now.all - self->before_start.all);
    if (self->within) {
        text += ", \"instructions_within\": " + std::to_string(now.within - self->before_start.within);
    }
    if (self->read) {
        text += ", \"memory\": \"" + self->memory + "\"";
    }
    if (self->visits) {
        text += ", \"visits\": " + self->visits->json();
    }
    text += std::string(", \"started\": ") + (self->started ? "true" : "false");
    text += std::string(", \"matched\": ") + (self->matched ? "true" : "false");
    observe::write_result(self->out, text + "}\n");
}

// Empty if the core's tables map no memory there.
std::string read_memory(std::uint64_t address, std::size_t bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    GByteArray *data = g_byte_array_new();
    if (qemu_plugin_read_memory_vaddr(address, data, bytes)) {
        for (unsigned index = 0; index < data->len; ++index) {
            text += digits[data->data[index] >> 4];
            text += digits[data->data[index] & 0xF];
        }
    }
    g_byte_array_free(data, 1);
    return text;
}

void start()
{
    if (!self->started) {
        self->started = true;
        self->before_start = count_now();
        if (self->visits) {
            self->visits->restart();
        }
    }
}

void on_from(unsigned, void *)
{
    const std::lock_guard lock(self->mutex);
    if (self->armed) {
        start();
    }
}

void on_ram_store(std::uint64_t physical, qemu_plugin_meminfo_t info)
{
    if (self->armed || physical != self->start_store->first) {
        return;
    }
    const qemu_plugin_mem_value value = qemu_plugin_mem_get_value(info);
    if (value.type == QEMU_PLUGIN_MEM_VALUE_U32 && value.data.u32 == self->start_store->second) {
        self->armed = true;
        if (!self->from) {
            start();
        }
    }
}

void on_uart_store(qemu_plugin_meminfo_t info)
{
    if (!self->started || self->matched) {
        return;
    }
    // The UART sends the low byte of the data register, whatever the width of the store.
    self->tail += static_cast<char>(qemu_plugin_mem_get_value(info).data.u8);
    if (self->tail.size() > self->match.size()) {
        self->tail.erase(0, 1);
    }
    if (self->tail == self->match) {
        self->matched = true;
        if (self->read) {
            self->memory = read_memory(self->read->first, self->read->second);
        }
        write_count();
    }
}

void on_store(unsigned, qemu_plugin_meminfo_t info, std::uint64_t virtual_address, void *)
{
    const qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, virtual_address);
    if (where == nullptr) {
        return;
    }
    const std::uint64_t physical = qemu_plugin_hwaddr_phys_addr(where);
    const std::lock_guard lock(self->mutex);
    if (qemu_plugin_hwaddr_is_io(where)) {
        if (physical == self->uart) {
            on_uart_store(info);
        }
    } else if (self->start_store) {
        on_ram_store(physical, info);
    }
}

void on_core(qemu_plugin_id_t, unsigned)
{
    if (!self->visits->attach()) {
        std::fprintf(stderr, "bulkhead count: %s\n", "the emulator has no TPIDR_EL2 to tell cores apart");
        std::exit(EXIT_FAILURE);
    }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb *block)
{
    if (self->visits) {
        self->visits->translate(block);
    }
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    for (std::size_t index = 0; index < count; ++index) {
        qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
        // Tested before the increment: the instruction at `from` counts.
        if (self->from && qemu_plugin_insn_vaddr(instruction) == *self->from) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_from, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        }
        const bool is_within =
            self->within && qemu_plugin_insn_vaddr(instruction) - self->within->first < self->within->second;
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, QEMU_PLUGIN_CB_NO_REGS,
                                               is_within ? &executed.within : &executed.elsewhere);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_store, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
                                         nullptr);
    }
}

void on_exit(qemu_plugin_id_t, void *)
{
    const std::lock_guard lock(self->mutex);
    if (!self->matched) {
        write_count();
    }
}

// Why visits cannot be listed, or nothing.
std::optional<std::string> prepare_visits(const std::string &range, const std::string &given)
{
    const auto where = observe::parse_pair(range);
    if (range.empty() ? !given.empty() : !where) {
        return "visits=" + range + " is not ADDRESS:BYTES";
    }
    std::vector<std::uint64_t> marks;
    std::istringstream addresses(given);
    for (std::string text; std::getline(addresses, text, ':');) {
        const auto address = observe::parse_number(text);
        if (!address || marks.size() == observe::visits::most_marks) {
            return "marks=" + given + " is not a list of at most 32 addresses with colons between them";
        }
        marks.push_back(*address);
    }
    if (where) {
        self->visits.emplace(where->first, where->second, std::move(marks));
    }
    return std::nullopt;
}

// Why counting is not possible, or nothing.
std::optional<std::string> prepare(std::span<char *> given)
{
    constexpr std::array<std::string_view, 9> known{"start",  "from", "match",  "uart", "out",
                                                    "within", "read", "visits", "marks"};
    auto parsed = observe::parse_arguments(given, known);
    if (const auto *refused = std::get_if<machine::refusal>(&parsed)) {
        return refused->reason;
    }
    auto &arguments = std::get<observe::arguments>(parsed);
    if (arguments["out"].empty() || arguments["match"].empty()) {
        return "out=PATH and match=TEXT are needed";
    }
    const auto uart = observe::parse_number(arguments["uart"]);
    if (!uart) {
        return "uart=ADDRESS is needed: the physical address of the UART's data register";
    }
    self = new plugin; // lives as long as the process
    self->uart = *uart;
    self->out = arguments["out"];
    self->match = arguments["match"];
    if (!arguments["from"].empty()) {
        self->from = observe::parse_number(arguments["from"]);
        if (!self->from) {
            return "from=" + arguments["from"] + " is no address";
        }
    }
    if (const std::string &range = arguments["within"]; !range.empty()) {
        self->within = observe::parse_pair(range);
        if (!self->within) {
            return "within=" + range + " is not ADDRESS:BYTES";
        }
    }
    if (const std::string &area = arguments["read"]; !area.empty()) {
        self->read = observe::parse_pair(area);
        if (!self->read || self->read->second == 0 || self->read->second > most_read_bytes) {
            return "read=" + area + " is not ADDRESS:BYTES, with at most 65536 bytes";
        }
    }
    if (auto reason = prepare_visits(arguments["visits"], arguments["marks"])) {
        return reason;
    }
    if (const std::string &when = arguments["start"]; !when.empty() && when != "first") {
        self->start_store = observe::parse_pair(when);
        if (!self->start_store) {
            return "start=" + when + " is neither `first` nor ADDRESS:VALUE";
        }
    }
    self->armed = !self->start_store;
    self->started = self->armed && !self->from;
    return std::nullopt;
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *, int argc, char **argv)
{
    if (const auto reason = prepare(std::span(argv, static_cast<std::size_t>(argc)))) {
        std::fprintf(stderr, "bulkhead count: %s\n", reason->c_str());
        return 1;
    }
    if (self->visits) {
        qemu_plugin_register_vcpu_init_cb(id, on_core);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
