// SPDX-License-Identifier: Apache-2.0
//
// A DMA channel and its regulator in the simplest form that their driver cannot tell from the real ones
// (UG1087, modules ZDMA and LPD_GPV).
#include "zdma_model.h"

#include <algorithm>
#include <map>

extern "C" {
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

namespace {

constexpr uint64_t kStatus = 0x100, kMask = 0x104, kEnable = 0x108, kDisable = 0x10C;
constexpr uint64_t kSource = 0x128, kDestination = 0x138, kStart = 0x200;
constexpr uint32_t kDone = 1u << 10, kReadError = 1u << 8, kAll = 0xFFF;

struct Model {
    ZdmaMemory memory;
    std::map<uint64_t, uint32_t> words;
    std::map<uint64_t, uint32_t> regulator;
    uint32_t raised = kDone; // latched, cleared by ones
    uint32_t mask = 0;       // one: masked
    bool busy = false;
} model;

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    *value = offset == kStatus ? model.raised : offset == kMask ? model.mask : model.words[offset];
    return true;
}

bool write(uint64_t offset, unsigned, uint64_t value)
{
    const auto word = static_cast<uint32_t>(value);

    switch (offset) {
    case kStatus:
        model.raised &= ~word;
        break;
    case kEnable:
        model.mask &= ~word;
        break;
    case kDisable:
        model.mask |= word & kAll;
        break;
    case kStart:
        model.busy = model.busy || (word & 1) != 0;
        break;
    default:
        model.words[offset] = word;
        break;
    }
    return true;
}

bool read_regulator(uint64_t offset, unsigned, uint64_t *value)
{
    *value = model.regulator[offset];
    return true;
}

bool write_regulator(uint64_t offset, unsigned, uint64_t value)
{
    model.regulator[offset] = static_cast<uint32_t>(value);
    return true;
}

std::span<char> side(uint64_t words)
{
    const uint64_t address = model.words[words] | uint64_t{model.words[words + 4]} << 32;
    return model.memory(address, model.words[words + 8]);
}

} // namespace

void make_zdma(uint64_t channel_pa, uint64_t regulator_pa, ZdmaMemory memory)
{
    model = {};
    model.memory = std::move(memory);
    fake_map(channel_pa, 0x1000, read, write);
    fake_map(regulator_pa, 0x1000, read_regulator, write_regulator);
}

void zdma_runs()
{
    if (!model.busy) {
        return;
    }
    const std::span<char> from = side(kSource);
    const std::span<char> to = side(kDestination);
    const bool good = !from.empty() && from.size() == to.size();

    if (good) {
        std::ranges::copy(from, to.begin());
    }
    model.busy = false;
    model.raised |= good ? kDone : kReadError;
}

bool zdma_is_busy()
{
    return model.busy;
}

bool zdma_interrupts()
{
    return (model.raised & ~model.mask & kAll) != 0;
}

uint32_t zdma_read_rate()
{
    return (model.regulator[0x10C] & 2) != 0 && model.regulator[0x128] == 1 ? model.regulator[0x12C] >> 20
                                                                            : 0;
}

uint32_t zdma_write_rate()
{
    return (model.regulator[0x10C] & 1) != 0 && model.regulator[0x11C] == 1 ? model.regulator[0x120] >> 20
                                                                            : 0;
}

} // namespace bulkhead_test
