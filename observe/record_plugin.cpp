// SPDX-License-Identifier: Apache-2.0
// librecord.so: records the data accesses of a program that runs under the emulator of single programs, with
// the instructions between them, as a trace (docs/guide/traces.md), and counts them.
//
//     -plugin
//     librecord.so[,out=TRACE,about=PATH][,counts=PATH][,from=ADDRESS,to=ADDRESS][,instructions=LIMIT]
//
// `about` is a file with the trace's description. With `from` and `to`, only what is executed from the
// instruction at the one address up to before the one at the other, every time. After LIMIT recorded
// instructions the program runs on unrecorded. The first thread is recorded, and no child process; what the
// kernel does for the program is unseen.
#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "machine/trace/writer.h"
#include "observe/arguments.h"
#include "observe/qemu_plugin_user.h"
#include "observe/result_file.h"

int qemu_plugin_version = 1;

namespace {

using namespace bulkhead;
namespace trace = machine::trace;

constexpr std::uint32_t zero_block = 0xD50B7420; // DC ZVA, whose stores the emulator does not report
constexpr std::uint32_t zero_block_mask = 0xFFFFFFE0;

struct plugin {
    std::optional<trace::writer> out;
    std::string counts_path;
    std::optional<std::uint64_t> from;
    std::optional<std::uint64_t> to;
    std::uint64_t limit = ~std::uint64_t{0};

    bool recording = false;
    bool ended = false;
    std::uint64_t block_start = 0; // number of the current block's first instruction since the start
    std::uint64_t block_length = 0;
    std::uint64_t last =
        ~std::uint64_t{0};     // number of the last instruction that is accounted for; -1 before the first
    std::uint64_t pending = 0; // instructions since the last access, recorded in closed windows
    std::uint64_t recorded = 0;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t unseen_zeroings = 0;
    bool has_threads = false;
};

plugin *self = nullptr;

std::uint64_t number_of(void *index_in_block)
{
    return self->block_start + reinterpret_cast<std::uintptr_t>(index_in_block);
}

// The number of instructions from the last one accounted for to the one before this.
void close_window(std::uint64_t number)
{
    self->pending += number - 1 - self->last;
    self->recorded += number - 1 - self->last;
    self->recording = false;
}

void on_block(unsigned vcpu, void *length)
{
    if (vcpu != 0) {
        self->has_threads = true;
        return;
    }
    self->block_start += self->block_length;
    self->block_length = reinterpret_cast<std::uintptr_t>(length);
    if (self->recording && self->recorded >= self->limit) {
        close_window(self->block_start);
        self->ended = true;
    }
}

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void *index)
{
    if (!self->recording || vcpu != 0) {
        return;
    }
    const std::uint64_t number = number_of(index);
    const std::uint64_t gap = number - self->last;
    const bool is_store = qemu_plugin_mem_is_store(info);
    if (self->out) {
        self->out->add({.address = address,
                        .instructions = self->pending + gap,
                        .kind = is_store ? machine::access_kind::write : machine::access_kind::read,
                        .size_log2 = static_cast<std::uint8_t>(qemu_plugin_mem_size_shift(info))});
    }
    ++(is_store ? self->writes : self->reads);
    self->recorded += gap;
    self->pending = 0;
    self->last = number;
}

void on_from(unsigned vcpu, void *index)
{
    if (vcpu == 0 && !self->recording && !self->ended) {
        self->recording = true;
        self->last = number_of(index) - 1;
    }
}

void on_to(unsigned vcpu, void *index)
{
    if (vcpu == 0 && self->recording) {
        close_window(number_of(index));
    }
}

void on_zero_block(unsigned vcpu, void *)
{
    self->unseen_zeroings += vcpu == 0 && self->recording;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb *block)
{
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         reinterpret_cast<void *>(count));
    for (std::size_t index = 0; index < count; ++index) {
        qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
        const std::uint64_t address = qemu_plugin_insn_vaddr(instruction);
        auto *userdata = reinterpret_cast<void *>(index);
        std::uint32_t word = 0;
        std::memcpy(&word, qemu_plugin_insn_data(instruction), sizeof(word));
        if (self->from == address) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_from, QEMU_PLUGIN_CB_NO_REGS, userdata);
        }
        if (self->to == address) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_to, QEMU_PLUGIN_CB_NO_REGS, userdata);
        }
        if ((word & zero_block_mask) == zero_block) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_zero_block, QEMU_PLUGIN_CB_NO_REGS,
                                                   nullptr);
        }
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         userdata);
    }
}

void write_counts()
{
    std::string text = "{";
    const auto append = [&text](const char *name, std::uint64_t value) {
        text.append("\"").append(name).append("\": ").append(std::to_string(value)).append(", ");
    };
    append("instructions", self->recorded);
    append("reads", self->reads);
    append("writes", self->writes);
    append("unseen_zeroings", self->unseen_zeroings);
    text.append("\"threads_left_out\": ").append(self->has_threads ? "true" : "false").append("}\n");
    observe::write_result(self->counts_path, text);
}

void on_exit(qemu_plugin_id_t, void *)
{
    if (self->recording) {
        close_window(self->block_start + self->block_length);
    }
    if (self->out) {
        if (const auto failed = self->out->finish(self->pending)) {
            (void)std::fprintf(stderr, "bulkhead record: %s\n", failed->reason.c_str());
        }
        self->out.reset();
    }
    if (!self->counts_path.empty()) {
        write_counts();
    }
}

// A child process shares the file: it must not write to it.
void in_child()
{
    self->recording = false;
    self->ended = true;
    self->counts_path.clear();
    if (self->out) {
        (void)new trace::writer(std::move(*self->out)); // never closed: closing writes what is buffered
        self->out.reset();
    }
}

std::optional<std::string> open_trace(const std::string &path, const std::string &about)
{
    std::ifstream file(about);
    const std::string description{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) {
        return "about=" + about + " cannot be read";
    }
    auto made = trace::writer::create(path, description);
    if (const auto *refused = std::get_if<machine::refusal>(&made)) {
        return refused->reason;
    }
    self->out.emplace(std::get<trace::writer>(std::move(made)));
    return std::nullopt;
}

// Why recording is not possible, or nothing.
std::optional<std::string> prepare(std::span<char *> given)
{
    constexpr std::array<std::string_view, 6> known{"out", "about", "counts", "from", "to", "instructions"};
    auto parsed = observe::parse_arguments(given, known);
    if (const auto *refused = std::get_if<machine::refusal>(&parsed)) {
        return refused->reason;
    }
    auto &arguments = std::get<observe::arguments>(parsed);
    self = new plugin; // lives as long as the process
    self->counts_path = arguments["counts"];
    if (arguments["from"].empty() != arguments["to"].empty()) {
        return "from=ADDRESS and to=ADDRESS belong together";
    }
    if (!arguments["from"].empty()) {
        self->from = observe::parse_number(arguments["from"]);
        self->to = observe::parse_number(arguments["to"]);
        if (!self->from || !self->to) {
            return "from= and to= are addresses";
        }
    }
    self->recording = !self->from;
    if (const std::string &limit = arguments["instructions"]; !limit.empty()) {
        const auto number = observe::parse_number(limit);
        if (!number) {
            return "instructions=" + limit + " is no number";
        }
        self->limit = *number;
    }
    if (arguments["out"].empty()) {
        return self->counts_path.empty() ? std::optional("out=TRACE or counts=PATH is needed") : std::nullopt;
    }
    return open_trace(arguments["out"], arguments["about"]);
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *, int argc, char **argv)
{
    if (const auto reason = prepare(std::span(argv, static_cast<std::size_t>(argc)))) {
        (void)std::fprintf(stderr, "bulkhead record: %s\n", reason->c_str());
        return 1;
    }
    (void)pthread_atfork(nullptr, nullptr, in_child);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
