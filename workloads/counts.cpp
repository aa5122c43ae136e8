// SPDX-License-Identifier: Apache-2.0
// workload_counts IMAGE NAME [PARAMETER=NUMBER ...]: runs the instrumented build without a machine and counts
// what the machine would be called for: the instructions of blocks and the accesses, between the marks of an
// iteration. Prints what the program prints, then `counts {json}`. For the comparison with the AArch64 build
// (bulkhead workloads compare).
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "machine/program/image.h"

namespace {

using namespace bulkhead::machine;

constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t page_bytes_above = 16384;
constexpr std::uint64_t bytes_per_copied_word = 16;    // by pairs of registers, as the runtime counts
constexpr std::int64_t plenty = std::int64_t{1} << 62; // never spent, so no call asks for more

struct counted {
    std::uint64_t instructions = 0;
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
};

// The program is C and calls these functions without a context: one program in one process.
std::array<std::int64_t, 2> running{plenty, 0}; // as machine/budget.h; nothing is fetched
std::int64_t &budget = running[0];
counted now;
counted at_mark;
counted within;
std::byte *free_memory = nullptr;
std::uint64_t free_bytes = 0;

void on_read(const void *)
{
    ++now.reads;
}

void on_write(const void *)
{
    ++now.writes;
}

void on_read_range(const void *, std::uint64_t bytes)
{
    now.reads += (bytes + bytes_per_copied_word - 1) / bytes_per_copied_word;
}

void on_write_range(const void *, std::uint64_t bytes)
{
    now.writes += (bytes + bytes_per_copied_word - 1) / bytes_per_copied_word;
}

void on_mark(std::uint32_t id)
{
    now.instructions = static_cast<std::uint64_t>(plenty - budget);
    if (id == 1) {
        at_mark = now;
        return;
    }
    within.instructions += now.instructions - at_mark.instructions;
    within.reads += now.reads - at_mark.reads;
    within.writes += now.writes - at_mark.writes;
}

void print(const char *text, std::uint64_t bytes)
{
    (void)std::fwrite(text, 1, bytes, stdout);
}

// The simulated time: one instruction takes a nanosecond.
std::uint64_t clock_ps()
{
    return static_cast<std::uint64_t>(plenty - budget) * 1000;
}

void *own_memory(std::uint64_t *bytes)
{
    *bytes = free_bytes;
    return free_memory;
}

void nothing() {}

template <class Function> const void *address_of(Function *function)
{
    return reinterpret_cast<const void *>(function);
}

const void *symbol(std::string_view name)
{
    struct known {
        std::string_view name;
        const void *meaning;
    };
    static const std::array<known, 10> exact{{{"machine_running", &running},
                                              {"machine_program_fetch", address_of(nothing)},
                                              {"machine_program_spent", address_of(nothing)},
                                              {"machine_write", address_of(print)},
                                              {"machine_mark", address_of(on_mark)},
                                              {"machine_clock_ps", address_of(clock_ps)},
                                              {"machine_memory", address_of(own_memory)},
                                              {"__tsan_init", address_of(nothing)},
                                              {"__tsan_read_range", address_of(on_read_range)},
                                              {"__tsan_write_range", address_of(on_write_range)}}};
    const auto found = std::ranges::find(exact, name, &known::name);
    if (found != exact.end()) {
        return found->meaning;
    }
    // __tsan_[volatile_|unaligned_](read|write)(1|2|4|8|16); atomics, which the callbacks would have to
    // perform, are not supported. Reads that the next instructions wait for have separate names:
    // machine_read(1|2|4|8)_waited.
    const bool is_callback = name.starts_with("__tsan_") || name.ends_with("_waited");
    if (!is_callback || name.find("atomic") != name.npos) {
        return nullptr;
    }
    return name.find("read") != name.npos    ? address_of(on_read)
           : name.find("write") != name.npos ? address_of(on_write)
                                             : nullptr;
}

int fail(const std::string &reason)
{
    (void)std::fprintf(stderr, "workload_counts: %s\n", reason.c_str());
    return 1;
}

int count(const image &file, int argument_count, char **arguments)
{
    const std::array<memory_range, 1> range{{{{0}, {memory_bytes}}}};
    auto memory = ram::make(range);
    if (const auto *refused = std::get_if<refusal>(&memory)) {
        return fail(refused->reason);
    }
    const window::shape shape{0, {memory_bytes}, image::below(), {page_bytes_above}};
    auto space = window::make(std::get<ram>(memory), shape);
    if (const auto *refused = std::get_if<refusal>(&space)) {
        return fail(refused->reason);
    }
    auto &made = std::get<window>(space);
    const std::array<mapping_run, 1> all{{{0, {0}, {memory_bytes}}}};
    if (const auto refused = made.map(all, {})) {
        return fail(refused->reason);
    }
    auto placed = instance::place(file, made, symbol);
    if (const auto *refused = std::get_if<refusal>(&placed)) {
        return fail(refused->reason);
    }
    const auto &program = std::get<instance>(placed);
    if (const auto refused = program.load_data()) {
        return fail(refused->reason);
    }
    const std::uint64_t used = (file.data_offset() + file.data_bytes().value + 4095) / 4096 * 4096;
    free_memory = made.host(used);
    free_bytes = memory_bytes - used;
    const auto start = reinterpret_cast<int (*)(int, char **)>(const_cast<void *>(program.entry()));
    const int status = start(argument_count, arguments);
    std::printf("counts {\"instructions\": %llu, \"reads\": %llu, \"writes\": %llu}\n",
                static_cast<unsigned long long>(within.instructions),
                static_cast<unsigned long long>(within.reads),
                static_cast<unsigned long long>(within.writes));
    return status;
}

} // namespace

int main(int argument_count, char **arguments)
{
    if (argument_count < 3) {
        (void)std::fputs("usage: workload_counts IMAGE NAME [PARAMETER=NUMBER ...]\n", stderr);
        return 2;
    }
    const auto file = image::read(arguments[1]);
    if (const auto *refused = std::get_if<refusal>(&file)) {
        return fail(refused->reason);
    }
    return count(std::get<image>(file), argument_count - 1, arguments + 1);
}
