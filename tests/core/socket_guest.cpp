// SPDX-License-Identifier: Apache-2.0
// The driver's side of the queues, and a memory in pieces; see the header.
#include "socket_guest.h"
#include "core/path_costs.h"

#include <algorithm>
#include <stdexcept>

extern "C" {

// No path costs are measured.
path_recorder *path_recorder_here(void)
{
    return nullptr;
}

uint64_t path_clock(void)
{
    return 0;
}

bool guest_memory_owns(const guest_memory *memory, uint64_t at, uint64_t bytes)
{
    return at >= memory->base && at - memory->base < memory->bytes.size() &&
           bytes <= memory->bytes.size() - (at - memory->base);
}

bool guest_memory_read(guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    std::memcpy(to, memory->at(at), bytes);
    return true;
}

bool guest_memory_write(guest_memory *memory, uint64_t at, const void *from, uint32_t bytes)
{
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    std::memcpy(memory->at(at), from, bytes);
    return true;
}

uint64_t guest_memory_run(const guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    const uint64_t offset = at - memory->base;
    const uint64_t piece = offset / memory->run_bytes;

    *physical = memory->physical_base + piece * bulkhead_test::pieces_apart + offset % memory->run_bytes;
    return std::min(most, memory->run_bytes - offset % memory->run_bytes);
}
}

namespace bulkhead_test {

namespace {

constexpr uint16_t next_flag = 1;
constexpr uint16_t write_flag = 2;
constexpr uint32_t slot_bytes = 65536 / 4; // of the sending area, a descriptor

template <typename T> T load(const uint8_t *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <typename T> void store(uint8_t *at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

} // namespace

SocketGuest::SocketGuest(uint32_t index, uint64_t own_cid, uint32_t buffer_bytes)
    : cid(own_cid), buffer_bytes_(buffer_bytes), next_free_(memory.base + 4 * queue_bytes)
{
    memory.physical_base = uint64_t{index + 1} << 36;
    virtio_mmio_init(&mmio, VSOCK_DEVICE_ID, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
    vsock_device_init(&device, &memory, index, cid, progress);
    tx_area_ = allocate(uint64_t{entries} * slot_bytes);
    rx_area_ = allocate(uint64_t{entries} * buffer_bytes);
    event_area_ = allocate(sizeof(uint32_t));
}

uint64_t SocketGuest::allocate(uint64_t bytes)
{
    const uint64_t at = next_free_;

    next_free_ += bytes + 40; // nothing is well aligned
    if (next_free_ > memory.base + memory.bytes.size()) {
        throw std::length_error("the guest has no such memory");
    }
    return at;
}

void SocketGuest::write(uint32_t offset, uint32_t value)
{
    virtio_mmio_event event{};
    uint32_t queue = 0;

    virtio_mmio_write(&mmio, &memory, offset, 4, value, &event, &queue);
}

uint32_t SocketGuest::read(uint32_t offset)
{
    uint64_t value = 0;

    virtio_mmio_read(&mmio, offset, 4, &value);
    return static_cast<uint32_t>(value);
}

void SocketGuest::reset()
{
    virtio_mmio_reset(&mmio);
    anew_ = 7;
}

void SocketGuest::tell(flow_exchange &exchange)
{
    flow_exchange_set(&exchange, device.index, &mmio.device, anew_);
    anew_ = 0;
}

void SocketGuest::start(uint32_t buffers)
{
    std::memset(memory.at(memory.base), 0, 4 * queue_bytes);
    std::fill(std::begin(available_), std::end(available_), uint16_t{0});
    std::fill(std::begin(seen_), std::end(seen_), uint16_t{0});
    free_.clear();
    chains_.clear();
    for (uint16_t i = 0; i < entries; i++) {
        free_.push_back(i);
    }
    write(0x70, 1);
    write(0x70, 3);
    write(0x24, 0);
    write(0x20, VSOCK_F_STREAM | VSOCK_F_SEQPACKET);
    write(0x24, 1);
    write(0x20, 1); // version 1
    write(0x70, 11);
    for (uint32_t queue = 0; queue < 3; queue++) {
        write(0x30, queue);
        write(0x38, entries);
        const uint64_t places[] = {queue_base(queue), available(queue), used(queue)};
        for (uint32_t i = 0; i < 3; i++) {
            write(0x80 + 0x10 * i, static_cast<uint32_t>(places[i]));
            write(0x84 + 0x10 * i, static_cast<uint32_t>(places[i] >> 32));
        }
        write(0x44, 1);
    }
    write(0x70, 15);
    give_buffers(buffers);
}

void SocketGuest::describe(uint32_t queue, uint16_t index, uint64_t at, uint32_t bytes, uint16_t flags,
                           uint16_t next)
{
    uint8_t *descriptor = memory.at(queue_base(queue)) + size_t{index} * 16;

    store(descriptor, at);
    store(descriptor + 8, bytes);
    store(descriptor + 12, flags);
    store(descriptor + 14, next);
}

void SocketGuest::make_available(uint32_t queue, uint16_t head)
{
    uint8_t *ring = memory.at(available(queue));

    store(ring + 4 + 2 * (available_[queue] % entries), head);
    store(ring + 2, ++available_[queue]);
}

void SocketGuest::give_buffers(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        give_buffer(static_cast<uint16_t>(2 * (available_[VSOCK_QUEUE_RX] % (entries / 2))));
    }
}

// Two descriptors for each buffer, as in Linux 6.1: a header, and the rest.
void SocketGuest::give_buffer(uint16_t head)
{
    const uint64_t at = rx_area_ + head * uint64_t{buffer_bytes_};

    describe(VSOCK_QUEUE_RX, head, at, VSOCK_HEADER_BYTES, next_flag | write_flag, head + 1);
    describe(VSOCK_QUEUE_RX, head + 1, at + VSOCK_HEADER_BYTES, buffer_bytes_ - VSOCK_HEADER_BYTES,
             write_flag, 0);
    make_available(VSOCK_QUEUE_RX, head);
}

vsock_header SocketGuest::header(const SocketGuest &to, uint32_t from_port, uint32_t to_port,
                                 vsock_operation operation, uint32_t bytes) const
{
    vsock_header made{};

    made.source_cid = cid;
    made.destination_cid = to.cid;
    made.source_port = from_port;
    made.destination_port = to_port;
    made.bytes = bytes;
    made.type = VSOCK_TYPE_STREAM;
    made.operation = static_cast<uint16_t>(operation);
    made.buffer_bytes = 1 << 18;
    return made;
}

bool SocketGuest::send(const vsock_header &header, const std::vector<uint8_t> &payload, uint32_t piece_bytes)
{
    std::vector<uint8_t> all(sizeof header);
    std::memcpy(all.data(), &header, sizeof header);
    std::vector<uint32_t> pieces{static_cast<uint32_t>(sizeof header)};
    all.insert(all.end(), payload.begin(), payload.end());
    for (size_t done = 0; done < payload.size();) {
        const auto piece =
            static_cast<uint32_t>(std::min<size_t>({piece_bytes, payload.size() - done, slot_bytes}));
        pieces.push_back(piece);
        done += piece;
    }
    if (free_.size() < pieces.size()) {
        return false;
    }
    std::vector<uint16_t> chain(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(pieces.size()));
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(pieces.size()));
    size_t done = 0;
    for (size_t i = 0; i < chain.size(); i++) {
        const uint64_t at = tx_area_ + chain[i] * uint64_t{slot_bytes};
        std::memcpy(memory.at(at), all.data() + done, pieces[i]);
        done += pieces[i];
        const bool last = i + 1 == chain.size();
        describe(VSOCK_QUEUE_TX, chain[i], at, pieces[i], last ? 0 : next_flag, last ? 0 : chain[i + 1]);
    }
    make_available(VSOCK_QUEUE_TX, chain[0]);
    chains_[chain[0]] = chain;
    return true;
}

void SocketGuest::give_event_buffer()
{
    store(memory.at(event_area_), ~uint32_t{0});
    describe(VSOCK_QUEUE_EVENT, 0, event_area_, sizeof(uint32_t), write_flag, 0);
    make_available(VSOCK_QUEUE_EVENT, 0);
}

uint32_t SocketGuest::take_events()
{
    const uint8_t *ring = memory.at(used(VSOCK_QUEUE_EVENT));
    uint32_t count = 0;

    while (seen_[VSOCK_QUEUE_EVENT] != load<uint16_t>(ring + 2)) {
        seen_[VSOCK_QUEUE_EVENT]++;
        count += load<uint32_t>(memory.at(event_area_)) == VSOCK_EVENT_TRANSPORT_RESET;
        give_event_buffer();
    }
    return count;
}

std::vector<Received> SocketGuest::take(bool refill)
{
    std::vector<Received> all;
    const uint8_t *ring = memory.at(used(VSOCK_QUEUE_RX));

    while (seen_[VSOCK_QUEUE_RX] != load<uint16_t>(ring + 2)) {
        const uint8_t *entry = ring + 4 + 8 * (seen_[VSOCK_QUEUE_RX]++ % entries);
        const auto head = load<uint32_t>(entry);
        const auto written = load<uint32_t>(entry + 4);
        const uint8_t *at = memory.at(rx_area_ + head * uint64_t{buffer_bytes_});
        if (written != 0) {
            all.push_back(
                {load<vsock_header>(at), std::vector<uint8_t>(at + VSOCK_HEADER_BYTES, at + written)});
        }
        if (refill) {
            give_buffer(static_cast<uint16_t>(head)); // they return in any order
        }
    }
    return all;
}

uint32_t SocketGuest::reap()
{
    const uint8_t *ring = memory.at(used(VSOCK_QUEUE_TX));
    uint32_t count = 0;

    while (seen_[VSOCK_QUEUE_TX] != load<uint16_t>(ring + 2)) {
        const auto head = load<uint32_t>(ring + 4 + 8 * (seen_[VSOCK_QUEUE_TX]++ % entries));
        for (uint16_t descriptor : chains_.at(static_cast<uint16_t>(head))) {
            free_.push_back(descriptor);
        }
        chains_.erase(static_cast<uint16_t>(head));
        count++;
    }
    return count;
}

uint8_t *physical(std::vector<SocketGuest *> &guests, uint64_t address, uint32_t bytes)
{
    for (SocketGuest *guest : guests) {
        const guest_memory &memory = guest->memory;
        if (address < memory.physical_base || address - memory.physical_base >= uint64_t{1} << 36) {
            continue;
        }
        const uint64_t piece = (address - memory.physical_base) / pieces_apart;
        const uint64_t within = (address - memory.physical_base) % pieces_apart;
        if (within + bytes > memory.run_bytes ||
            piece * memory.run_bytes + within + bytes > memory.bytes.size()) {
            return nullptr;
        }
        return guest->memory.bytes.data() + piece * memory.run_bytes + within;
    }
    return nullptr;
}

} // namespace bulkhead_test
