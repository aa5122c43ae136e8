// SPDX-License-Identifier: Apache-2.0
// See image.h: placing an image. Text and constants are copied for each window, because their linkage
// contains its addresses.
#include "machine/program/image.h"
#include "machine/program/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace bulkhead::machine {

namespace {

constexpr std::uint64_t up_to_pages(std::uint64_t bytes)
{
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace

result<instance> instance::place(const image &file, window &space, symbol_table symbols)
{
    if (space.layout().below.value < image::below().value) {
        return refusal{"a window without room for text below it"};
    }
    const std::uint64_t end = up_to_pages(file.data_offset() + file.data_bytes().value);
    if (end > space.layout().bytes.value) {
        return refusal{
            sentence("text and data need ", end, " bytes; the domain has ", space.layout().bytes.value)};
    }
    instance made(file, space);
    const auto *data = file.file_.data() + file.data_.offset;
    made.data_.assign(data, data + file.data_.file_bytes);
    if (auto bad = made.copy_text()) {
        return *std::move(bad);
    }
    if (auto bad = made.relocate(symbols)) {
        return *std::move(bad);
    }
    made.place_text();
    return made;
}

// Where the layout puts it, or, as on the board, right before the data.
void instance::place_text()
{
    const text_blocks &blocks = file_->blocks();
    const std::uint64_t bytes = up_to_pages(blocks.bytes());
    const bool among_data = file_->text_room_.has_value();
    const std::uint64_t end = among_data ? *file_->text_room_ - link_window + bytes : file_->data_offset();
    if (blocks.count() == 0 || end < bytes || end > space_->layout().bytes.value) {
        return;
    }
    const std::uint64_t first = space_->layout().first + end - bytes;
    auto *words = reinterpret_cast<std::uint16_t *>(space_->host(space_->layout().first) -
                                                    (link_window - file_->missing_));
    text_ = std::make_shared<program_text>(blocks, words, first);
}

const void *instance::at(std::uint64_t link_address) const
{
    return space_->host(space_->layout().first) + (link_address - link_window);
}

std::optional<refusal> instance::copy_text() const
{
    std::byte *low = space_->host(space_->layout().first) - (link_window - link_low);
    const std::uint64_t bytes = file_->text_bytes_;
    if (mmap(low, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED) {
        return refusal{sentence("no memory for text: ", std::strerror(errno))};
    }
    for (const image::segment &each : file_->below_) {
        std::memcpy(low + (each.address - link_low), file_->file_.data() + each.offset, each.file_bytes);
    }
    // As on the board, text and constants lie before the data, if the window has room there.
    if (file_->data_offset() >= bytes) {
        space_->stand_for(low, {bytes}, data_ipa() - bytes);
    } else {
        space_->make_free(low, {bytes}, false);
    }
    return std::nullopt;
}

std::optional<refusal> instance::relocate(symbol_table symbols)
{
    const auto here = reinterpret_cast<std::uint64_t>(space_->host(space_->layout().first));
    for (const image::relocation &each : file_->relocations_) {
        std::uint64_t value = here - link_window + each.addend;
        if (!each.symbol.empty()) {
            const void *meaning = symbols(each.symbol);
            if (meaning == nullptr) {
                return refusal{sentence("the program needs '", each.symbol, "', which nobody has")};
            }
            value = reinterpret_cast<std::uint64_t>(meaning) + each.addend;
        }
        std::byte *where = each.address >= link_window
                               ? data_.data() + (each.address - file_->data_.address)
                               : space_->host(space_->layout().first) - (link_window - each.address);
        std::memcpy(where, &value, sizeof(value));
    }
    for (const image::segment &each : file_->below_) {
        std::byte *where = space_->host(space_->layout().first) - (link_window - each.address);
        const bool has_words = file_->blocks().count() != 0 && file_->missing_ >= each.address &&
                               file_->missing_ - each.address < each.bytes;
        const int protection = PROT_READ | (each.executable ? PROT_EXEC : 0) | (has_words ? PROT_WRITE : 0);
        if (mprotect(where, up_to_pages(each.bytes), protection) != 0) {
            return refusal{sentence("text can not be protected: ", std::strerror(errno))};
        }
    }
    return std::nullopt;
}

const void *instance::symbol(std::string_view name) const
{
    const std::optional<std::uint64_t> address = file_->symbol(name);
    return address ? at(*address) : nullptr;
}

bool instance::has_text(std::uint64_t host_address) const
{
    const auto here = reinterpret_cast<std::uint64_t>(space_->host(space_->layout().first));
    return std::ranges::any_of(file_->below_, [=](const image::segment &each) {
        const std::uint64_t first = here - link_window + each.address;
        return each.executable && host_address >= first && host_address - first < each.bytes;
    });
}

std::string instance::describe(std::uint64_t host_address) const
{
    const auto here = reinterpret_cast<std::uint64_t>(space_->host(space_->layout().first));
    return file_->describe(host_address - here + link_window);
}

std::uint64_t instance::data_ipa() const
{
    return space_->layout().first + file_->data_offset();
}

std::optional<refusal> instance::load_data() const
{
    std::vector<std::byte> all(data_);
    all.resize(file_->data_bytes().value);
    if (!space_->write(data_ipa(), all)) {
        return refusal{sentence("no memory for the program's data at IPA ", hex{data_ipa()}, ", ", all.size(),
                                " bytes")};
    }
    return std::nullopt;
}

} // namespace bulkhead::machine
