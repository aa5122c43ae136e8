// SPDX-License-Identifier: Apache-2.0
// An executable of a 32-bit Arm core as a boot loader sees it: contents and load addresses. Everything in the
// file is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/armv7/physical_bus.h"
#include "machine/types.h"

namespace bulkhead::machine::armv7 {

class elf_image {
public:
    struct piece {
        std::uint32_t address; // physical
        std::span<const std::byte> bytes;
    };

    // Refuses files that are not 32-bit little-endian ELF files for Arm, and truncated ones.
    static result<elf_image> read(const std::string &path);
    static result<elf_image> parse(std::vector<std::byte> file);

    [[nodiscard]] std::uint32_t entry() const { return entry_; } // bit 0: T32
    // At least one, in the order of the file; none is empty.
    [[nodiscard]] const std::vector<piece> &pieces() const { return pieces_; }
    [[nodiscard]] std::uint32_t lowest_address() const;

    // Copies the contents to memory. Returns an empty string, or which part has no memory at its address.
    [[nodiscard]] std::string load(const physical_bus &bus) const;

private:
    elf_image(std::vector<std::byte> file, std::uint32_t entry) : file_(std::move(file)), entry_(entry) {}

    std::vector<std::byte> file_; // moved together with its storage, so that pieces stay valid
    std::uint32_t entry_;
    std::vector<piece> pieces_;
};

} // namespace bulkhead::machine::armv7
