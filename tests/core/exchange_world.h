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
    // Payload in the other direction along the connections of a path; has the figures of that direction.
    flow_path &way_back(uint32_t of, uint32_t most_bytes = 65536, uint64_t period = 1,
                        uint64_t deadline = 1000);
    // The legs of a multicast flow; returns the number of the first.
    uint32_t multicast(uint32_t source, const std::vector<uint32_t> &destinations, uint32_t port,
                       uint32_t most_bytes = 65536, uint64_t period = 0, uint64_t deadline = 1000,
                       uint32_t group = 1);
    // Opens another flow in the place of a closed one, and closes a flow.
    void open(uint32_t number, uint32_t source, uint32_t destination, uint32_t port,
              uint32_t most_bytes = 65536, uint64_t period = 0, uint64_t deadline = 1000);
    void close(uint32_t number);
    // How much traffic a guest may cause; unlimited if no limit is set after a flow has begun.
    void give_turns(uint32_t index, uint32_t packets, uint64_t period);
    void give_all_turns();
    SocketGuest &guest(uint32_t index) { return *guests.at(index); }

    // The guest has set up or notified its device, and the broker handles that.
    void attend(uint32_t index);
    // Does EL2's part for the broker.
    void obey();
    // One round of the broker: the previous transfer has ended, and the next one is made.
    flow_next next();
    // Runs until there is nothing to do.
    void run();
    // The driver resets its device, and the broker is told.
    void lose(uint32_t index);
    // The broker ends at this point, and another one continues with the same devices.
    void restart_broker();
    // The driver resets its device, and starts again when its memory is no longer accessed.
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

// Payload that varies.
std::vector<uint8_t> bytes_of(size_t count, uint8_t first = 1);

// Results of the broker's work, by its operations.
using Operations = std::vector<uint16_t>;
Operations operations(const std::vector<Received> &all);

} // namespace bulkhead_test
