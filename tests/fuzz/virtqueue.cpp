// SPDX-License-Identifier: Apache-2.0
// Target `virtqueue`: three guests write anything into the registers of their socket devices, by the MMIO and
// the PCI transport and by the window of configuration space, and into their queues and packets, also while
// the broker reads them. The broker is the program that ships, from the shared pages on (news.c) to the
// guests' memory (memory.c); EL2 and the broker's loop are here. What must hold is in docs/design/fuzzing.md;
// guest_frames.h judges each access.
#include "broker_program.h"
#include "guest_frames.h"
#include "input.h"
#include "require.h"

#include "core/flow_exchange.h"
#include "core/virtio_pci.h"

#include <array>
#include <cstring>

namespace frames = bulkhead_fuzz::frames;
using bulkhead_fuzz::Input;
using bulkhead_fuzz::require;

namespace {

using frames::base;
using frames::guest_count; // the third one has no flow
constexpr uint64_t memory_bytes = 0x4000;
constexpr uint64_t area_bytes = 0x800; // of a queue
constexpr uint16_t entries = 8;
constexpr uint32_t probed_bytes = 0x1800;
constexpr uint64_t bar = 0x0B00'0000;

std::array<flow_path, BH_MAX_FLOWS> paths;

constexpr uint32_t tx_bell = 1u << VSOCK_QUEUE_TX;
constexpr std::array<uint8_t, area_bytes> zeros{};
broker_program program;

class World;
World *here;

class World {
public:
    World()
    {
        here = this;
        frames::before_read = [] { here->write_behind(); };
        frames::before_access = [](uint32_t guest, bool writes) { here->judge_access(guest, writes); };
        frames::reset();
        for (uint32_t i = 0; i < guest_count; i++) {
            virtio_mmio_init(&registers_[i], VSOCK_DEVICE_ID, VSOCK_DEVICE_FEATURES, VSOCK_QUEUES);
            virtio_pci_init(&functions_[i], VSOCK_DEVICE_ID, bar);
        }
        for (uint32_t i = 0; i < flow_count; i++) {
            changes_[i] = 1;
        }
        load();
    }

    void step(Input &input)
    {
        const uint8_t what = input.u8();
        const uint32_t guest = input.u8() % guest_count;

        if (what >= 0xF0) { // as other kinds of steps before there were these, which kept inputs have
            step_more(what, guest, input);
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
            restart_broker([](broker_reply &) {});
            break;
        default:
            next();
            break;
        }
        judge();
    }

private:
    void step_more(uint8_t what, uint32_t guest, Input &input)
    {
        switch (what) {
        case 0xF0:
            late_ = {static_cast<uint32_t>(input.u8() % 16 + 1), guest, input.u16() % (memory_bytes - 8),
                     input.number()};
            break;
        case 0xF1:
            notify_later(guest, input.u8());
            break;
        case 0xF2:
            slow_ = !slow_;
            break;
        case 0xF3:
            tear(guest, input);
            break;
        case 0xF4: { // a broker that was taken over leaves anything for the next one
            const uint32_t queue = input.u8() % VSOCK_QUEUES;
            const uint64_t indexes = input.number();
            const uint64_t held = input.number();

            restart_broker([=](broker_reply &reply) {
                virtqueue_progress &progress = reply.progress[guest].queues[queue];

                progress.next_taken = static_cast<uint16_t>(indexes);
                progress.next_used = static_cast<uint16_t>(indexes >> 16);
                progress.held[0] = held;
            });
            break;
        }
        case 0xF5:
            probe(guest, input);
            break;
        default:
            configure(guest, input);
            break;
        }
    }

    // An access that the exchange does not check before: the broker's memory.c refuses what is not the
    // guest's.
    void probe(uint32_t guest, Input &input)
    {
        static constexpr std::array<uint64_t, 6> edges = {
            base,        base + frames::near_bytes,       base + memory_bytes,
            frames::far, frames::far + frames::far_bytes, frames::far + 0x1'0000};
        const uint8_t kind = input.u8();
        const uint64_t at =
            (kind & 0x80) != 0 ? input.number() : edges[kind % edges.size()] - input.u8() % 64;
        const uint32_t bytes = (kind & 0x40) != 0 ? input.u16() % probed_bytes : input.u8() % 64u;
        std::array<uint8_t, probed_bytes> buffer;

        probes_ = true;
        (void)guest_memory_read(device(guest).memory, at, buffer.data(), bytes);
        buffer.fill(kind);
        (void)guest_memory_write(device(guest).memory, at, buffer.data(), bytes);
        probes_ = false;
    }

    // EL2 opens the door of a broker that has just been loaded.
    void load(const broker_reply &left = {})
    {
        program = broker_program_load();
        std::copy(std::begin(left.progress), std::end(left.progress), std::begin(program.reply->progress));
        std::fill_n(paths.begin(), flow_count, flow_path{});
        fill_map();
        for (uint32_t i = 0; i < guest_count; i++) {
            tell(i);
        }
        for (uint32_t i = 0; i < flow_count; i++) {
            tell_flow(i);
        }
        news_init(paths.data());
        for (uint32_t i = 0; i < guest_count; i++) {
            frames::assign(i, device(i).memory);
        }
        serve();
    }

    void fill_map()
    {
        broker_map &map = *program.map;

        map.counter_hz = 1'000'000'000;
        map.chunk_bytes = 512;
        map.patience_ticks = 10'000;
        for (uint32_t i = 0; i < guest_count; i++) {
            map.domains[i].cid = 3 + i;
        }
        frames::describe(map);
    }

    // Another broker continues from what EL2 has kept of this one. The stored state of a queue must not be
    // trusted more than the guest.
    template <typename Leave> void restart_broker(Leave leave)
    {
        broker_reply left = *program.reply;

        leave(left);
        load(left);
        for (uint32_t i = 0; i < guest_count; i++) {
            attend(i);
        }
    }

    // From one of the first two guests to the other, and the way back of the first path; then a multicast
    // flow from the first guest to both others.
    static flow_path_parameters parameters(uint32_t path)
    {
        const bool is_leg = path > way_back;
        const uint32_t source = path == 0 || is_leg ? 0 : 1;

        return {.source = source,
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
    }

    void give_turns(uint32_t guest, uint32_t packets, uint64_t period)
    {
        const flow_share share = {.packets = packets, .period_ns = period};

        flow_turns_start(&device(guest).turns, &share, now_);
    }

    // EL2 ends a flow, or begins another one in a slot that the broker has left.
    void change(uint32_t path)
    {
        if (is_open(path) || (is_unused(path) && (path != 0 || is_unused(way_back)))) {
            change_one(path);
            if (path == 0) {
                change_one(way_back);
            }
            serve_unless_slow();
        }
    }

    void change_one(uint32_t path)
    {
        changes_[path]++;
        tell_flow(path);
    }

    bool is_open(uint32_t path) const { return changes_[path] % 2 == 1; }

    bool is_unused(uint32_t path) const
    {
        return !is_open(path) && program.reply->flow_changes[path] == changes_[path];
    }

    void tell_flow(uint32_t path)
    {
        door_flow &flow = program.door->flows[path];

        flow.parameters = parameters(path);
        flow.changes = changes_[path];
        program.door->flow_changes++;
    }

    static constexpr uint32_t way_back = 2; // paths
    static constexpr uint32_t second_leg = 4;
    static constexpr uint32_t flow_count = 5;

    static uint64_t area(uint32_t queue) { return base + queue * area_bytes; }

    template <typename T> static void put(uint32_t guest, uint64_t at, T value)
    {
        frames::store(guest, at, &value, sizeof value);
    }

    template <typename T> static T get(uint32_t guest, uint64_t at)
    {
        T value;
        frames::load(guest, at, &value, sizeof value);
        return value;
    }

    static vsock_device &device(uint32_t guest) { return *program.exchange->devices[guest]; }
    static flow_exchange &exchange() { return *program.exchange; }
    static flow_effects &effects() { return *program.effects; }

    using Write = bool (*)(virtio_mmio *, guest_memory *, uint32_t, uint32_t, uint64_t, virtio_mmio_event *,
                           uint32_t *);

    void write(uint32_t guest, uint32_t offset, uint64_t value, uint32_t bytes = 4,
               Write by = virtio_mmio_write)
    {
        virtio_mmio_event event{};
        uint32_t queue = 0;
        virtio_device &virtio = registers_[guest].device;
        std::array<bool, VSOCK_QUEUES> ready{};

        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            ready[i] = virtio.queues[i].ready;
        }
        if (!by(&registers_[guest], device(guest).memory, offset, bytes, value, &event, &queue)) {
            return;
        }
        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            begun_[guest][i] += virtio.queues[i].ready && !ready[i] ? 1 : 0;
        }
        if (virtio.stopping) {
            lose(guest);
        } else if (virtio.retiring != 0) {
            forget(guest);
            virtio_device_retire(&virtio);
            tell(guest);
        } else if (event == VIRTIO_MMIO_CHANGED) {
            tell(guest);
        } else if (event == VIRTIO_MMIO_NOTIFIED) {
            require(queue < VSOCK_QUEUES, "a queue that there is not");
            ring(guest, 1u << queue, now_);
        }
        serve_unless_slow();
    }

    // EL2 sets bells of a device, at a time.
    void ring(uint32_t guest, uint32_t bells, uint64_t at)
    {
        door_device &to = program.door->devices[guest];

        if ((bells & ~to.bells & tx_bell) != 0) {
            to.notified_at = at;
        }
        to.bells |= bells;
    }

    // EL2 writes the registers of a device into the door.
    void tell(uint32_t guest)
    {
        const virtio_device &virtio = registers_[guest].device;
        door_device &to = program.door->devices[guest];

        to.version++;
        to.life = lives_[guest];
        to.status = virtio_device_runs(&virtio) && !leaving_[guest] ? virtio.status : 0;
        to.accepted = virtio.accepted;
        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            const virtqueue &queue = virtio.queues[i];

            to.queues[i] = {.descriptors = queue.descriptors,
                            .available = queue.available,
                            .used = queue.used,
                            .entries = queue.ready ? queue.entries : 0u,
                            .begun = begun_[guest][i]};
        }
        to.version++;
        ring(guest, DOOR_BELL_CHANGED, now_);
    }

    // A notification that is newer than the broker's step is left to a later one.
    void notify_later(uint32_t guest, uint32_t ticks)
    {
        const bool rang = (program.door->devices[guest].bells & tx_bell) != 0;

        ring(guest, tx_bell, now_ + ticks);
        serve();
        if (!rang && ticks != 0) {
            require((program.door->devices[guest].bells & tx_bell) != 0, "news from the future");
        }
    }

    // The broker looks while EL2 writes registers: it takes none of them.
    void tear(uint32_t guest, Input &input)
    {
        serve();
        door_device &to = program.door->devices[guest];
        const virtio_device before = device(guest).virtio;

        to.version++;
        to.life = lives_[guest] + 1;
        to.status = 15;
        for (door_queue &queue : to.queues) {
            queue = {.descriptors = input.number(), .available = 1, .used = 2, .entries = 3, .begun = 4};
        }
        ring(guest, DOOR_BELL_CHANGED, now_);
        serve();
        require(program.reply->lives[guest] == lives_[guest], "a life that EL2 has not finished writing");
        for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
            const virtqueue &queue = device(guest).virtio.queues[i];

            require(queue.descriptors == before.queues[i].descriptors &&
                        queue.entries == before.queues[i].entries && queue.ready == before.queues[i].ready,
                    "registers that EL2 has not finished writing");
        }
        to.version++;
        tell(guest);
        serve();
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

            frames::store(guest, area(queue), zeros.data(), area_bytes);
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
        const uint64_t start = (kind & 0x10) != 0 ? frames::far : base + 0x1800;
        const uint64_t at = (kind & 1) != 0 ? input.number() : start + input.u16() % 0x2800;
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
        const uint8_t kind = input.u8();
        // Elsewhere: the page far from the rest, or across the end of the four pages.
        const uint64_t at = (kind & 0x10) != 0   ? frames::far + head % 4 * uint64_t{0x400}
                            : (kind & 0x20) != 0 ? base + memory_bytes - 0x10 - head
                                                 : base + 0x1800 + head * uint64_t{0x400};

        if ((kind & 1) != 0) {
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
        ring(guest, tx_bell | 1u << VSOCK_QUEUE_RX, now_);
        serve();
    }

    // The broker takes what is new and says what it has left.
    void serve()
    {
        news_take(now_);
        flow_exchange_look(&exchange(), now_, &effects());
        news_leave();
        obey();
    }

    void serve_unless_slow()
    {
        if (!slow_) {
            serve();
        }
    }

    void obey()
    {
        require((effects().failed | effects().lines) >> guest_count == 0, "a device that there is not");
        require(effects().counted >> flow_count == 0, "a flow that there is not");
        for (uint32_t i = 0; i < guest_count; i++) {
            if ((effects().failed >> i & 1) != 0) {
                virtio_device_fail(&registers_[i].device);
            }
        }
        effects() = {};
    }

    void lose(uint32_t guest)
    {
        virtio_device_set_status(&registers_[guest].device, 0);
        forget(guest);
        virtio_mmio_reset(&registers_[guest]);
        tell(guest);
        serve_unless_slow();
    }

    // Waits until its memory is no longer accessed: from then on the guest uses it for something else.
    void forget(uint32_t guest)
    {
        leaving_[guest] = true;
        lives_[guest]++;
        tell(guest);
        serve();
        for (int i = 0; program.reply->lives[guest] != lives_[guest]; i++) {
            require(i < 2, "a transfer that does not end");
            next();
            serve();
        }
        require(!flow_exchange_touches(&exchange(), guest), "a transfer of a guest that the broker has left");
        require(device(guest).free_count == VSOCK_PLACES, "a packet of an earlier life");
        leaving_[guest] = false;
    }

    // As a guest on another core: between two reads of the broker.
    void write_behind()
    {
        if (late_.reads != 0 && --late_.reads == 0) {
            put(late_.guest, base + late_.at, late_.value);
        }
    }

    // While the door says that there is no driver, and the broker knows this life, it has left the memory.
    void judge_access(uint32_t guest, bool writes) const
    {
        const door_device &told = program.door->devices[guest];

        require(probes_ || told.version % 2 != 0 || told.status != 0 ||
                    (told.bells & DOOR_BELL_CHANGED) != 0 || program.reply->lives[guest] != lives_[guest],
                writes ? "a write to memory that the broker has left" : "a read of memory that it has left");
    }

    void fail()
    {
        flow_exchange_fail(&exchange(), now_, &effects());
        obey();
    }

    void next()
    {
        uint64_t until = 0;

        news_take(now_);
        if (exchange().inflight.transfers) {
            flow_exchange_done(&exchange(), now_, &effects());
            news_leave();
            obey();
        }
        flow_exchange_look(&exchange(), now_, &effects());
        exchange().copied_bytes = now_ % 2 == 0 ? UINT32_MAX : 0;
        if (flow_exchange_next(&exchange(), now_, &until, &effects()) == FLOW_NEXT_TRANSFER) {
            const flow_transfer &transfer = exchange().inflight.transfer;

            require(transfer.bytes != 0 && transfer.bytes <= exchange().chunk_bytes,
                    "a transfer of another size");
            require(transfer.source + transfer.destination == 1 ||
                        (transfer.source == 0 && transfer.destination == 2),
                    "a transfer that no flow allows");
            require(is_open(exchange().inflight.path), "a transfer along a flow that has ended");
            copy(transfer);
        }
        news_leave();
        obey();
    }

    void copy(const flow_transfer &transfer)
    {
        for (uint32_t done = 0; done < transfer.bytes;) {
            flow_piece piece{};
            const uint32_t bytes = flow_exchange_piece(&exchange(), done, &piece);

            require(bytes != 0, "a transfer without an end");
            frames::move(transfer.source, piece.from_physical, transfer.destination, piece.to_physical,
                         bytes);
            done += bytes;
        }
    }

    // The packets in places are those in queues, each queue in the order of its deadlines.
    void judge()
    {
        std::array<uint32_t, guest_count> waiting{};

        for (uint32_t number = 0; number < flow_count; number++) {
            for (uint32_t direction = 0; direction < FLOW_DIRECTIONS; direction++) {
                const flow_path &path = paths[number];
                const packet_line &line = path.lines[direction];
                const uint32_t sender = direction == FLOW_THERE ? path.source : path.destination;
                uint32_t count = 0;

                for (uint16_t at = line.first; line.count != 0 && at != PACKET_NONE; count++) {
                    const packet_link &link = device(sender).links[at];

                    require(count < VSOCK_PLACES && at < VSOCK_PLACES, "a line without an end");
                    require(link.next == PACKET_NONE ||
                                link.key.deadline <= device(sender).links[link.next].key.deadline,
                            "packets out of order");
                    at = link.next;
                }
                require(count == line.count, "a line with another number of packets");
                require((exchange().waiting[direction] >> number & 1) ==
                            (line.count != 0 || path.resets[direction] ? 1 : 0),
                        "a line that waits and is not looked at");
                waiting[sender] += count;
            }
        }
        for (uint32_t i = 0; i < guest_count; i++) {
            require(device(i).answer_count <= VSOCK_ANSWERS, "more resets than there is room for");
            require(device(i).free_count + waiting[i] == VSOCK_PLACES, "a place is lost");
            require(device(i).sent_since <= now_, "a packet from the future");
        }
    }

    std::array<virtio_mmio, guest_count> registers_{};
    std::array<virtio_pci, guest_count> functions_{};
    std::array<uint32_t, guest_count> lives_{1, 1, 1};
    std::array<std::array<uint32_t, VSOCK_QUEUES>, guest_count> begun_{};
    std::array<bool, guest_count> leaving_{};
    std::array<uint32_t, flow_count> changes_{}; // beginnings and ends of each flow
    bool probes_ = false;                        // an access is the target's own
    bool slow_ = false;                          // the broker does not look at news at once
    struct {
        uint32_t reads; // of the broker until it is written; 0: none is to come
        uint32_t guest;
        uint64_t at;
        uint64_t value;
    } late_{};
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
    frames::require_as_written();
    return 0;
}
