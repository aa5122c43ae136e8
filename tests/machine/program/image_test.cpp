// SPDX-License-Identifier: Apache-2.0
// Program files come from outside: any contents are refused with a reason or placed where they may be. Run
// with sanitizers, which detect each read outside of the file. Issue 4, S1.
#include "machine/program/image.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <gmock/gmock.h>

#include "machine/random.h"
#include "tests/machine/make.h"

namespace bulkhead::machine::test::image_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::byte> contents()
{
    std::ifstream stream(KERNELS_IMAGE, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto *first = reinterpret_cast<const std::byte *>(text.data());
    return {first, first + text.size()};
}

constexpr std::uint64_t first_ipa = 0x40000000;
constexpr std::uint64_t space_bytes = 1 << 20;

int anything;
const void *whatever_it_wants(std::string_view /*name*/)
{
    return &anything;
}

// Parsed and placed, as far as possible.
std::string reason(std::vector<std::byte> file)
{
    const result<image> made = image::parse(std::move(file));
    if (const auto *bad = std::get_if<refusal>(&made)) {
        return bad->reason;
    }
    const ram memory = expect_made(ram::make(std::vector<memory_range>{{{0}, {space_bytes}}}));
    window space = expect_made(window::make(memory, {first_ipa, {space_bytes}, image::below(), {0}}));
    EXPECT_FALSE(space.map({{{first_ipa, {0}, {space_bytes}}}}, {}).has_value());
    const result<instance> placed = instance::place(std::get<image>(made), space, whatever_it_wants);
    if (const auto *bad = std::get_if<refusal>(&placed)) {
        return bad->reason;
    }
    const auto &good = std::get<instance>(placed);
    EXPECT_TRUE(good.has_text(reinterpret_cast<std::uint64_t>(good.entry())));
    return good.load_data() ? good.load_data()->reason : "";
}

template <class Change> std::string reason_changed(Change &&change)
{
    std::vector<std::byte> file = contents();
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof(header));
    std::vector<Elf64_Phdr> programs(header.e_phnum);
    std::memcpy(programs.data(), file.data() + header.e_phoff, programs.size() * sizeof(Elf64_Phdr));
    change(header, programs);
    std::memcpy(file.data(), &header, sizeof(header));
    std::memcpy(file.data() + 64, programs.data(), programs.size() * sizeof(Elf64_Phdr));
    return reason(std::move(file));
}

TEST(image, knows_its_layout_and_names)
{
    const image made = expect_made(image::parse(contents()));
    EXPECT_EQ(made.data_offset(), made.text_bytes().value) << "data follow text, as on the board";
    ASSERT_TRUE(made.symbol("kernel_spin").has_value());
    EXPECT_EQ(made.describe(*made.symbol("kernel_spin") + 4), "kernel_spin+0x4");
    EXPECT_EQ(made.symbol("no such thing"), std::nullopt);
    EXPECT_EQ(reason(contents()), "");
}

TEST(image, what_is_no_program_is_refused)
{
    EXPECT_THAT(reason({}), HasSubstr("no ELF file"));
    EXPECT_THAT(reason(std::vector<std::byte>(4096)), HasSubstr("no ELF file"));
    EXPECT_THAT(reason_of(image::read("/bin/sh")),
                HasSubstr("/bin/sh: not a program for the simulated machine"));
    EXPECT_THAT(reason_of(image::read("/nowhere")), HasSubstr("cannot be read"));
    using header = Elf64_Ehdr;
    using programs = std::vector<Elf64_Phdr>;
    EXPECT_THAT(reason_changed([](header &h, programs &) { h.e_machine = EM_S390; }),
                HasSubstr("another processor"));
    EXPECT_THAT(reason_changed([](header &h, programs &) { h.e_type = ET_EXEC; }),
                HasSubstr("no shared object"));
    EXPECT_THAT(reason_changed([](header &h, programs &) { h.e_entry = link_window; }), HasSubstr("entry"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[1].p_vaddr += 0x100000000; }),
                HasSubstr("segment at"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[1].p_vaddr = p[0].p_vaddr; }),
                HasSubstr("overlap"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[4].p_memsz = 1 << 30; }),
                HasSubstr("the domain has"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[4].p_memsz = ~std::uint64_t{0}; }),
                HasSubstr("segment at"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[4].p_offset = ~std::uint64_t{0}; }),
                HasSubstr("ends within a segment"));
    EXPECT_THAT(reason_changed([](header &, programs &p) { p[5].p_vaddr = 0; }),
                HasSubstr("no dynamic table"));
}

TEST(image, every_truncation_is_refused)
{
    const std::vector<std::byte> whole = contents();
    // After the last segment there are only names: fewer of them do no harm.
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof(header));
    std::uint64_t end = 0;
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr program;
        std::memcpy(&program, whole.data() + header.e_phoff + static_cast<std::size_t>(i) * sizeof(program),
                    sizeof(program));
        end = std::max(end, program.p_offset + program.p_filesz);
    }
    for (std::uint64_t size = 0; size < whole.size(); size += size < 1024 ? 7 : 211) {
        const std::string why = reason({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        if (size < end) {
            EXPECT_THAT(why, StartsWith("not a program")) << size << " bytes";
        } else {
            EXPECT_EQ(why, "") << size << " bytes";
        }
    }
}

TEST(image, no_change_of_a_few_bytes_does_harm)
{
    const std::vector<std::byte> whole = contents();
    random_source random(4);
    int refused = 0;
    for (int round = 0; round < 1000; ++round) {
        std::vector<std::byte> file = whole;
        for (std::uint64_t i = 0; i < 1 + random.below(4); ++i) {
            // Headers, tables and relocations are at the file's start and end.
            const std::uint64_t at = random.below(2) == 0
                                         ? random.below(1024)
                                         : random.below(static_cast<std::uint32_t>(file.size()));
            file[at] = static_cast<std::byte>(random.below(256));
        }
        refused += reason(std::move(file)).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 100);
}

} // namespace
} // namespace bulkhead::machine::test::image_test
