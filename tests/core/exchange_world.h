// SPDX-License-Identifier: Apache-2.0
// Guests, the exchange between them and a broker that copies, for tests of flows.
#pragma once

#include "socket_guest.h"
#include <functional>
#include <optional>

namespace bulkhead_test {

struct World {
    explicit World(uint32_t guest_count, uint32_t chunk_bytes = 4096);

    // Port of a flow from one guest to another; times in ticks.
    flow_path &path(uint32_t source, uint32_t destination, uint32_t port, uint32_t most_bytes = 65536,
                    uint64_t period = 0, uint64_t deadline = 1000);
    // Another flow in the place of one that is closed, and the end of one.
    void open(uint32_t number, uint32_t source, uint32_t destination, uint32_t port,
              uint32_t most_bytes = 65536, uint64_t period = 0, uint64_t deadline = 1000);
    void close(uint32_t number);
    SocketGuest &guest(uint32_t index) { return *guests.at(index); }

    // The guest has notified its device, or the device was told to look.
    void attend(uint32_t index);
    // Does what effects demand of other cores, until nothing more is demanded.
    void obey(flow_effects effects);
    // One call of the broker, and the copying that it orders, unless `copy` is false.
    flow_next next(bool copy = true);
    // Until there is nothing to do now.
    void run();
    void lose(uint32_t index);

    std::vector<std::unique_ptr<SocketGuest>> guests;
    std::vector<SocketGuest *> pointers;
    std::vector<flow_path> paths;
    flow_exchange exchange{};
    flow_transfer transfer{};
    uint64_t now = 1;
    uint64_t until = 0;
    uint64_t transfers = 0;
    std::function<void(const flow_transfer &)> watch;
};

} // namespace bulkhead_test
