// SPDX-License-Identifier: Apache-2.0
// Target `armv7`: the code of a 32-bit image on the simulated machine is input. Any words are executed, from
// any registers: by the interpreter alone, with memory that the sanitizer guards on both ends, and by the
// whole core with its system level and devices, in both profiles. Execution must end, and the same input must
// give the same run.
#include "input.h"
#include "require.h"

#include <elf.h>

#include "machine/armv7/flat_profile.h"
#include "machine/armv7/runner/board.h"
#include "machine/armv7/runner/processor.h"
#include "machine/machine.h"

namespace {

using bulkhead_fuzz::broken;
using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;
using namespace bulkhead::machine;
using namespace bulkhead::machine::armv7;
using nlohmann::json;

constexpr std::uint32_t memory_bytes = 0x10000;
constexpr std::uint32_t data_first = 0x20000000;
constexpr std::uint32_t code_first = 0x100; // after the vectors
constexpr std::uint32_t vectors = 64;
constexpr std::uint64_t clock_hz = 200'000'000;
constexpr std::uint64_t run_ps = 20'000'000; // 4000 instructions

template <class Made> Made made(result<Made> one)
{
    if (const auto *bad = std::get_if<refusal>(&one)) {
        broken(bad->reason.c_str());
    }
    return std::get<Made>(std::move(one));
}

settings small_machine()
{
    settings all;
    core_settings one;
    one.frequency_hz = clock_hz;
    one.width = 1;
    one.instruction_millicycles = 1000;
    one.load_use_cycles = 1;
    one.l1d = {.size_bytes = 1024, .ways = 2, .line_bytes = 32, .policy = replacement::lru};
    one.l1i = one.l1d;
    one.mmu.l1 = {.entries = 4};
    one.mmu.l2 = {.entries = 8, .ways = 2, .lockable_entries = 4, .page_shifts = {12, 16, 20, 24}};
    one.path = {"l2"};
    one.master = "core";
    all.cores = {one};
    all.levels.push_back(
        {.name = "l2",
         .cache = {.size_bytes = 4096, .ways = 4, .line_bytes = 32, .policy = replacement::lru},
         .latency_ps = 10'000});
    all.masters.push_back({.name = "core", .request_ps = 10'000, .answer_ps = 10'000});
    all.dram.shape = {.channels = 1,
                      .ranks = 1,
                      .groups = 1,
                      .banks = 2,
                      .rows = 256,
                      .columns = 16,
                      .burst = byte_count{32}};
    all.dram.map = dram::mapping::row_bank_column(
        std::get<dram::organization>(dram::organization::make(all.dram.shape)));
    all.dram.timings = {.period_fs = 10'000'000,
                        .burst = 4,
                        .cl = 2,
                        .cwl = 1,
                        .rcd = 2,
                        .rp = 2,
                        .ras = 5,
                        .ccd_s = 4,
                        .ccd_l = 4};
    return all;
}

// --- The interpreter alone ---

void fill(registers &state, Input &input)
{
    for (std::uint32_t n = 0; n < pc; ++n) {
        state.r[n] = static_cast<std::uint32_t>(input.number());
    }
    state.set_apsr(static_cast<std::uint32_t>(input.u8()) << 24U | input.u8(), ~0U);
}

// Positions at which addresses wrap around, or memory ends with the address space.
constexpr std::uint32_t bases[] = {0x8000, 0, 0xFFFFF000, 0x7FFFF000};
constexpr std::uint32_t flat_bytes = 0x1000;
constexpr std::uint64_t flat_instructions = 200;
constexpr int resumptions = 8;

void run_flat(Input &input, std::uint8_t kind)
{
    const auto machine = made(simulated_machine::make(small_machine()));
    const bool m = kind == 2;
    const bool thumb = kind != 0;
    const std::uint32_t base = input.pick(bases);
    registers state;
    fill(state, input);
    state.thumb = thumb;
    const std::uint32_t start = input.u8() & ~(thumb ? 1U : 3U);
    core &on = machine->core_at(core_id{0});
    flat_profile system(on, state, {.m_profile = m, .divide_thumb = true, .divide_arm = true}, base,
                        flat_bytes);
    const std::uint8_t ways = input.u8();
    system.set_forgetful((ways & 1U) != 0);
    system.set_code_cached((ways & 2U) == 0);
    const auto code = input.rest();
    const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(code.size(), flat_bytes));
    // At the start of memory, or so that both have the same end.
    const std::uint32_t place = (ways & 4U) != 0 ? flat_bytes - (bytes + 3U) / 4 * 4 : 0;
    std::memcpy(&system.memory()[place % flat_bytes], code.data(), bytes);
    state.r[pc] = base + place + start;
    interpreter cpu(on, state, system);
    on.start([&](core &) {
        for (int i = 0; i < resumptions; ++i) {
            const std::uint64_t before = cpu.executed();
            (void)cpu.run(flat_instructions);
            require(cpu.executed() - before <= flat_instructions, "more instructions than were asked for");
            system.go_on();
            state.r[pc] += thumb ? 2 : 4;
        }
    });
    machine->timeline().run(picoseconds{run_ps});
}

// --- A whole core ---

// An image that begins with vectors, all of which lead into the code.
elf_image image_of(std::span<const std::uint8_t> code, std::uint8_t where)
{
    std::vector<std::byte> file(sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr) + memory_bytes);
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = EM_ARM;
    header.e_entry = code_first | 1U;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf32_Phdr);
    header.e_phnum = 1;
    const Elf32_Phdr segment{.p_type = PT_LOAD,
                             .p_offset = sizeof header + sizeof segment,
                             .p_vaddr = 0,
                             .p_paddr = 0,
                             .p_filesz = memory_bytes,
                             .p_memsz = memory_bytes,
                             .p_flags = PF_R,
                             .p_align = 4};
    std::vector<std::uint8_t> memory(memory_bytes);
    for (std::uint32_t n = 0; n < vectors; ++n) {
        const std::uint32_t vector =
            n == 0 ? data_first + memory_bytes / 2 : (code_first + (n > 1 ? n * 4U * (where & 7U) : 0)) | 1U;
        std::memcpy(&memory[4 * n], &vector, sizeof vector);
    }
    std::memcpy(&memory[code_first], code.data(),
                std::min<std::size_t>(code.size(), memory_bytes - code_first));
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
    std::memcpy(file.data() + sizeof header + sizeof segment, memory.data(), memory.size());
    return made(elf_image::parse(std::move(file)));
}

json core_of(bool m)
{
    if (!m) {
        return {{"peripherals_at", 0xF8F00000U},
                {"peripherals_hz", clock_hz / 2},
                {"outer_cache", {{"at", 0xF8F02000U}, {"level", "l2"}}}};
    }
    return {{"interrupts", 40},     {"priority_bits", 4}, {"mpu_regions", 8},  {"caches", true},
            {"words_per_cycle", 2}, {"entry_cycles", 12}, {"exit_cycles", 10}, {"tail_chain_cycles", 6}};
}

struct ran {
    std::uint64_t digest;
    std::string ending;
    json counts;
    bool operator==(const ran &) const = default;
};

ran run_core(std::span<const std::uint8_t> code, bool m, std::uint8_t where)
{
    const auto machine = made(simulated_machine::make(small_machine()));
    const std::vector<memory_range> ranges{{phys_addr{0}, byte_count{memory_bytes}},
                                           {phys_addr{data_first}, byte_count{memory_bytes}}};
    const ram memory = made(ram::make(ranges));
    physical_bus bus(memory, ranges);
    elf_image image = image_of(code, where);
    require(image.load(bus).empty(), "the image does not fit");
    const auto cpu = made(make_processor(
        m ? "armv7-m" : "armv7-a", core_of(m),
        {*machine, bus, image, [&machine] { machine->timeline().stop(); }, [](std::uint32_t) {}}));
    board devices;
    require(devices
                .add({.type = m ? "cmsdk-timer" : "cadence-uart",
                      .at = 0x40000000,
                      .interrupt = 8,
                      .clock_hz = clock_hz},
                     {machine->timeline(), bus, [](std::uint8_t) {},
                      [&cpu](std::uint32_t number, bool high) { cpu->set_interrupt(number, high); }})
                .empty(),
            "no device");
    cpu->start();
    machine->timeline().run(picoseconds{run_ps});
    return {machine->digest(), cpu->ending() + cpu->trouble(), cpu->counts()};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t bytes)
{
    Input input(data, bytes);
    const std::uint8_t kind = input.u8();
    constexpr std::uint8_t kinds = 5;

    if (kind % kinds < 3) {
        run_flat(input, kind % kinds);
        return 0;
    }
    const bool m = kind % kinds == 3;
    const std::uint8_t where = input.u8();
    const auto code = input.rest();
    const ran first = run_core(code, m, where);
    constexpr std::uint8_t again = 0x80;
    if ((kind & again) != 0) {
        require(run_core(code, m, where) == first, "the same input is another run");
    }
    return 0;
}
