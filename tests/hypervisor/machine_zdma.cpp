// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine's DMA channel and QoS-400 regulator beneath their driver's tests.
#include "zdma_model.h"

#include <memory>

#include "machine/devices/qos_regulator.h"
#include "machine/devices/zdma.h"
#include "tests/machine/machine_make.h"

extern "C" {
#include "arch/hosted/fake_registers.h"
}

namespace bulkhead_test {

namespace {

using namespace bulkhead::machine;
using devices::qos_regulator;
using devices::zdma_channel;

struct Board {
    explicit Board(ZdmaMemory own)
        : memory(std::move(own)), hardware(test::make_machine(test::small_machine(1))),
          regulator(hardware->memory(), 0, {.clock_ps = 2000, .transaction_bytes = 128}),
          channel(
              {.start = {100'000}, .finish = {50'000}, .line = {16'000}},
              {.timeline = hardware->timeline(),
               .memory = hardware->memory(),
               .way = {{0}, 0},
               .owner = {},
               .bytes = [this](phys_addr at, byte_count count,
                               access_kind) { return std::as_writable_bytes(memory(at.value, count.value)); },
               .line = [this](bool high) { line = high; }})
    {
    }

    ZdmaMemory memory;
    bool line = false;
    std::unique_ptr<simulated_machine> hardware;
    qos_regulator regulator;
    zdma_channel channel;
};

std::unique_ptr<Board> board;

bool read(uint64_t offset, unsigned, uint64_t *value)
{
    *value = board->channel.read(static_cast<uint32_t>(offset));
    return true;
}

bool write(uint64_t offset, unsigned, uint64_t value)
{
    board->channel.write(static_cast<uint32_t>(offset), static_cast<uint32_t>(value));
    return true;
}

bool read_regulator(uint64_t offset, unsigned, uint64_t *value)
{
    *value = board->regulator.read(offset);
    return true;
}

bool write_regulator(uint64_t offset, unsigned, uint64_t value)
{
    board->regulator.write(offset, static_cast<uint32_t>(value));
    return true;
}

} // namespace

void make_zdma(uint64_t channel_pa, uint64_t regulator_pa, ZdmaMemory memory)
{
    board = std::make_unique<Board>(std::move(memory));
    fake_map(channel_pa, 0x1000, read, write);
    fake_map(regulator_pa, 0x1000, read_regulator, write_regulator);
    board->channel.write(devices::zdma_register::ier, 0xFFF);
    board->channel.write(devices::zdma_register::ctrl2, 1); // of no bytes: ends at once
    zdma_runs();
}

void zdma_runs()
{
    board->hardware->timeline().run(engine::never);
}

bool zdma_is_busy()
{
    return board->channel.busy();
}

bool zdma_interrupts()
{
    return board->line;
}

namespace {

// By when the second of two transactions may go.
uint32_t rate_of(regulator &held)
{
    constexpr uint64_t step = 15'625'000; // 128 bytes * 0.5 GHz / 4096
    constexpr uint64_t line_bytes = 64;
    constexpr uint64_t ps_per_s = 1'000'000'000'000;
    picoseconds last{};

    for (int i = 0; i < 5; ++i) {
        last = held.admit(picoseconds{0}, line_bytes);
    }
    const uint64_t bytes_per_s = last.value == 0 ? 0 : 3 * line_bytes * ps_per_s / last.value;
    return static_cast<uint32_t>((bytes_per_s + step / 2) / step);
}

} // namespace

uint32_t zdma_read_rate()
{
    return rate_of(board->hardware->memory().reads_of(0));
}

uint32_t zdma_write_rate()
{
    return rate_of(board->hardware->memory().writes_of(0));
}

} // namespace bulkhead_test
