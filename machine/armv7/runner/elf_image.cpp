// SPDX-License-Identifier: Apache-2.0
// Parses the headers of the file; see the header.
#include "machine/armv7/runner/elf_image.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include "machine/program/text.h"
#include "machine/request/request.h"

namespace bulkhead::machine::armv7 {
namespace {

bool is_arm(const Elf32_Ehdr &header)
{
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS32 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_ARM &&
           header.e_phentsize == sizeof(Elf32_Phdr);
}

} // namespace

result<elf_image> elf_image::read(const std::string &path)
{
    auto bytes = file_content(path);
    if (const auto *bad = std::get_if<refusal>(&bytes)) {
        return *bad;
    }
    auto made = parse(std::get<std::vector<std::byte>>(std::move(bytes)));
    if (const auto *bad = std::get_if<refusal>(&made)) {
        return refusal{path + ": " + bad->reason};
    }
    return made;
}

result<elf_image> elf_image::parse(std::vector<std::byte> file)
{
    Elf32_Ehdr header{};
    if (file.size() < sizeof header) {
        return refusal{"is no ELF file"};
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (!is_arm(header)) {
        return refusal{"is no ELF file of a little-endian 32-bit Arm core"};
    }
    elf_image made(std::move(file), header.e_entry);
    const std::span<const std::byte> bytes = made.file_;
    if (header.e_phoff > bytes.size() ||
        (bytes.size() - header.e_phoff) / sizeof(Elf32_Phdr) < header.e_phnum) {
        return refusal{"is truncated"};
    }
    for (std::size_t n = 0; n < header.e_phnum; ++n) {
        Elf32_Phdr segment{};
        std::memcpy(&segment, bytes.data() + header.e_phoff + n * sizeof segment, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) {
            continue;
        }
        if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset) {
            return refusal{"is truncated"};
        }
        made.pieces_.push_back({segment.p_paddr, bytes.subspan(segment.p_offset, segment.p_filesz)});
    }
    if (made.pieces_.empty()) {
        return refusal{"has nothing to load"};
    }
    return made;
}

std::uint32_t elf_image::lowest_address() const
{
    return std::ranges::min_element(pieces_, {}, &piece::address)->address;
}

std::string elf_image::load(const physical_bus &bus) const
{
    for (const piece &one : pieces_) {
        std::uint8_t *const to = bus.memory(one.address, static_cast<std::uint32_t>(one.bytes.size()));
        if (to == nullptr) {
            return sentence("the image has ", one.bytes.size(), " bytes at ", hex{one.address},
                            ", where the board has no memory");
        }
        std::memcpy(to, one.bytes.data(), one.bytes.size());
    }
    return "";
}

} // namespace bulkhead::machine::armv7
