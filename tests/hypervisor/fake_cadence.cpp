// SPDX-License-Identifier: Apache-2.0
//
// A Cadence UART in the simplest form that its driver cannot tell from the real one (UG1087, module UART).
#include "cadence_model.h"

#include <deque>

extern "C" {
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

namespace {

constexpr uint64_t kInterruptEnable = 0x08;
constexpr uint64_t kInterruptDisable = 0x0C;
constexpr uint64_t kInterruptStatus = 0x14;
constexpr uint64_t kChannelStatus = 0x2C;
constexpr uint64_t kFifo = 0x30;
constexpr uint32_t kReceiveTrigger = 1u << 0;
constexpr uint32_t kReceiveEmpty = 1u << 1;
constexpr uint32_t kTransmitEmpty = 1u << 3;
constexpr uint32_t kTransmitFull = 1u << 4;

struct Model {
    uint32_t filled = 0;
    std::deque<uint8_t> received;
    uint32_t raised = 0; // latched, cleared by ones
    uint32_t mask = 0;
} model;

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    switch (offset) {
    case kInterruptStatus:
        *value = model.raised;
        return true;
    case kChannelStatus:
        *value = (model.received.empty() ? kReceiveEmpty : kReceiveTrigger) |
                 (model.filled == 0 ? kTransmitEmpty : 0) |
                 (model.filled == kCadenceFifoBytes ? kTransmitFull : 0);
        return true;
    case kFifo:
        *value = model.received.empty() ? 0 : model.received.front();
        if (!model.received.empty()) {
            model.received.pop_front();
        }
        return true;
    default:
        return false;
    }
}

// The receive condition holds as long as there is a character: if cleared, it is set again.
bool write(uint64_t offset, unsigned, uint64_t value)
{
    switch (offset) {
    case kInterruptEnable:
        model.mask |= static_cast<uint32_t>(value);
        return true;
    case kInterruptDisable:
        model.mask &= ~static_cast<uint32_t>(value);
        return true;
    case kInterruptStatus:
        model.raised &= ~static_cast<uint32_t>(value);
        model.raised |= model.received.empty() ? 0 : kReceiveTrigger;
        return true;
    case kFifo:
        model.filled++;
        return true;
    default:
        return false;
    }
}

} // namespace

void make_cadence(uint64_t pa)
{
    model = {};
    fake_map(pa, 0x1000, read, write);
}

void cadence_sends_all()
{
    model.filled = 0;
    model.raised |= kTransmitEmpty;
}

void cadence_receives(uint8_t character)
{
    model.received.push_back(character);
    model.raised |= kReceiveTrigger;
}

bool cadence_interrupts()
{
    return (model.raised & model.mask) != 0;
}

} // namespace bulkhead_test
