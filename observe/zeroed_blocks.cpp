// SPDX-License-Identifier: Apache-2.0
// Registers of the emulator for DC ZVA; see the header.
#include "observe/zeroed_blocks.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::observe {

namespace {

constexpr unsigned general_registers = 31;

} // namespace

void zeroed_blocks::attach()
{
    buffer_ = g_byte_array_new();
    GArray *registers = qemu_plugin_get_registers();
    const std::span all(reinterpret_cast<const qemu_plugin_reg_descriptor *>(registers->data),
                        registers->len);
    const auto handle_of = [&](std::string_view name) -> qemu_plugin_register * {
        for (const qemu_plugin_reg_descriptor &known : all) {
            if (known.name == name) {
                return known.handle;
            }
        }
        return nullptr;
    };
    for (unsigned index = 0; index < general_registers; ++index) {
        general_.push_back(handle_of(std::string(1, 'x').append(std::to_string(index))));
    }
    if (qemu_plugin_register *dczid = handle_of("DCZID_EL0")) {
        block_bytes_ = std::uint64_t{4} << (read(dczid) & 15U); // BS: log2 of the block in words
    }
    g_array_free(registers, 1);
}

std::uint64_t zeroed_blocks::read(qemu_plugin_register *handle)
{
    std::uint64_t value = 0;
    g_byte_array_set_size(buffer_, 0);
    if (handle != nullptr && qemu_plugin_read_register(handle, buffer_) > 0) {
        std::memcpy(&value, buffer_->data, std::min<std::size_t>(sizeof(value), buffer_->len));
    }
    return value;
}

void zeroed_blocks::begin(unsigned index)
{
    // X31 is XZR here: block 0.
    const std::uint64_t address = index < general_.size() ? read(general_[index]) : 0;
    pending_ = address & ~(block_bytes_ - 1);
    is_pending_ = true;
}

std::optional<std::uint64_t> zeroed_blocks::complete()
{
    if (!is_pending_) {
        return std::nullopt;
    }
    is_pending_ = false;
    return pending_;
}

} // namespace bulkhead::observe
