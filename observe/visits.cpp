// SPDX-License-Identifier: Apache-2.0
// Visits of cores to a range of instructions; see the header.
#include "observe/visits.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace bulkhead::observe {

namespace {

constexpr std::uint32_t eret = 0xD69F03E0;
constexpr std::uint32_t wfi = 0xD503207F;

} // namespace

visits::visits(std::uint64_t first, std::uint64_t bytes, std::vector<std::uint64_t> marks)
    : first_(first), bytes_(bytes)
{
    for (std::size_t index = 0; index < marks.size(); ++index) {
        marks_.push_back({.own = this, .address = marks[index], .bit = std::uint32_t{1} << index});
    }
}

bool visits::attach()
{
    if (buffer_ == nullptr) {
        buffer_ = g_byte_array_new();
    }
    GArray *registers = qemu_plugin_get_registers();
    const std::span all(reinterpret_cast<const qemu_plugin_reg_descriptor *>(registers->data),
                        registers->len);
    for (const qemu_plugin_reg_descriptor &known : all) {
        if (std::string_view(known.name) == "TPIDR_EL2") {
            which_core_ = known.handle; // the same handle on all cores
        }
    }
    g_array_free(registers, 1);
    return which_core_ != nullptr;
}

void visits::translate(qemu_plugin_tb *block)
{
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    if (count == 0 || qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0)) - first_ >= bytes_) {
        return;
    }
    for (std::size_t index = 0; index < count; ++index) {
        qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
        if (index == 0) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_block, QEMU_PLUGIN_CB_R_REGS, this);
        }
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, QEMU_PLUGIN_CB_NO_REGS, this);
        for (mark &one : marks_) {
            if (one.address == qemu_plugin_insn_vaddr(instruction)) {
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS, &one);
            }
        }
        std::uint32_t word = 0;
        if (qemu_plugin_insn_data(instruction, &word, sizeof(word)) == sizeof(word) &&
            (word == eret || word == wfi)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_end, QEMU_PLUGIN_CB_NO_REGS, this);
        }
    }
}

void visits::restart()
{
    ended_.clear();
}

std::string visits::json() const
{
    std::set<std::uint64_t> cores;
    for (const visit &one : ended_) {
        cores.insert(one.core);
    }
    std::string text = "[";
    for (const visit &one : ended_) {
        text += text.size() > 1 ? ", [" : "[";
        text += std::to_string(std::distance(cores.begin(), cores.find(one.core))) + ", " +
                std::to_string(one.marks) + ", " + std::to_string(one.instructions) + "]";
    }
    return text + "]";
}

void visits::on_block(unsigned, void *own)
{
    visits &self = *static_cast<visits *>(own);
    std::uint64_t core = 0;
    g_byte_array_set_size(self.buffer_, 0);
    if (qemu_plugin_read_register(self.which_core_, self.buffer_) > 0) {
        std::memcpy(&core, self.buffer_->data, std::min<std::size_t>(sizeof(core), self.buffer_->len));
    }
    self.current_ = &self.open_.try_emplace(core, visit{.core = core}).first->second;
}

void visits::on_instruction(unsigned, void *own)
{
    ++static_cast<visits *>(own)->current_->instructions;
}

void visits::on_mark(unsigned, void *given)
{
    const mark &one = *static_cast<const mark *>(given);
    one.own->current_->marks |= one.bit;
}

void visits::on_end(unsigned, void *own)
{
    visits &self = *static_cast<visits *>(own);
    self.ended_.push_back(*self.current_);
    *self.current_ = {.core = self.current_->core};
}

} // namespace bulkhead::observe
