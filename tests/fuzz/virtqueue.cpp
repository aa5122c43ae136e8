// SPDX-License-Identifier: Apache-2.0
// Target `virtqueue`: three guests write anything into the registers of their socket devices, by the MMIO and
// the PCI transport and by the window of configuration space, and into their queues and packets; a broker
// transfers the packets. Nothing outside of a guest's memory is read, a guest without a flow gets no byte, a
// device with invalid input requests a reset, and the others continue.
#include "input.h"
#include "require.h"

#include "core/flow_exchange.h"
#include "core/path_costs.h"
#include "core/virtio_pci.h"

#include <array>
#include <cstring>

using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;

namespace {

constexpr uint32_t guest_count = 3; // the third one has no flow
constexpr uint64_t base = 0x4000'0000;
constexpr uint64_t memory_bytes = 0x4000;
constexpr uint64_t run_bytes = 0x1000;
constexpr uint64_t apart = uint64_t{1} << 32; // guests, physically
constexpr uint64_t area_bytes = 0x800;        // of a queue
constexpr uint16_t entries = 8;
constexpr uint64_t bar = 0x0B00'0000;

} // namespace

struct guest_memory {
    std::array<uint8_t, memory_bytes> bytes;
    uint64_t physical;
    const vsock_device *device;
};

extern "C" {

bool guest_memory_owns(const guest_memory *, uint64_t at, uint64_t bytes)
{
    return at >= base && at - base < memory_bytes && bytes <= memory_bytes - (at - base);
}

// No path costs are measured.
path_recorder *path_recorder_here(void)
{
    return nullptr;
}

uint64_t path_clock(void)
{
    return 0;
}

bool guest_memory_read(guest_memory *memory, uint64_t at, void *to, uint32_t bytes)
{
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    std::memcpy(to, memory->bytes.data() + (at - base), bytes);
    return true;
}

bool guest_memory_write(guest_memory *memory, uint64_t at, const void *from, uint32_t bytes)
{
    require((memory->device->virtio.status & VIRTIO_STATUS_DRIVER_OK) != 0,
            "the memory of a guest whose driver does not run is written to");
    if (!guest_memory_owns(memory, at, bytes)) {
        return false;
    }
    std::memcpy(memory->bytes.data() + (at - base), from, bytes);
    return true;
}

uint64_t guest_memory_run(const guest_memory *memory, uint64_t at, uint64_t most, uint64_t *physical)
{
    require(guest_memory_owns(memory, at, most), "a transfer of what the guest does not own");
    *physical = memory->physical + (at - base);
    return most < run_bytes - at % run_bytes ? most : run_bytes - at % run_bytes;
}
}

namespace {

class World {
public:
    World()
    {
        for (uint32_t i = 0; i < guest_count; i++) {
            memories_[i].bytes.fill(0);
            memories_[i].physical = (i + 1) * apart;
            memories_[i].device = &devices_[i];
            virtio_mmio_init(&registers_[i], VSOCK_DEVICE_ID, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
            virtio_pci_init(&functions_[i], VSOCK_DEVICE_ID, bar);
        }
        set_up();
        for (uint32_t i = 0; i < paths_.size(); i++) {
            open(i);
        }
    }

    void step(Input &input)
    {
        const uint8_t what = input.u8();
        const uint32_t guest = input.u8() % guest_count;

        if (what >= 0xF8) { // as other kinds of steps before there was this one, which kept inputs have
            configure(guest, input);
            judge();
            return;
        }
        switch (what % 14) {
        case 0:
            access(guest, input.u16() % VIRTIO_MMIO_BYTES, input);
            break;
        case 1:
            start(guest);
            break;
        case 2:
            describe(guest, input);
            break;
        case 3:
            offer(guest, input.u8() % VSOCK_QUEUES, input.u8());
            break;
        case 4:
            packet(guest, input);
            break;
        case 5:
            poke(guest, input);
            break;
        case 6:
            attend(guest);
            break;
        case 7:
            now_ += input.u16();
            break;
        case 8:
            lose(guest);
            break;
        case 9:
            change(guest == 2 ? second_leg : guest);
            break;
        case 10:
            give_turns(guest, input.u8(), input.u8());
            break;
        case 11:
            fail();
            break;
        case 12:
            restart_broker();
            break;
        default:
            next();
            break;
        }
        judge();
    }

private:
    void set_up()
    {
        for (uint32_t i = 0; i < guest_count; i++) {
            vsock_device_init(&devices_[i], &memories_[i], i, 3 + i, progress_[i].data());
            exchange_.devices[i] = &devices_[i];
        }
        exchange_.paths = paths_.data();
        exchange_.counter_hz = 1'000'000'000;
        exchange_.chunk_bytes = 512;
        exchange_.patience_ticks = 10'000;
        flow_exchange_init(&exchange_);
    }

    // Another broker continues from the state of this one. The stored state of a queue must not be trusted
    // more than the guest.
    void restart_broker()
    {
        const std::array<bool, 5> open_before = {paths_[0].open, paths_[1].open, paths_[0].open,
                                                 paths_[3].open, paths_[second_leg].open};

        exchange_ = {};
        effects_ = {};
        paths_ = {};
        set_up();
        for (uint32_t i = 0; i < paths_.size(); i++) {
            if (open_before[i]) {
                open(i);
            }
        }
        for (uint32_t i = 0; i < guest_count; i++) {
            tell(i);
            flow_exchange_resume(&exchange_, i, 7);
            attend(i);
        }
    }

    // From one of the first two guests to the other, and the way back of the first path; then a multicast
    // flow from the first guest to both others.
    void open(uint32_t path)
    {
        const bool is_leg = path > way_back;
        const uint32_t source = path == 0 || is_leg ? 0 : 1;
        const flow_path_parameters parameters = {.source = source,
                                                 .destination = path == second_leg ? 2 : 1 - source,
                                                 .port = is_leg ? 8u : 7u,
                                                 .most_bytes = 4096,
                                                 .period_ns = 10,
                                                 .period_ticks = 10,
                                                 .deadline_ticks = 100,
                                                 .queued_ticks = 100,
                                                 .most_transfers = 8,
                                                 .connections = is_leg ? 1u : 3u,
                                                 .answers = path == way_back ? 1u : 0u,
                                                 .group = is_leg ? 1u : 0u};

        flow_exchange_open(&exchange_, path, &parameters);
    }

    void give_turns(uint32_t guest, uint32_t packets, uint64_t period)
    {
        const flow_share share = {.packets = packets, .period_ns = period};

        flow_turns_start(&devices_[guest].turns, &share, now_);
    }

    void change(uint32_t path)
    {
        if (paths_[path].open) {
            flow_exchange_close(&exchange_, path, now_, &effects_);
            obey();
        } else if (flow_exchange_is_unused(&exchange_, path)) {
            open(path);
            if (path == 0) {
                open(way_back);
            }
        }
    }

    static constexpr uint32_t way_back = 2; // paths
    static constexpr uint32_t second_leg = 4;

    static uint64_t area(uint32_t queue) { return base + queue * area_bytes; }

    template <typename T> void put(uint32_t guest, uint64_t at, T value)
    {
        std::memcpy(memories_[guest].bytes.data() + (at - base), &value, sizeof value);
    }

    template <typename T> T get(uint32_t guest, uint64_t at)
    {
        T value;
        std::memcpy(&value, memories_[guest].bytes.data() + (at - base), sizeof value);
        return value;
    }

    using Write = bool (*)(virtio_mmio *, guest_memory *, uint32_t, uint32_t, uint64_t, virtio_mmio_event *,
                           uint32_t *);

    void write(uint32_t guest, uint32_t offset, uint64_t value, uint32_t bytes = 4,
               Write by = virtio_mmio_write)
    {
        virtio_mmio_event event{};
        uint32_t queue = 0;
        virtio_device &device = registers_[guest].device;
        std::array<bool, VSOCK_QUEUES> ready{};

        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            ready[i] = device.queues[i].ready;
        }
        if (!by(&registers_[guest], &memories_[guest], offset, bytes, value, &event, &queue)) {
            return;
        }
        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            anew_[guest] |= device.queues[i].ready && !ready[i] ? 1u << i : 0;
        }
        if (device.stopping) {
            lose(guest);
        } else if (device.retiring != 0) {
            forget(guest);
            virtio_device_retire(&device);
            tell(guest);
        } else if (event != VIRTIO_MMIO_NOTHING) {
            require(queue < VSOCK_QUEUES, "a queue that there is not");
            attend(guest);
        }
    }

    // Registers as the broker is told of them.
    void tell(uint32_t guest)
    {
        flow_exchange_set(&exchange_, guest, &registers_[guest].device, anew_[guest]);
        anew_[guest] = 0;
    }

    void access(uint32_t guest, uint32_t offset, Input &input)
    {
        const uint32_t bytes = 1u << input.u8() % 4;
        uint64_t value = 0;

        offset &= ~(bytes - 1);
        (void)virtio_mmio_read(&registers_[guest], offset, bytes, &value);
        require(bytes == 8 || value >> 8 * bytes == 0, "a register is wider than what was read");
        value = input.number();
        write(guest, offset, bytes == 8 ? value : value & ((uint64_t{1} << 8 * bytes) - 1), bytes);
    }

    struct Field {
        uint32_t at;
        uint32_t bytes;
    };
    static constexpr std::array<Field, 21> pci_fields = {
        {{0x00, 4},          {0x04, 4}, {0x08, 4}, {0x0C, 4}, {0x10, 2},
         {0x12, 2},          {0x14, 1}, {0x15, 1}, {0x16, 2}, {0x18, 2},
         {0x1A, 2},          {0x1C, 2}, {0x1E, 2}, {0x20, 4}, {0x24, 4},
         {0x28, 4},          {0x2C, 4}, {0x30, 4}, {0x34, 4}, {VIRTIO_PCI_NOTIFY, 2},
         {VIRTIO_PCI_ISR, 1}}};

    // One access by the PCI transport: to configuration space, or to a register, perhaps by the window.
    void configure(uint32_t guest, Input &input)
    {
        virtio_pci &function = functions_[guest];
        const uint8_t kind = input.u8();
        uint32_t bytes = 1u << kind / 4 % 4;
        uint32_t offset = input.u16() % BH_PAGE_BYTES & ~(bytes - 1);
        const uint64_t value = input.number();
        uint64_t got = 0;

        if (kind % 4 == 0) {
            offset = (kind & 0x80) != 0 ? offset & ~3u : VIRTIO_PCI_CAP_WINDOW + offset % 0x18 / 4 * 4;
            (void)virtio_pci_config_read(&function, &registers_[guest], offset);
            virtio_pci_config_write(&function, offset, static_cast<uint32_t>(value >> 32) | 0xFF,
                                    static_cast<uint32_t>(value));
            require(virtio_pci_config_read(&function, &registers_[guest], PCI_ID) ==
                        VIRTIO_PCI_ID(VSOCK_DEVICE_ID),
                    "the function has become another one");
            require(function.function.bar_pa[0] == bar, "the BAR has moved");
            return;
        }
        if (kind % 4 == 1) {
            bytes = virtio_pci_window(&function, VIRTIO_PCI_WINDOW, &offset);
            if (bytes == 0) {
                return;
            }
        } else if (kind % 4 == 2) { // a field, with its size
            const auto &field = pci_fields[offset % pci_fields.size()];
            offset = field.at;
            bytes = field.bytes;
        }
        require(offset < BH_PAGE_BYTES && (offset & (bytes - 1)) == 0, "a register outside of the page");
        if (virtio_pci_read(&registers_[guest], offset, bytes, &got)) {
            require(bytes == 8 || got >> 8 * bytes == 0, "a register is wider than what was read");
        }
        write(guest, offset, bytes == 8 ? value : value & ((uint64_t{1} << 8 * bytes) - 1), bytes,
              virtio_pci_write);
    }

    // As a correct driver does it, so that later steps get deeper.
    void start(uint32_t guest)
    {
        write(guest, 0x70, 0);
        write(guest, 0x70, 3);
        write(guest, 0x24, 1);
        write(guest, 0x20, 1);
        write(guest, 0x70, 11);
        for (uint32_t queue = 0; queue < VSOCK_QUEUES; queue++) {
            const uint64_t places[] = {area(queue), area(queue) + 0x200, area(queue) + 0x400};

            std::memset(memories_[guest].bytes.data() + queue * area_bytes, 0, area_bytes);
            write(guest, 0x30, queue);
            write(guest, 0x38, entries);
            for (uint32_t i = 0; i < 3; i++) {
                write(guest, 0x80 + 16 * i, static_cast<uint32_t>(places[i]));
                write(guest, 0x84 + 16 * i, places[i] >> 32);
            }
            write(guest, 0x44, 1);
        }
        write(guest, 0x70, 15);
    }

    void descriptor(uint32_t guest, uint32_t queue, uint32_t index, uint64_t at, uint32_t bytes,
                    uint16_t flags, uint16_t next)
    {
        const uint64_t place = area(queue) + index % entries * 16;

        put(guest, place, at);
        put(guest, place + 8, bytes);
        put(guest, place + 12, flags);
        put(guest, place + 14, next);
    }

    void describe(uint32_t guest, Input &input)
    {
        const uint32_t queue = input.u8() % VSOCK_QUEUES;
        const uint32_t index = input.u8();
        const uint8_t kind = input.u8();
        const uint64_t at = (kind & 1) != 0 ? input.number() : base + 0x1800 + input.u16() % 0x2800;
        const uint32_t bytes = (kind & 2) != 0 ? static_cast<uint32_t>(input.number()) : input.u16() % 0x800;
        const uint16_t flags = (kind & 4) != 0 ? input.u16() : input.u8() & 3;

        descriptor(guest, queue, index, at, bytes, flags,
                   (kind & 8) != 0 ? input.u16() : static_cast<uint16_t>(input.u8() % entries));
    }

    void offer(uint32_t guest, uint32_t queue, uint16_t head)
    {
        const uint64_t ring = area(queue) + 0x200;
        const auto index = get<uint16_t>(guest, ring + 2);

        put(guest, ring + 4 + index % entries * 2, static_cast<uint16_t>(head % (entries + 1)));
        put(guest, ring + 2, static_cast<uint16_t>(index + 1));
    }

    // A packet that may be valid: to send, or a buffer.
    void packet(uint32_t guest, Input &input)
    {
        const uint16_t head = input.u8() % entries;
        const uint64_t at = base + 0x1800 + head * uint64_t{0x400};

        if ((input.u8() & 1) != 0) {
            descriptor(guest, VSOCK_QUEUE_RX, head, at, 0x400, 2, 0);
            offer(guest, VSOCK_QUEUE_RX, head);
            return;
        }
        vsock_header header{};
        header.source_cid = 3 + guest;
        const uint8_t to = input.u8() % 4;
        header.destination_cid = to == 3 ? FLOW_FIRST_GROUP_CID : 3 + to;
        header.source_port = input.u8() % 9;
        header.destination_port = input.u8() % 9;
        header.type = VSOCK_TYPE_STREAM;
        header.operation = input.u8() % 9;
        header.bytes = header.operation == VSOCK_PAYLOAD ? input.u16() % 0x400 : 0;
        put(guest, at, header);
        descriptor(guest, VSOCK_QUEUE_TX, head, at, 0x400, 0, 0);
        offer(guest, VSOCK_QUEUE_TX, head);
    }

    void poke(uint32_t guest, Input &input)
    {
        const uint64_t at = input.u16() % (memory_bytes - sizeof(uint64_t));

        put(guest, base + at, input.number());
    }

    void attend(uint32_t guest)
    {
        tell(guest);
        flow_exchange_has_buffers(&exchange_, guest, now_, &effects_);
        flow_exchange_sent(&exchange_, guest, now_);
        flow_exchange_look(&exchange_, now_, &effects_);
        obey();
    }

    void obey()
    {
        require((effects_.failed | effects_.lines) >> guest_count == 0, "a device that there is not");
        require(effects_.counted >> paths_.size() == 0, "a flow that there is not");
        for (uint32_t i = 0; i < guest_count; i++) {
            if ((effects_.failed >> i & 1) != 0) {
                virtio_device_fail(&registers_[i].device);
            }
        }
        effects_ = {};
    }

    void lose(uint32_t guest)
    {
        virtio_device_set_status(&registers_[guest].device, 0);
        forget(guest);
        virtio_mmio_reset(&registers_[guest]);
        anew_[guest] = 7;
        tell(guest);
    }

    // Waits until its memory is no longer accessed.
    void forget(uint32_t guest)
    {
        flow_exchange_lose(&exchange_, guest, now_);
        tell(guest);
        for (int i = 0; flow_exchange_touches(&exchange_, guest); i++) {
            require(i < 2, "a transfer that does not end");
            next();
        }
    }

    void fail()
    {
        flow_exchange_fail(&exchange_, now_, &effects_);
        obey();
    }

    void next()
    {
        uint64_t until = 0;

        if (exchange_.inflight.transfers) {
            flow_exchange_done(&exchange_, now_, &effects_);
            obey();
        }
        flow_exchange_look(&exchange_, now_, &effects_);
        exchange_.copied_bytes = now_ % 2 == 0 ? UINT32_MAX : 0;
        if (flow_exchange_next(&exchange_, now_, &until, &effects_) == FLOW_NEXT_TRANSFER) {
            const flow_transfer &transfer = exchange_.inflight.transfer;

            require(transfer.bytes != 0 && transfer.bytes <= exchange_.chunk_bytes,
                    "a transfer of another size");
            require(transfer.source + transfer.destination == 1 ||
                        (transfer.source == 0 && transfer.destination == 2),
                    "a transfer that no flow allows");
            copy(transfer);
        }
        obey();
    }

    uint8_t *place(uint64_t physical, uint32_t guest, uint32_t bytes)
    {
        const uint64_t at = physical - memories_[guest].physical;

        require(at < memory_bytes && bytes <= memory_bytes - at, "a transfer outside of its guest's memory");
        return memories_[guest].bytes.data() + at;
    }

    void copy(const flow_transfer &transfer)
    {
        for (uint32_t done = 0; done < transfer.bytes;) {
            flow_piece piece{};
            const uint32_t bytes = flow_exchange_piece(&exchange_, done, &piece);

            require(bytes != 0, "a transfer without an end");
            const uint8_t *from = place(piece.from_physical, transfer.source, bytes);
            std::memmove(place(piece.to_physical, transfer.destination, bytes), from, bytes);
            done += bytes;
        }
    }

    // The packets in places are those in queues, each queue in the order of its deadlines.
    void judge()
    {
        std::array<uint32_t, guest_count> waiting{};

        for (uint32_t number = 0; number < paths_.size(); number++) {
            for (uint32_t direction = 0; direction < FLOW_DIRECTIONS; direction++) {
                const flow_path &path = paths_[number];
                const packet_line &line = path.lines[direction];
                const uint32_t sender = direction == FLOW_THERE ? path.source : path.destination;
                uint32_t count = 0;

                for (uint16_t at = line.first; line.count != 0 && at != PACKET_NONE; count++) {
                    const packet_link &link = devices_[sender].links[at];

                    require(count < VSOCK_PLACES && at < VSOCK_PLACES, "a line without an end");
                    require(link.next == PACKET_NONE ||
                                link.key.deadline <= devices_[sender].links[link.next].key.deadline,
                            "packets out of order");
                    at = link.next;
                }
                require(count == line.count, "a line with another number of packets");
                require((exchange_.waiting[direction] >> number & 1) ==
                            (line.count != 0 || path.resets[direction] ? 1 : 0),
                        "a line that waits and is not looked at");
                waiting[sender] += count;
            }
        }
        for (uint32_t i = 0; i < guest_count; i++) {
            require(devices_[i].answer_count <= VSOCK_ANSWERS, "more resets than there is room for");
            require(devices_[i].free_count + waiting[i] == VSOCK_PLACES, "a place is lost");
        }
    }

    std::array<virtio_mmio, guest_count> registers_{};
    std::array<virtio_pci, guest_count> functions_{};
    std::array<uint32_t, guest_count> anew_{7, 7, 7};
    std::array<std::array<virtqueue_progress, VSOCK_QUEUES>, guest_count> progress_{};
    std::array<guest_memory, guest_count> memories_{};
    std::array<vsock_device, guest_count> devices_{};
    std::array<flow_path, 5> paths_{};
    flow_exchange exchange_{};
    flow_effects effects_{};
    uint64_t now_ = 1;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    World world;

    while (!input.empty()) {
        world.step(input);
    }
    return 0;
}
