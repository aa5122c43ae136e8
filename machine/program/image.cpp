// SPDX-License-Identifier: Apache-2.0
// See image.h: the parser. All reads of the file go through one checked function (`at`); unknown contents are
// refused.
#include "machine/program/image.h"
#include "machine/program/text.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t link_end =
    link_window + (std::uint64_t{1} << 31); // range of the code's displacements
constexpr std::size_t max_relocations = 1 << 20;
constexpr std::size_t max_blocks = 1 << 20;
constexpr std::uint32_t max_block_instructions = 1 << 16;

#if defined(__x86_64__)
constexpr std::uint16_t this_host = EM_X86_64;
constexpr std::uint32_t type_relative = R_X86_64_RELATIVE;
constexpr std::uint32_t type_got = R_X86_64_GLOB_DAT;
constexpr std::uint32_t type_call = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr std::uint16_t this_host = EM_AARCH64;
constexpr std::uint32_t type_relative = R_AARCH64_RELATIVE;
constexpr std::uint32_t type_got = R_AARCH64_GLOB_DAT;
constexpr std::uint32_t type_call = R_AARCH64_JUMP_SLOT;
#endif

} // namespace

// Holds the first error; every step returns whether there is none yet.
class image_parser {
public:
    explicit image_parser(std::vector<std::byte> file) { image_.file_ = std::move(file); }

    result<image> parse()
    {
        const bool good = header() && segments() && dynamic() && relocations();
        if (!good) {
            return refusal{reason_};
        }
        names();
        if (!blocks()) {
            return refusal{reason_};
        }
        return std::move(image_);
    }

private:
    using dynamic_table = std::vector<Elf64_Dyn>;

    bool refuse(std::string reason)
    {
        reason_ = "not a program for the simulated machine: " + std::move(reason);
        return false;
    }

    template <class T> bool at(std::uint64_t offset, T &out) const
    {
        if (offset > image_.file_.size() || image_.file_.size() - offset < sizeof(T)) {
            return false;
        }
        std::memcpy(&out, image_.file_.data() + offset, sizeof(T));
        return true;
    }

    // A string that ends within the file.
    [[nodiscard]] std::optional<std::string> text_at(std::uint64_t offset) const
    {
        const auto &file = image_.file_;
        if (offset >= file.size()) {
            return std::nullopt;
        }
        const auto begin = file.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto end = std::find(begin, file.end(), std::byte{0});
        if (end == file.end()) {
            return std::nullopt;
        }
        return std::string(reinterpret_cast<const char *>(&*begin), static_cast<std::size_t>(end - begin));
    }

    // The offset in the file of an address in a segment.
    [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t bytes) const
    {
        for (const image::segment &each : image_.below_) {
            const std::uint64_t offset = address - each.address;
            if (address >= each.address && offset <= each.file_bytes && bytes <= each.file_bytes - offset) {
                return each.offset + offset;
            }
        }
        return std::nullopt;
    }

    bool header()
    {
        if (!at(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
            return refuse("no ELF file");
        }
        if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
            header_.e_machine != this_host) {
            return refuse("built for another processor than this host's");
        }
        if (header_.e_type != ET_DYN || header_.e_phentsize != sizeof(Elf64_Phdr)) {
            return refuse("no shared object");
        }
        return true;
    }

    bool segments()
    {
        for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
            Elf64_Phdr program{};
            if (!at(header_.e_phoff + i * sizeof(program), program)) {
                return refuse("the file ends within its program headers");
            }
            if (program.p_type == PT_DYNAMIC) {
                dynamic_ = program;
            } else if (program.p_type == PT_TLS || program.p_type == PT_INTERP) {
                return refuse("thread-local data or an interpreter");
            } else if (program.p_type == PT_LOAD && program.p_memsz != 0 && !segment(program)) {
                return false;
            }
        }
        if (image_.below_.empty() || image_.data_.bytes == 0) {
            return refuse("no text or no data (linked without instrumented.ld?)");
        }
        return consistent();
    }

    bool segment(const Elf64_Phdr &program)
    {
        const std::uint64_t size = image_.file_.size();
        if (program.p_offset > size || program.p_filesz > size - program.p_offset ||
            program.p_filesz > program.p_memsz) {
            return refuse("the file ends within a segment");
        }
        const std::uint64_t first = program.p_vaddr;
        if (first < link_low || first >= link_end || program.p_memsz > link_end - first ||
            first % page_bytes != 0) {
            return refuse(sentence("a segment at ", hex{first}, " (linked without instrumented.ld?)"));
        }
        const image::segment made{first, program.p_offset, program.p_filesz, program.p_memsz,
                                  (program.p_flags & PF_X) != 0};
        if (first >= link_window) {
            if (image_.data_.bytes != 0) {
                return refuse("more than one segment of data");
            }
            if (made.executable) {
                return refuse("text in the window");
            }
            image_.data_ = made;
            return true;
        }
        if (first + made.bytes > link_window || (made.executable && (program.p_flags & PF_W) != 0)) {
            return refuse(sentence("a segment at ", hex{first}, " of ", hex{made.bytes}, " bytes"));
        }
        image_.below_.push_back(made);
        return true;
    }

    bool consistent()
    {
        std::uint64_t end = link_low;
        for (const image::segment &each : image_.below_) {
            if (each.address < end) {
                return refuse("segments overlap");
            }
            end = (each.address + each.bytes + page_bytes - 1) / page_bytes * page_bytes;
        }
        image_.text_bytes_ = end - link_low;
        image_.entry_ = header_.e_entry;
        const bool runs = std::ranges::any_of(image_.below_, [this](const image::segment &each) {
            return each.executable && image_.entry_ >= each.address &&
                   image_.entry_ - each.address < each.bytes;
        });
        return runs || refuse("its entry is not in its text (no function main?)");
    }

    bool dynamic()
    {
        const std::optional<std::uint64_t> offset = offset_of(dynamic_.p_vaddr, dynamic_.p_filesz);
        if (!offset) {
            return refuse("no dynamic table");
        }
        for (std::uint64_t at_ = 0; at_ + sizeof(Elf64_Dyn) <= dynamic_.p_filesz; at_ += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry{};
            if (!at(*offset + at_, entry)) {
                return refuse("the file ends within its dynamic table");
            }
            if (entry.d_tag == DT_NULL) {
                break;
            }
            if (!dynamic_entry(entry)) {
                return false;
            }
        }
        return true;
    }

    bool dynamic_entry(const Elf64_Dyn &entry)
    {
        switch (entry.d_tag) {
        case DT_RELA:
            rela_ = entry.d_un.d_ptr;
            return true;
        case DT_RELASZ:
            rela_bytes_ = entry.d_un.d_val;
            return true;
        case DT_JMPREL:
            calls_ = entry.d_un.d_ptr;
            return true;
        case DT_PLTRELSZ:
            calls_bytes_ = entry.d_un.d_val;
            return true;
        case DT_SYMTAB:
            symbols_ = entry.d_un.d_ptr;
            return true;
        case DT_STRTAB:
            strings_ = entry.d_un.d_ptr;
            return true;
        case DT_NEEDED:
            return refuse("it needs another library");
        case DT_REL:
        case DT_INIT:
        case DT_FINI:
        case DT_INIT_ARRAY:
        case DT_FINI_ARRAY:
        case DT_TEXTREL:
            return refuse(sentence("a dynamic entry of kind ", hex{static_cast<std::uint64_t>(entry.d_tag)}));
        default:
            return true;
        }
    }

    bool relocations() { return table(rela_, rela_bytes_) && table(calls_, calls_bytes_); }

    bool table(std::uint64_t address, std::uint64_t bytes)
    {
        if (bytes == 0) {
            return true;
        }
        const std::optional<std::uint64_t> offset = offset_of(address, bytes);
        if (!offset || bytes / sizeof(Elf64_Rela) > max_relocations) {
            return refuse("relocations outside of its segments");
        }
        for (std::uint64_t i = 0; i < bytes / sizeof(Elf64_Rela); ++i) {
            Elf64_Rela entry{};
            if (!at(*offset + i * sizeof(entry), entry) || !relocation(entry)) {
                return reason_.empty() ? refuse("the file ends within its relocations") : false;
            }
        }
        return true;
    }

    [[nodiscard]] bool may_change(std::uint64_t address, std::uint64_t bytes) const
    {
        const auto holds = [=](const image::segment &each) {
            return !each.executable && address >= each.address && each.file_bytes >= bytes &&
                   address - each.address <= each.file_bytes - bytes;
        };
        return holds(image_.data_) || std::ranges::any_of(image_.below_, holds);
    }

    bool relocation(const Elf64_Rela &entry)
    {
        const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
        const std::string name = symbol_name(ELF64_R_SYM(entry.r_info));
        if (!may_change(entry.r_offset, 8)) {
            return refuse(sentence("a relocation at ", hex{entry.r_offset}, ", outside of its data"));
        }
        image::relocation made{entry.r_offset, static_cast<std::uint64_t>(entry.r_addend), name};
        if (type == type_relative) {
            made.symbol.clear();
        } else if (type != type_got && type != type_call) {
            return refuse(sentence("a relocation of type ", type, " to '", name, "'"));
        } else if (name.empty()) {
            return refuse("a relocation to a symbol without a name");
        }
        image_.relocations_.push_back(std::move(made));
        return true;
    }

    [[nodiscard]] std::string symbol_name(std::uint64_t index) const
    {
        Elf64_Sym symbol{};
        const std::optional<std::uint64_t> offset =
            offset_of(symbols_ + index * sizeof(symbol), sizeof(symbol));
        if (index == 0 || !offset || !at(*offset, symbol)) {
            return "";
        }
        const std::optional<std::uint64_t> text = offset_of(strings_ + symbol.st_name, 1);
        return text ? text_at(*text).value_or("") : "";
    }

    // Names for reports and for symbol(). A file may have none; damaged tables give none.
    void names()
    {
        for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
            Elf64_Shdr section{};
            Elf64_Shdr strings{};
            if (at(header_.e_shoff + i * sizeof(section), section) && section.sh_type == SHT_SYMTAB &&
                section.sh_link < header_.e_shnum &&
                at(header_.e_shoff + section.sh_link * sizeof(strings), strings)) {
                names_of(section, strings);
            }
        }
        std::ranges::sort(image_.names_, {}, &image::name::address);
    }

    // Lengths and words of the blocks that are fetched, if the file has them.
    bool blocks()
    {
        const auto first = image_.symbol("machine_blocks");
        const auto end = image_.symbol("machine_blocks_end");
        const auto missing = image_.symbol("machine_missing");
        if (!first || !end || !missing || *first == *end) {
            return true;
        }
        const std::uint64_t count = (*end - *first) / sizeof(std::uint32_t);
        const auto offset = offset_of(*first, count * sizeof(std::uint32_t));
        if (*end < *first || count > max_blocks || !offset || *missing >= link_window ||
            *missing % sizeof(std::uint16_t) != 0 || !may_change(*missing, count * sizeof(std::uint16_t))) {
            return refuse("blocks of code outside of its segments");
        }
        std::vector<std::uint32_t> lengths(count);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!at(*offset + i * sizeof(lengths[i]), lengths[i]) || lengths[i] > max_block_instructions) {
                return refuse("a block of code of impossible length");
            }
        }
        image_.blocks_ = text_blocks(lengths);
        image_.missing_ = *missing;
        image_.text_room_ = image_.symbol("machine_text");
        const bool has_room =
            !image_.text_room_ || (*image_.text_room_ >= link_window &&
                                   *image_.text_room_ % page_bytes == 0 && *image_.text_room_ < link_end);
        return has_room || refuse("a place for text outside of its data");
    }

    void names_of(const Elf64_Shdr &section, const Elf64_Shdr &strings)
    {
        for (std::uint64_t i = 1; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
            Elf64_Sym symbol{};
            if (!at(section.sh_offset + i * sizeof(symbol), symbol)) {
                return;
            }
            const unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE || type > STT_FUNC) {
                continue;
            }
            std::optional<std::string> text = text_at(strings.sh_offset + symbol.st_name);
            if (text && !text->empty()) {
                image_.names_.push_back({symbol.st_value, symbol.st_size, std::move(*text)});
            }
        }
    }

    image image_;
    std::string reason_;
    Elf64_Ehdr header_{};
    Elf64_Phdr dynamic_{};
    std::uint64_t rela_ = 0;
    std::uint64_t rela_bytes_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t calls_bytes_ = 0;
    std::uint64_t symbols_ = 0;
    std::uint64_t strings_ = 0;
};

result<image> image::parse(std::vector<std::byte> file)
{
    return image_parser(std::move(file)).parse();
}

result<image> image::read(const std::string &path)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return refusal{path + ": cannot be read"};
    }
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto *first = reinterpret_cast<const std::byte *>(text.data());
    result<image> made = parse(std::vector<std::byte>(first, first + text.size()));
    if (const auto *bad = std::get_if<refusal>(&made)) {
        return refusal{path + ": " + bad->reason};
    }
    return made;
}

std::optional<std::uint64_t> image::symbol(std::string_view wanted) const
{
    const auto found = std::ranges::find(names_, wanted, &name::text);
    return found == names_.end() ? std::nullopt : std::optional(found->address);
}

std::string image::describe(std::uint64_t link_address) const
{
    const auto after = std::ranges::upper_bound(names_, link_address, {}, &name::address);
    if (after == names_.begin()) {
        return "";
    }
    const name &nearest = *std::prev(after);
    return sentence(nearest.text, "+", hex{link_address - nearest.address});
}

} // namespace bulkhead::machine
