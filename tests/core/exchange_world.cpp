// SPDX-License-Identifier: Apache-2.0
// Guests, exchange and broker in one; see the header.
#include "exchange_world.h"

#include <gtest/gtest.h>

namespace bulkhead_test {

World::World(uint32_t guest_count, uint32_t chunk_bytes)
{
    paths.reserve(FLOW_EXCHANGE_PATHS);
    exchange.chunk_bytes = chunk_bytes;
    exchange.patience_ticks = 100'000;
    for (uint32_t i = 0; i < guest_count; i++) {
        guests.push_back(std::make_unique<SocketGuest>(i, 3 + i));
        pointers.push_back(guests.back().get());
        exchange.devices[i] = &guests.back()->device;
        guests.back()->start();
        attend(i);
    }
}

flow_path &World::path(uint32_t source, uint32_t destination, uint32_t port, uint32_t most_bytes,
                       uint64_t period, uint64_t deadline)
{
    const auto number = static_cast<uint32_t>(paths.size());

    paths.emplace_back() = {};
    exchange.paths = paths.data();
    open(number, source, destination, port, most_bytes, period, deadline);
    return paths.back();
}

void World::open(uint32_t number, uint32_t source, uint32_t destination, uint32_t port, uint32_t most_bytes,
                 uint64_t period, uint64_t deadline)
{
    const flow_path_parameters parameters = {.source = source,
                                             .destination = destination,
                                             .port = port,
                                             .most_bytes = most_bytes,
                                             .period_ticks = period,
                                             .deadline_ticks = deadline,
                                             .queued_ticks = deadline};

    flow_exchange_open(&exchange, number, &parameters);
}

void World::close(uint32_t number)
{
    flow_effects effects{};

    flow_exchange_close(&exchange, number, &effects);
    obey(effects);
}

void World::obey(flow_effects effects)
{
    for (int rounds = 0; effects.attend != 0; rounds++) {
        ASSERT_LT(rounds, 1000) << "the cores ask each other for ever";
        const uint32_t asked = effects.attend;
        effects = {};
        for (uint32_t i = 0; i < guests.size(); i++) {
            if ((asked >> i & 1) != 0) {
                flow_exchange_process_tx(&exchange, i, now, &effects);
            }
        }
    }
}

void World::attend(uint32_t index)
{
    flow_effects effects{};

    flow_exchange_process_tx(&exchange, index, now, &effects);
    obey(effects);
}

flow_next World::next(bool copy)
{
    flow_effects effects{};
    const flow_next answer = flow_exchange_next(&exchange, now, &transfer, &until, &effects);

    obey(effects);
    if (answer == FLOW_NEXT_TRANSFER) {
        transfers++;
        EXPECT_GT(transfer.bytes, 0u);
        EXPECT_LE(transfer.bytes, exchange.chunk_bytes);
        const uint8_t *from = physical(pointers, transfer.from, transfer.bytes);
        uint8_t *to = physical(pointers, transfer.to, transfer.bytes);
        EXPECT_NE(from, nullptr) << "a transfer leaves a contiguous piece";
        EXPECT_NE(to, nullptr) << "a transfer leaves a contiguous piece";
        if (watch) {
            watch(transfer);
        }
        if (copy && from != nullptr && to != nullptr) {
            std::memcpy(to, from, transfer.bytes);
        }
    }
    return answer;
}

void World::run()
{
    for (int i = 0; next() != FLOW_NEXT_NOTHING; i++) {
        ASSERT_LT(i, 100'000) << "the broker does not end";
    }
}

void World::lose(uint32_t index)
{
    flow_effects effects{};

    guest(index).write(0x70, 0);
    flow_exchange_lose(&exchange, index, &effects);
    obey(effects);
}

} // namespace bulkhead_test
