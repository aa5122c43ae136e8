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
    // Payload the other way along the connections of a path; has its figures.
    flow_path &way_back(uint32_t of, uint32_t most_bytes = 65536, uint64_t period = 1,
                        uint64_t deadline = 1000);
    // Another flow in the place of one that is closed, and the end of one.
    void open(uint32_t number, uint32_t source, uint32_t destination, uint32_t port,
              uint32_t most_bytes = 65536, uint64_t period = 0, uint64_t deadline = 1000);
    void close(uint32_t number);
    // How much a guest may cause; as much as it likes, if nothing is said after a flow has begun.
    void give_turns(uint32_t index, uint32_t packets, uint64_t period);
    void give_all_turns();
    SocketGuest &guest(uint32_t index) { return *guests.at(index); }

    // The guest has set its device up or notified it, and the broker looks.
    void attend(uint32_t index);
    // What EL2 does for the broker.
    void obey();
    // One round of the broker: the transfer before is done, and it does the next one.
    flow_next next();
    // Until there is nothing to do now.
    void run();
    // The driver resets its device, and the broker hears of it.
    void lose(uint32_t index);
    // The broker ends where it stands, and another one goes on with the same devices.
    void restart_broker();
    // The driver resets its device, and starts again when nothing touches its memory.
    void restart(uint32_t index);

    std::vector<std::unique_ptr<SocketGuest>> guests;
    std::vector<SocketGuest *> pointers;
    std::vector<flow_path> paths;
    std::vector<flow_path_parameters> opened; // what each path was opened with
    flow_exchange exchange{};
    flow_effects effects{};
    flow_transfer transfer{};
    uint32_t interrupted = 0; // guests, 1 << index
    uint64_t now = 1;
    uint64_t until = 0;
    uint64_t transfers = 0;
    uint32_t connections = 16; // of paths that are opened
    std::function<void(const flow_transfer &)> watch;

private:
    void wake();
    void set_up();

    uint64_t seen_ = 0;
};

// Payload that is no constant.
std::vector<uint8_t> bytes_of(size_t count, uint8_t first = 1);

// What has come, by its operations.
using Operations = std::vector<uint16_t>;
Operations operations(const std::vector<Received> &all);

} // namespace bulkhead_test
