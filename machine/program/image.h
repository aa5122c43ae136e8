// SPDX-License-Identifier: Apache-2.0
// Instrumented programs as files (cmake/instrumented.cmake) and as loaded: a file is parsed once and placed
// into any number of windows, each with its own globals. Files come from the user, so everything in them is
// checked; a bad file is refused with the reason. Used by all code that runs programs, bare or hosted.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "machine/program/program_text.h"
#include "machine/program/window.h"

namespace bulkhead::machine {

// Addresses that the linker script (instrumented.ld) and the loader share: text, constants and GOT lie
// between the two; link_window is the window's first IPA.
inline constexpr std::uint64_t link_low = 0x10000000;
inline constexpr std::uint64_t link_window = 0x11000000;

class image {
public:
    static result<image> parse(std::vector<std::byte> file);
    static result<image> read(const std::string &path);

    // Size of the annex below that a window needs.
    [[nodiscard]] static constexpr byte_count below() { return {link_window - link_low}; }
    // Data and zeroed data begin at the window's first IPA; text and constants count as lying directly before
    // them.
    [[nodiscard]] std::uint64_t data_offset() const { return data_.address - link_window; }
    [[nodiscard]] byte_count data_bytes() const { return {data_.bytes}; }
    [[nodiscard]] byte_count text_bytes() const { return {text_bytes_}; }
    [[nodiscard]] const text_blocks &blocks() const { return blocks_; }

    // Link address of any named symbol, exported or not.
    [[nodiscard]] std::optional<std::uint64_t> symbol(std::string_view name) const;
    // "function+0x12", for messages; empty if unknown.
    [[nodiscard]] std::string describe(std::uint64_t link_address) const;

private:
    friend class instance;
    struct segment {
        std::uint64_t address = 0;
        std::uint64_t offset = 0; // in the file
        std::uint64_t file_bytes = 0;
        std::uint64_t bytes = 0; // in memory
        bool executable = false;
    };
    struct relocation {
        std::uint64_t address = 0;
        std::uint64_t addend = 0;
        std::string symbol; // empty: relative to the address of the image
    };
    struct name {
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        std::string text;
    };
    friend class image_parser;

    std::vector<std::byte> file_;
    std::vector<segment> below_; // segments of text, constants and linkage
    segment data_;
    std::uint64_t text_bytes_ = 0;
    text_blocks blocks_;
    std::uint64_t missing_ = 0;              // link address of the words of the blocks
    std::optional<std::uint64_t> text_room_; // link address of the place in the data that is reserved for the
                                             // text
    std::uint64_t entry_ = 0;
    std::vector<relocation> relocations_;
    std::vector<name> names_; // by address
};

// Addresses of an image's undefined symbols; nullptr: no such symbol. runtime_symbol (symbols.h) is the usual
// one.
using symbol_table = const void *(*)(std::string_view name);

// An image in a window. Text and linkage are in the annex below; the data are in `data()` until they are
// copied to the addresses that the window's map gives.
class instance {
public:
    // The window must have image::below() below it. Window and `file` must outlive the instance. One image
    // per window.
    static result<instance> place(const image &file, window &space, symbol_table symbols);

    [[nodiscard]] const image &file() const { return *file_; }
    [[nodiscard]] window &space() const { return *space_; }

    // Host addresses.
    [[nodiscard]] const void *entry() const { return at(file_->entry_); }
    [[nodiscard]] const void *symbol(std::string_view name) const; // nullptr: unknown
    // The text that cores fetch; null: the image has no description of it, or it is not in memory.
    [[nodiscard]] const std::shared_ptr<program_text> &text() const { return text_; }
    [[nodiscard]] bool has_text(std::uint64_t host_address) const;
    [[nodiscard]] std::string describe(std::uint64_t host_address) const;

    // The IPA of the data, and their bytes, relocated for this window; the rest up to image::data_bytes() is
    // zero.
    [[nodiscard]] std::uint64_t data_ipa() const;
    [[nodiscard]] std::span<const std::byte> data() const { return data_; }
    // Copies data and zeros through the window's map; refuses if a page is not mapped.
    [[nodiscard]] std::optional<refusal> load_data() const;

private:
    instance(const image &file, window &space) : file_(&file), space_(&space) {}
    [[nodiscard]] const void *at(std::uint64_t link_address) const;
    [[nodiscard]] std::optional<refusal> copy_text() const;
    [[nodiscard]] std::optional<refusal> relocate(symbol_table symbols);
    void place_text();

    const image *file_;
    window *space_;
    std::shared_ptr<program_text> text_;
    std::vector<std::byte> data_;
};

} // namespace bulkhead::machine
