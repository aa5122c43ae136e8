// SPDX-License-Identifier: Apache-2.0
// Guests, exchange and broker in one object; see the header.
#include "exchange_world.h"

#include <gtest/gtest.h>
#include <numeric>

namespace bulkhead_test {

std::vector<uint8_t> bytes_of(size_t count, uint8_t first)
{
    std::vector<uint8_t> made(count);
    std::iota(made.begin(), made.end(), first);
    return made;
}

Operations operations(const std::vector<Received> &all)
{
    Operations found;
    for (const Received &one : all) {
        found.push_back(one.header.operation);
    }
    return found;
}

World::World(uint32_t guest_count, uint32_t chunk_bytes)
{
    paths.reserve(FLOW_EXCHANGE_PATHS);
    exchange.chunk_bytes = chunk_bytes;
    for (uint32_t i = 0; i < guest_count; i++) {
        guests.push_back(std::make_unique<SocketGuest>(i, 3 + i));
        pointers.push_back(guests.back().get());
    }
    set_up();
    for (uint32_t i = 0; i < guest_count; i++) {
        guest(i).start();
        attend(i);
    }
}

void World::set_up()
{
    exchange.counter_hz = 1'000'000'000; // a tick is 1 ns
    exchange.patience_ticks = 100'000;
    exchange.paths = paths.data();
    for (uint32_t i = 0; i < guests.size(); i++) {
        exchange.devices[i] = &guest(i).device;
    }
    flow_exchange_init(&exchange);
}

void World::restart_broker()
{
    const uint32_t chunk_bytes = exchange.chunk_bytes;

    exchange = {};
    exchange.chunk_bytes = chunk_bytes;
    effects = {};
    for (const auto &one : guests) {
        vsock_device_init(&one->device, &one->memory, one->device.index, one->cid, one->progress);
    }
    set_up();
    for (uint32_t i = 0; i < paths.size(); i++) {
        paths[i] = {};
        flow_exchange_open(&exchange, i, &opened[i]);
    }
    give_all_turns();
    for (uint32_t i = 0; i < guests.size(); i++) {
        guest(i).tell(exchange);
        flow_exchange_resume(&exchange, i, (1u << VSOCK_QUEUES) - 1);
        attend(i);
    }
}

flow_path &World::path(uint32_t source, uint32_t destination, uint32_t port, uint32_t most_bytes,
                       uint64_t period, uint64_t deadline)
{
    const auto number = static_cast<uint32_t>(paths.size());

    paths.emplace_back() = {};
    opened.emplace_back();
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
                                             .period_ns = period,
                                             .period_ticks = period,
                                             .deadline_ticks = deadline,
                                             .queued_ticks = deadline,
                                             .most_transfers = 0,
                                             .connections = connections,
                                             .answers = 0,
                                             .group = 0};

    opened[number] = parameters;
    flow_exchange_open(&exchange, number, &parameters);
    give_all_turns();
}

flow_path &World::way_back(uint32_t of, uint32_t most_bytes, uint64_t period, uint64_t deadline)
{
    flow_path_parameters parameters = opened.at(of);

    std::swap(parameters.source, parameters.destination);
    parameters.most_bytes = most_bytes;
    parameters.period_ns = parameters.period_ticks = period;
    parameters.deadline_ticks = parameters.queued_ticks = deadline;
    parameters.answers = of + 1;
    paths.emplace_back() = {};
    opened.push_back(parameters);
    exchange.paths = paths.data();
    flow_exchange_open(&exchange, static_cast<uint32_t>(paths.size()) - 1, &parameters);
    give_all_turns();
    return paths.back();
}

uint32_t World::multicast(uint32_t source, const std::vector<uint32_t> &destinations, uint32_t port,
                          uint32_t most_bytes, uint64_t period, uint64_t deadline, uint32_t group)
{
    const auto first = static_cast<uint32_t>(paths.size());

    for (const uint32_t destination : destinations) {
        paths.emplace_back() = {};
        opened.push_back({.source = source,
                          .destination = destination,
                          .port = port,
                          .most_bytes = most_bytes,
                          .period_ns = period,
                          .period_ticks = period,
                          .deadline_ticks = deadline,
                          .queued_ticks = deadline,
                          .most_transfers = 0,
                          .connections = 1,
                          .answers = 0,
                          .group = group});
        exchange.paths = paths.data();
        flow_exchange_open(&exchange, static_cast<uint32_t>(paths.size()) - 1, &opened.back());
    }
    give_all_turns();
    return first;
}

void World::give_all_turns()
{
    for (uint32_t i = 0; i < guests.size(); i++) {
        give_turns(i, 1'000'000, 1);
    }
}

void World::give_turns(uint32_t index, uint32_t packets, uint64_t period)
{
    const flow_share share = {.packets = packets, .period_ns = period};

    flow_turns_start(&guest(index).device.turns, &share, now);
}

void World::close(uint32_t number)
{
    flow_exchange_close(&exchange, number, now, &effects);
    give_all_turns();
    obey();
}

void World::obey()
{
    interrupted |= effects.lines;
    for (uint32_t i = 0; i < guests.size(); i++) {
        if ((effects.failed >> i & 1) != 0) {
            virtio_device_fail(&guest(i).mmio.device);
        }
    }
    effects = {};
}

void World::attend(uint32_t index)
{
    wake();
    guest(index).tell(exchange);
    flow_exchange_has_buffers(&exchange, index, now, &effects);
    flow_exchange_sent(&exchange, index, now);
    flow_exchange_look(&exchange, now, &effects);
    obey();
}

// The broker has slept while time has passed.
void World::wake()
{
    if (now != seen_) {
        flow_exchange_woke(&exchange, now);
        seen_ = now;
    }
}

flow_next World::next()
{
    wake();
    if (exchange.inflight.transfers) {
        flow_exchange_done(&exchange, now, &effects);
        obey();
    }
    flow_exchange_look(&exchange, now, &effects);
    const flow_next answer = flow_exchange_next(&exchange, now, &until, &effects);

    obey();
    if (answer == FLOW_NEXT_TRANSFER) {
        transfers++;
        transfer = exchange.inflight.transfer;
        EXPECT_GT(transfer.bytes, 0u);
        EXPECT_LE(transfer.bytes, exchange.chunk_bytes);
        if (watch) {
            watch(transfer);
        }
        uint32_t pieces = 0;
        for (uint32_t done = 0; done < transfer.bytes; pieces++) {
            flow_piece piece{};
            const uint32_t bytes = flow_exchange_piece(&exchange, done, &piece);
            const uint8_t *from = physical(pointers, piece.from_physical, bytes);
            uint8_t *to = physical(pointers, piece.to_physical, bytes);

            EXPECT_TRUE(bytes != 0 && from != nullptr && to != nullptr) << "a piece is contiguous";
            if (bytes == 0 || from == nullptr || to == nullptr) {
                break;
            }
            std::memcpy(to, from, bytes);
            done += bytes;
        }
        EXPECT_TRUE(flow_exchange_copies(&exchange) || pieces == 1);
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
    guest(index).write(0x70, 0);
    flow_exchange_lose(&exchange, index, now);
    guest(index).tell(exchange);
}

void World::restart(uint32_t index)
{
    lose(index);
    while (flow_exchange_touches(&exchange, index)) {
        next();
    }
    guest(index).reset();
    guest(index).start();
    attend(index);
}

} // namespace bulkhead_test
