// SPDX-License-Identifier: Apache-2.0
// A guest with a virtio socket driver, for tests of the exchange: its memory, its side of the three queues,
// and connections with credit as Linux's driver has them. Its physical memory is in scattered pieces.
#pragma once

#include "core/flow_exchange.h"
#include "core/virtio_mmio.h"
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

// The structure by which core/ accesses a guest's memory.
struct guest_memory {
    uint64_t base = 0x4000'0000;
    std::vector<uint8_t> bytes = std::vector<uint8_t>(size_t{1} << 20);
    uint64_t physical_base = 0;
    uint64_t run_bytes = 4096; // contiguous pieces, which are not adjacent

    uint8_t *at(uint64_t address) { return bytes.data() + (address - base); }
};

namespace bulkhead_test {

constexpr uint64_t pieces_apart = uint64_t{1} << 20; // physically

struct Received {
    vsock_header header{};
    std::vector<uint8_t> payload;
};

class SocketGuest {
public:
    SocketGuest(uint32_t index, uint64_t cid, uint32_t buffer_bytes = 4096 + VSOCK_HEADER_BYTES);

    // The steps of a driver at its start; buffers are provided if `buffers` is not 0.
    void start(uint32_t buffers = 16);
    // The registers, as a driver writes them.
    void write(uint32_t offset, uint32_t value);
    uint32_t read(uint32_t offset);
    // The owner's steps when the driver has requested a reset and its buffers are no longer accessed.
    void reset();
    // Passes the present registers to the exchange.
    void tell(flow_exchange &exchange);

    // Makes a packet available: the header, and the payload in pieces of `piece_bytes`. False: no
    // descriptors.
    bool send(const vsock_header &header, const std::vector<uint8_t> &payload = {},
              uint32_t piece_bytes = 65536);
    // A header from this guest.
    vsock_header header(const SocketGuest &to, uint32_t from_port, uint32_t to_port,
                        vsock_operation operation, uint32_t bytes = 0) const;

    // The number of events delivered since the last call; their buffers are provided again.
    uint32_t take_events();
    // Packets delivered since the last call; buffers are provided again if `refill`.
    std::vector<Received> take(bool refill = true);
    // The number of packets that the device has returned.
    uint32_t reap();
    void give_buffers(uint32_t count);
    void give_event_buffer();

    virtio_mmio mmio{};    // the registers,
    vsock_device device{}; // and the broker's state of the device
    virtqueue_progress progress[VSOCK_QUEUES] = {};
    guest_memory memory;
    uint64_t cid;

    static constexpr uint16_t entries = 32;
    static constexpr uint64_t queue_bytes = 4096;
    uint64_t queue_base(uint32_t queue) const { return memory.base + queue * queue_bytes; }
    uint64_t available(uint32_t queue) const { return queue_base(queue) + entries * 16; }
    uint64_t used(uint32_t queue) const { return queue_base(queue) + 2048; }
    void describe(uint32_t queue, uint16_t index, uint64_t at, uint32_t bytes, uint16_t flags, uint16_t next);
    void make_available(uint32_t queue, uint16_t head);

private:
    uint64_t allocate(uint64_t bytes);
    void give_buffer(uint16_t head);

    uint32_t buffer_bytes_;
    uint64_t next_free_;
    std::deque<uint16_t> free_; // descriptors of the queue that sends
    std::map<uint16_t, std::vector<uint16_t>> chains_;
    uint32_t anew_ = 7; // queues that begin at their first entry
    uint16_t available_[3] = {};
    uint16_t seen_[3] = {};
    uint64_t tx_area_ = 0;
    uint64_t rx_area_ = 0;
    uint64_t event_area_ = 0;
};

// Where the bytes at a "physical" address are, or nullptr.
uint8_t *physical(std::vector<SocketGuest *> &guests, uint64_t address, uint32_t bytes);

} // namespace bulkhead_test
