// SPDX-License-Identifier: Apache-2.0
//
// One transport, three queues, up to eight connections. Interrupts are masked but where the driver waits, so
// nothing here happens twice at once. Headers come from core/vsock.h, registers from virtio 1.2, 4.2.2.
#include "guests/runtime/socket.h"

#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "core/vsock.h"
#include "guests/runtime/board.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/string.h"
#include "guests/runtime/timer.h"

// A program may be built with more (guests/CMakeLists.txt).
#ifndef SOCKET_CONNECTIONS
#define SOCKET_CONNECTIONS 8
#endif
#ifndef SOCKET_ENTRIES
#define SOCKET_ENTRIES 32 // at most 64: a word has a bit for each pair of descriptors
#endif

enum {
    most_sockets = SOCKET_CONNECTIONS,
    entries = SOCKET_ENTRIES, // of each queue
    buffer_bytes = 4096,
    buffers = entries / 2, // a header and a payload each
    // Received and not yet read, of a connection. The other end hears of what was read in steps of the
    // largest packet, and until it has heard it has room for others.
    window_step_bytes = 1 << 16,
    window_bytes = 4 * window_step_bytes,
    first_port = 1024,
    spi_first_intid = 32,
    connect_timeout_s = 2, // Linux's own (VSOCK_DEFAULT_CONNECT_TIMEOUT)
};

enum registers {
    device_id = 0x008,
    driver_features = 0x020,
    driver_features_select = 0x024,
    queue_select = 0x030,
    queue_entries = 0x038,
    queue_ready = 0x044,
    queue_notify = 0x050,
    interrupt_status = 0x060,
    interrupt_acknowledge = 0x064,
    status_register = 0x070,
    queue_places = 0x080, // low and high word of three addresses, 16 bytes apart
    config_cid = 0x100,
};

enum status {
    status_acknowledge = 1,
    status_driver = 2,
    status_driver_ok = 4,
    status_features_ok = 8,
};

enum descriptor_flags { descriptor_next = 1, descriptor_write = 2 };

struct descriptor {
    uint64_t at;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct queue {
    _Alignas(4096) struct descriptor descriptors[entries];
    struct {
        uint16_t flags;
        uint16_t index;
        uint16_t ring[entries];
    } available;
    _Alignas(64) struct {
        uint16_t flags;
        uint16_t index;
        struct {
            uint32_t head;
            uint32_t written;
        } ring[entries];
    } used;
    uint16_t seen; // of the used ring
};

enum state {
    socket_free,
    socket_connecting,
    socket_asked, // by another domain; nobody has accepted it
    socket_open,
    socket_ended, // the other end has closed: what was received can still be read
    socket_reset,
};

struct socket {
    enum state state;
    uint64_t peer_cid;
    uint32_t own_port;
    uint32_t peer_port;
    uint32_t sent; // bytes, modulo 2^32
    uint32_t peer_window;
    uint32_t peer_taken;
    uint32_t received;
    uint32_t taken;
    // What the peer is told of `taken`: whole steps of it, so that it has room for packets of that size, and
    // not for bits of them.
    uint32_t told;
    uint8_t bytes[window_bytes];
};

static struct {
    uint64_t registers;
    uint32_t intid;
    uint64_t cid;
    uint32_t next_port;
    uint32_t free_pairs;       // of descriptors of the sending queue: bit i is descriptors 2i and 2i + 1
    uint64_t numbers[buffers]; // of the packet that a pair has or had: the pair, modulo `buffers`
    struct queue queues[VSOCK_QUEUES];
    struct vsock_header sent_headers[buffers];
    struct vsock_header received_headers[buffers];
    uint8_t received[buffers][buffer_bytes];
    uint32_t event;
    struct socket sockets[most_sockets];
} driver;

static volatile uint16_t *index_of_used(struct queue *queue)
{
    return &queue->used.index;
}

static void write_register(uint32_t offset, uint64_t value)
{
    mmio_write32(driver.registers + offset, (uint32_t)value);
}

static void notify(uint32_t queue)
{
    cpu_sync_memory();
    write_register(queue_notify, queue);
}

static void make_available(struct queue *queue, uint32_t head)
{
    queue->available.ring[queue->available.index % entries] = (uint16_t)head;
    cpu_sync_memory(); // the entry before the index
    *(volatile uint16_t *)&queue->available.index = (uint16_t)(queue->available.index + 1);
}

static void describe(struct queue *queue, uint32_t index, const void *at, size_t bytes, uint32_t flags)
{
    queue->descriptors[index] = (struct descriptor){
        .at = mmu_physical(at),
        .bytes = (uint32_t)bytes,
        .flags = (uint16_t)flags,
        .next = (uint16_t)(index + 1),
    };
}

// The device has nothing of them.
static void clear_queues(void)
{
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        struct queue *queue = &driver.queues[i];

        queue->available.flags = queue->available.index = 0;
        queue->used.flags = queue->used.index = 0;
        queue->seen = 0;
    }
    for (uint32_t i = 0; i < most_sockets; i++)
        driver.sockets[i].state = socket_free;
}

static void set_up_queue(uint32_t number)
{
    struct queue *queue = &driver.queues[number];
    const void *places[] = {queue->descriptors, &queue->available, &queue->used};

    write_register(queue_select, number);
    write_register(queue_entries, entries);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t at = mmu_physical(places[i]);

        write_register(queue_places + 16 * i, at);
        write_register(queue_places + 16 * i + 4, at >> 32);
    }
    write_register(queue_ready, 1);
}

static void give_event_buffer(void)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_EVENT];

    describe(queue, 0, &driver.event, sizeof(driver.event), descriptor_write);
    make_available(queue, 0);
}

static void give_buffer(uint32_t pair)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_RX];

    describe(queue, 2 * pair, &driver.received_headers[pair], VSOCK_HEADER_BYTES,
             descriptor_next | descriptor_write);
    describe(queue, 2 * pair + 1, driver.received[pair], buffer_bytes, descriptor_write);
    make_available(queue, 2 * pair);
}

static bool find_device(void)
{
    const struct board *b = board();
    struct dt_node node;
    struct dt_value value;
    struct dt_range range;
    uint32_t number;

    if (!dt_find_compatible(&b->tree, "virtio,mmio", 0, &node) || !dt_reg(&b->tree, &node, 0, &range) ||
        !dt_property(&b->tree, &node, "interrupts", &value) || !dt_cell(&value, 1, &number))
        return false;
    driver.registers = range.address;
    driver.intid = number + spi_first_intid;
    return mmio_read32(range.address + device_id) == VSOCK_DEVICE_ID;
}

bool socket_init(void)
{
    if (!find_device() || !gic_init())
        return false;
    write_register(status_register, 0);
    while (mmio_read32(driver.registers + status_register) != 0) {
    }
    write_register(status_register, status_acknowledge | status_driver);
    write_register(driver_features_select, 1);
    write_register(driver_features, 1); // version 1
    write_register(status_register, status_acknowledge | status_driver | status_features_ok);
    clear_queues();
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++)
        set_up_queue(i);
    driver.cid = mmio_read32(driver.registers + config_cid);
    driver.next_port = first_port;
    driver.free_pairs = UINT32_MAX >> (32 - buffers);
    for (uint32_t i = 0; i < buffers; i++)
        driver.numbers[i] = i;
    for (uint32_t i = 0; i < buffers; i++)
        give_buffer(i);
    give_event_buffer();
    gic_enable_shared(driver.intid);
    write_register(status_register,
                   status_acknowledge | status_driver | status_features_ok | status_driver_ok);
    notify(VSOCK_QUEUE_RX);
    return true;
}

void socket_interrupt(uint32_t intid)
{
    if (driver.intid != 0 && intid == driver.intid)
        write_register(interrupt_acknowledge, mmio_read32(driver.registers + interrupt_status));
}

// True: there was something.
static bool reap_sent(void)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_TX];
    uint16_t seen = queue->seen;

    while (queue->seen != *index_of_used(queue)) {
        cpu_sync_memory();
        driver.free_pairs |= 1u << queue->used.ring[queue->seen % entries].head / 2 % buffers;
        queue->seen++;
    }
    return queue->seen != seen;
}

static bool take_received(void);

// Until something has changed, perhaps: what comes after the look ends the waiting.
static void wait(void)
{
    if (take_received() || reap_sent())
        return;
    cpu_wait_for_interrupt();
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
}

// Makes a packet available; its payload must stay until it is sent. The pair of descriptors that it takes.
static uint32_t send_packet(const struct vsock_header *header, const void *payload)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_TX];
    uint32_t pair;

    while (driver.free_pairs == 0 && !reap_sent()) {
        cpu_wait_for_interrupt();
        cpu_unmask_interrupts();
        cpu_mask_interrupts();
    }
    pair = (uint32_t)__builtin_ctz(driver.free_pairs);
    driver.free_pairs &= ~(1u << pair);
    driver.numbers[pair] += buffers;
    driver.sent_headers[pair] = *header;
    describe(queue, 2 * pair, &driver.sent_headers[pair], VSOCK_HEADER_BYTES,
             header->bytes != 0 ? descriptor_next : 0);
    describe(queue, 2 * pair + 1, payload, header->bytes, 0);
    make_available(queue, 2 * pair);
    notify(VSOCK_QUEUE_TX);
    return pair;
}

static struct vsock_header header_of(const struct socket *socket, enum vsock_operation operation,
                                     size_t bytes)
{
    return (struct vsock_header){
        .source_cid = driver.cid,
        .destination_cid = socket->peer_cid,
        .source_port = socket->own_port,
        .destination_port = socket->peer_port,
        .bytes = (uint32_t)bytes,
        .type = VSOCK_TYPE_STREAM,
        .operation = (uint16_t)operation,
        .flags = operation == VSOCK_SHUTDOWN ? 3 : 0, // in both directions
        .buffer_bytes = window_bytes,
        .taken_bytes = socket->told,
    };
}

static void send_control(struct socket *socket, enum vsock_operation operation)
{
    struct vsock_header header;

    socket->told = socket->taken - socket->taken % window_step_bytes;
    header = header_of(socket, operation, 0);
    (void)send_packet(&header, NULL);
}

static struct socket *find_socket(const struct vsock_header *header)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &driver.sockets[i];

        if (socket->state != socket_free && socket->peer_cid == header->source_cid &&
            socket->peer_port == header->source_port && socket->own_port == header->destination_port)
            return socket;
    }
    return NULL;
}

static struct socket *new_socket(uint64_t cid, uint32_t own_port, uint32_t peer_port)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &driver.sockets[i];

        if (socket->state != socket_free)
            continue;
        socket->peer_cid = cid;
        socket->own_port = own_port;
        socket->peer_port = peer_port;
        socket->sent = socket->peer_window = socket->peer_taken = 0;
        socket->received = socket->taken = socket->told = 0;
        return socket;
    }
    return NULL;
}

static void answer_reset(const struct vsock_header *header)
{
    struct vsock_header reset = vsock_reset_of(header);

    if (header->operation != VSOCK_RESET)
        (void)send_packet(&reset, NULL);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t)) {
        uint64_t word;

        __builtin_memcpy(&word, from, sizeof(word));
        __builtin_memcpy(to, &word, sizeof(word));
        from += sizeof(word);
        to += sizeof(word);
    }
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

static void take_payload(struct socket *socket, const uint8_t *payload, uint32_t bytes)
{
    size_t at;
    size_t first;

    if (bytes > window_bytes - (socket->received - socket->taken))
        return; // more than there is room for, which the peer was told
    at = socket->received % window_bytes;
    first = smaller(bytes, window_bytes - at);
    copy(socket->bytes + at, payload, first);
    copy(socket->bytes, payload + first, bytes - first);
    socket->received += bytes;
}

// No packet is of it any more. One that nobody has accepted is nobody's.
static void end_by_reset(struct socket *socket)
{
    socket->state = socket->state == socket_asked ? socket_free : socket_reset;
    socket->peer_cid = 0;
}

static void take_packet(const struct vsock_header *header, const uint8_t *payload)
{
    struct socket *socket = find_socket(header);

    if (socket != NULL && header->operation == VSOCK_REQUEST && socket->state != socket_asked) {
        end_by_reset(socket); // a new life of the other domain begins with the same port
        socket = NULL;
    }
    if (socket == NULL && header->operation == VSOCK_REQUEST)
        socket = new_socket(header->source_cid, header->destination_port, header->source_port);
    if (socket == NULL) {
        answer_reset(header);
        return;
    }
    socket->peer_window = header->buffer_bytes;
    socket->peer_taken = header->taken_bytes;
    switch (header->operation) {
    case VSOCK_REQUEST:
        socket->state = socket_asked;
        break;
    case VSOCK_RESPONSE:
        socket->state = socket_open;
        break;
    case VSOCK_PAYLOAD:
        take_payload(socket, payload, header->bytes);
        break;
    case VSOCK_SHUTDOWN:
        socket->state = socket_ended;
        break;
    case VSOCK_CREDIT_REQUEST:
        send_control(socket, VSOCK_CREDIT_UPDATE);
        break;
    case VSOCK_RESET:
        end_by_reset(socket);
        break;
    default:
        break;
    }
}

// The device has lost all connections; it knows of nothing else to tell.
static bool take_event(void)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_EVENT];

    if (queue->seen == *index_of_used(queue))
        return false;
    queue->seen++;
    for (uint32_t i = 0; i < most_sockets; i++) {
        if (driver.sockets[i].state != socket_free)
            end_by_reset(&driver.sockets[i]);
    }
    give_event_buffer();
    notify(VSOCK_QUEUE_EVENT);
    return true;
}

// True: there was something.
static bool take_received(void)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_RX];
    bool taken = take_event();

    while (queue->seen != *index_of_used(queue)) {
        uint32_t pair;
        struct vsock_header header;

        cpu_sync_memory(); // the index before what it tells of
        pair = queue->used.ring[queue->seen % entries].head / 2 % buffers;
        header = driver.received_headers[pair];
        if (queue->used.ring[queue->seen % entries].written >= VSOCK_HEADER_BYTES &&
            header.bytes <= buffer_bytes)
            take_packet(&header, driver.received[pair]);
        queue->seen++;
        give_buffer(pair);
        taken = true;
    }
    if (taken)
        notify(VSOCK_QUEUE_RX);
    return taken;
}

bool socket_poll(void)
{
    bool sent = reap_sent();

    return take_received() || sent;
}

struct socket *socket_ask(uint64_t cid, uint32_t port)
{
    struct socket *socket = new_socket(cid, driver.next_port++, port);

    if (socket != NULL) {
        socket->state = socket_connecting;
        send_control(socket, VSOCK_REQUEST);
    }
    return socket;
}

void socket_ask_credit(struct socket *socket)
{
    send_control(socket, VSOCK_CREDIT_REQUEST);
}

bool socket_is_open(const struct socket *socket)
{
    return socket->state == socket_open;
}

bool socket_has_ended(const struct socket *socket)
{
    return socket->state == socket_ended || socket->state == socket_reset;
}

struct socket *socket_connect(uint64_t cid, uint32_t port)
{
    struct socket *socket = socket_ask(cid, port);
    uint64_t deadline = timer_now() + connect_timeout_s * timer_frequency();

    if (socket == NULL)
        return NULL;
    while (socket->state == socket_connecting && timer_now() < deadline) {
        timer_set(deadline);
        wait();
    }
    timer_stop();
    if (socket->state == socket_open)
        return socket;
    socket->state = socket_free;
    return NULL;
}

struct socket *socket_accept_asked(uint32_t port)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &driver.sockets[i];

        if (socket->state == socket_asked && socket->own_port == port) {
            socket->state = socket_open;
            send_control(socket, VSOCK_RESPONSE);
            return socket;
        }
    }
    return NULL;
}

struct socket *socket_accept(uint32_t port)
{
    struct socket *socket;

    while ((socket = socket_accept_asked(port)) == NULL)
        wait();
    return socket;
}

static size_t credit(const struct socket *socket)
{
    return socket->peer_window - (socket->sent - socket->peer_taken);
}

static uint32_t send_payload(struct socket *socket, const void *data, size_t bytes)
{
    struct vsock_header header = header_of(socket, VSOCK_PAYLOAD, bytes);
    uint32_t pair = send_packet(&header, data);

    socket->sent += (uint32_t)bytes;
    return pair;
}

bool socket_offer(struct socket *socket, const void *data, size_t bytes, uint64_t *number)
{
    uint32_t pair;

    if (socket->state != socket_open || credit(socket) < bytes || driver.free_pairs == 0)
        return false;
    pair = send_payload(socket, data, bytes);
    *number = driver.numbers[pair];
    return true;
}

bool socket_is_sent(uint64_t number)
{
    uint32_t pair = number % buffers;

    return driver.numbers[pair] != number || (driver.free_pairs >> pair & 1) != 0;
}

bool socket_send(struct socket *socket, const void *data, size_t bytes, size_t packet_bytes)
{
    const uint8_t *at = data;
    uint32_t pairs = 0;

    while (bytes > 0 && socket->state == socket_open) {
        size_t piece = smaller(bytes, packet_bytes);

        (void)socket_poll();
        if (credit(socket) < piece) {
            wait();
            continue;
        }
        pairs |= 1u << send_payload(socket, at, piece);
        at += piece;
        bytes -= piece;
    }
    // The device reads from `data` until it has given the descriptors back.
    while ((pairs & ~driver.free_pairs) != 0)
        wait();
    return bytes == 0 && socket->state != socket_reset;
}

size_t socket_take(struct socket *socket, void *data, size_t bytes)
{
    uint8_t *to = data;
    size_t at;
    size_t first;

    bytes = smaller(bytes, socket->received - socket->taken);
    at = socket->taken % window_bytes;
    first = smaller(bytes, window_bytes - at);
    copy(to, socket->bytes + at, first);
    copy(to + first, socket->bytes, bytes - first);
    socket->taken += (uint32_t)bytes;
    if (socket->state == socket_open && socket->taken - socket->told >= window_step_bytes)
        send_control(socket, VSOCK_CREDIT_UPDATE);
    return bytes;
}

size_t socket_receive(struct socket *socket, void *data, size_t bytes)
{
    (void)take_received();
    while (socket->received == socket->taken) {
        if (socket->state != socket_open)
            return 0;
        wait();
    }
    return socket_take(socket, data, bytes);
}

bool socket_was_reset(const struct socket *socket)
{
    return socket->state == socket_reset;
}

void socket_forget(struct socket *socket)
{
    if (socket->state == socket_ended)
        send_control(socket, VSOCK_RESET); // the other end has asked for it
    socket->state = socket_free;
}

void socket_close(struct socket *socket)
{
    if (socket->state == socket_open) {
        send_control(socket, VSOCK_SHUTDOWN);
        while (socket->state != socket_reset)
            wait();
    }
    socket_forget(socket);
}

void socket_prepare_flood(void)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_TX];

    driver.sent_headers[0] = (struct vsock_header){
        .source_cid = driver.cid + 1000,
        .destination_cid = driver.cid,
        .type = VSOCK_TYPE_STREAM,
        .operation = VSOCK_PAYLOAD,
    };
    for (uint32_t i = 0; i < entries; i++) {
        describe(queue, i, &driver.sent_headers[0], VSOCK_HEADER_BYTES, 0);
        make_available(queue, i);
    }
}

void socket_flood(bool tell)
{
    struct queue *queue = &driver.queues[VSOCK_QUEUE_TX];

    while (queue->seen != *index_of_used(queue)) {
        cpu_sync_memory();
        make_available(queue, queue->used.ring[queue->seen % entries].head);
        queue->seen++;
    }
    if (tell)
        notify(VSOCK_QUEUE_TX);
}
