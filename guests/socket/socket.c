// SPDX-License-Identifier: Apache-2.0
//
// One transport, three queues, a few connections. Headers come from core/vsock.h, registers from virtio 1.2,
// 4.2.2.
#include "guests/socket/socket.h"

#include "core/vsock.h"
#include "guests/socket/socket_driver.h"

struct socket_driver socket_driver;

// Not read by the device.
static void clear_queues(void)
{
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++) {
        struct queue *queue = &socket_driver.shared->queues[i];

        queue->available.flags = queue->available.index = 0;
        queue->used.flags = queue->used.index = 0;
        queue->seen = 0;
    }
    for (uint32_t i = 0; i < most_sockets; i++)
        socket_driver.sockets[i].state = socket_free;
    socket_driver.waiting = 0;
}

static void set_up_queue(uint32_t number)
{
    struct queue *queue = &socket_driver.shared->queues[number];
    const void *places[] = {queue->descriptors, &queue->available, &queue->used};

    write_register(queue_select, number);
    write_register(queue_entries, entries);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t at = socket_port_physical(places[i]);

        write_register(queue_places + 16 * i, at);
        write_register(queue_places + 16 * i + 4, at >> 32);
    }
    write_register(queue_ready, 1);
}

static void give_event_buffer(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_EVENT];

    describe(queue, 0, &socket_driver.shared->event, sizeof(socket_driver.shared->event), descriptor_write);
    make_available(queue, 0);
}

static void give_buffer(uint32_t pair)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_RX];

    describe(queue, 2 * pair, &socket_driver.shared->received_headers[pair], VSOCK_HEADER_BYTES,
             descriptor_next | descriptor_write);
    describe(queue, 2 * pair + 1, socket_driver.shared->received[pair], buffer_bytes, descriptor_write);
    make_available(queue, 2 * pair);
}

void socket_use_pool(void *pool, size_t bytes)
{
    socket_driver.pool = pool;
    socket_driver.pool_bytes = bytes;
}

// Returns false if the device reaches only a pool, and the program has given none that is large enough.
static bool choose_memory(uint32_t features)
{
    bool has_pool = socket_driver.pool_bytes >= sizeof(struct shared) + bounce_slots * bounce_alignment;

    socket_driver.shared = &socket_driver.own;
    bounce_init(&socket_driver.bounce, NULL, 0);
    if ((features & feature_access_platform) == 0)
        return true;
    if (has_pool) {
        socket_driver.shared = socket_driver.pool;
        bounce_init(&socket_driver.bounce, (uint8_t *)socket_driver.pool + sizeof(struct shared),
                    socket_driver.pool_bytes - sizeof(struct shared));
    }
    return has_pool;
}

bool socket_start(uint64_t registers)
{
    uint32_t features;

    if (socket_port_read(registers + device_id) != VSOCK_DEVICE_ID)
        return false;
    socket_driver.registers = registers;
    write_register(status_register, 0);
    while (socket_port_read(socket_driver.registers + status_register) != 0) {
    }
    write_register(status_register, status_acknowledge | status_driver);
    write_register(device_features_select, 1);
    features = socket_port_read(registers + device_features) & feature_access_platform;
    if (!choose_memory(features))
        return false;
    write_register(driver_features_select, 1);
    write_register(driver_features, feature_version_1 | features);
    write_register(status_register, status_acknowledge | status_driver | status_features_ok);
    clear_queues();
    for (uint32_t i = 0; i < VSOCK_QUEUES; i++)
        set_up_queue(i);
    socket_driver.cid = socket_port_read(socket_driver.registers + config_cid);
    socket_driver.next_port = first_port;
    socket_driver.free_pairs = UINT32_MAX >> (32 - buffers);
    for (uint32_t i = 0; i < buffers; i++) {
        socket_driver.numbers[i] = i;
        socket_driver.slots[i] = 0;
    }
    for (uint32_t i = 0; i < buffers; i++)
        give_buffer(i);
    give_event_buffer();
    write_register(status_register,
                   status_acknowledge | status_driver | status_features_ok | status_driver_ok);
    notify(VSOCK_QUEUE_RX);
    return true;
}

void socket_acknowledge(void)
{
    write_register(interrupt_acknowledge, socket_port_read(socket_driver.registers + interrupt_status));
}

// Returns true if there was something.
static bool reap_sent(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_TX];
    uint16_t seen = queue->seen;

    while (queue->seen != *index_of_used(queue)) {
        uint32_t pair;

        socket_port_barrier();
        pair = queue->used.ring[queue->seen % entries].head / 2 % buffers;
        socket_driver.free_pairs |= 1u << pair;
        socket_driver.bounce.free |= socket_driver.slots[pair];
        socket_driver.slots[pair] = 0;
        queue->seen++;
    }
    return queue->seen != seen;
}

// Waits until something may have changed, or until the deadline: a change after the check ends the wait.
static void wait_until(uint64_t deadline)
{
    if (!socket_poll())
        socket_port_wait(deadline);
}

static void wait(void)
{
    wait_until(SOCKET_PORT_NEVER);
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

// Where the device reads a packet's payload: in the pool, if it reaches nothing else. The caller has checked
// that there is room.
static const void *bounced(uint32_t pair, const void *payload, size_t bytes)
{
    struct bounce *bounce = &socket_driver.bounce;
    uint8_t *at;

    if (bounce->start == NULL || bytes == 0)
        return payload;
    socket_driver.slots[pair] = bounce_find(bounce, bytes);
    bounce->free &= ~socket_driver.slots[pair];
    at = bounce_at(bounce, socket_driver.slots[pair]);
    copy(at, payload, bytes);
    return at;
}

// Makes a packet available; its payload must stay until it is sent. Returns the pair of descriptors that it
// uses. The caller has checked that there is one.
static uint32_t send_packet(const struct vsock_header *header, const void *payload)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_TX];
    uint32_t pair = (uint32_t)__builtin_ctz(socket_driver.free_pairs);

    socket_driver.free_pairs &= ~(1u << pair);
    socket_driver.numbers[pair] += buffers;
    socket_driver.shared->sent_headers[pair] = *header;
    describe(queue, 2 * pair, &socket_driver.shared->sent_headers[pair], VSOCK_HEADER_BYTES,
             header->bytes != 0 ? descriptor_next : 0);
    describe(queue, 2 * pair + 1, bounced(pair, payload, header->bytes), header->bytes, 0);
    make_available(queue, 2 * pair);
    notify(VSOCK_QUEUE_TX);
    return pair;
}

// Whether a packet without payload may be sent to that domain now.
static bool may_send_control(uint64_t cid)
{
    uint32_t under_way = 0;

    for (uint32_t pair = 0; pair < buffers; pair++)
        if ((socket_driver.free_pairs >> pair & 1) == 0 &&
            socket_driver.shared->sent_headers[pair].bytes == 0 &&
            socket_driver.shared->sent_headers[pair].destination_cid == cid)
            under_way++;
    return socket_driver.free_pairs != 0 && under_way < most_controls;
}

static struct vsock_header header_of(const struct socket *socket, enum vsock_operation operation,
                                     size_t bytes)
{
    return (struct vsock_header){
        .source_cid = socket_driver.cid,
        .destination_cid = socket->peer_cid,
        .source_port = socket->own_port,
        .destination_port = socket->peer_port,
        .bytes = (uint32_t)bytes,
        .type = VSOCK_TYPE_STREAM,
        .operation = (uint16_t)operation,
        .flags = operation == VSOCK_SHUTDOWN ? 3 : 0, // closed in both directions
        .buffer_bytes = window_bytes,
        .taken_bytes = socket->told,
    };
}

static void send_operations(struct socket *socket)
{
    uint32_t bit = 1u << (socket - socket_driver.sockets);

    while (socket->pending != 0 && may_send_control(socket->peer_cid)) {
        uint32_t operation = (uint32_t)__builtin_ctz(socket->pending);
        struct vsock_header header;

        socket->told = socket->taken - socket->taken % window_step_bytes;
        header = header_of(socket, (enum vsock_operation)operation, 0);
        (void)send_packet(&header, NULL);
        socket->pending &= socket->pending - 1;
    }
    if (socket->pending != 0) {
        socket_driver.waiting |= bit;
        return;
    }
    socket_driver.waiting &= ~bit;
    if (socket->state == socket_left)
        socket->state = socket_free;
}

// Called when descriptors may have become free.
static void send_pending(void)
{
    for (uint32_t left = socket_driver.waiting; left != 0; left &= left - 1)
        send_operations(&socket_driver.sockets[__builtin_ctz(left)]);
}

// Sends a packet without payload; if that is not possible now, as soon as it is. Never waits.
static void send_control(struct socket *socket, enum vsock_operation operation)
{
    socket->pending |= 1u << operation;
    send_operations(socket);
}

static struct socket *find_socket(const struct vsock_header *header)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &socket_driver.sockets[i];

        if (socket->state != socket_free && socket->peer_cid == header->source_cid &&
            socket->peer_port == header->source_port && socket->own_port == header->destination_port)
            return socket;
    }
    return NULL;
}

static struct socket *new_socket(uint64_t cid, uint32_t own_port, uint32_t peer_port)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &socket_driver.sockets[i];

        if (socket->state != socket_free)
            continue;
        socket->peer_cid = cid;
        socket->own_port = own_port;
        socket->peer_port = peer_port;
        socket->sent = socket->peer_window = socket->peer_taken = 0;
        socket->received = socket->taken = socket->told = 0;
        socket->pending = 0;
        return socket;
    }
    return NULL;
}

// Not sent to a domain that does not take its packets; it then finds out by its own timeout.
static void answer_reset(const struct vsock_header *header)
{
    struct vsock_header reset = vsock_reset_of(header);

    if (header->operation != VSOCK_RESET && may_send_control(reset.destination_cid))
        (void)send_packet(&reset, NULL);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void take_payload(struct socket *socket, const uint8_t *payload, uint32_t bytes)
{
    size_t at;
    size_t first;

    if (bytes > window_bytes - (socket->received - socket->taken))
        return; // more than the credit that the peer was given
    at = socket->received % window_bytes;
    first = smaller(bytes, window_bytes - at);
    copy(socket->bytes + at, payload, first);
    copy(socket->bytes, payload + first, bytes - first);
    socket->received += bytes;
}

// No further packet belongs to this connection. One that nobody has, or has yet, is removed.
static void end_by_reset(struct socket *socket)
{
    bool is_held = socket->state != socket_asked && socket->state != socket_left;

    socket->state = is_held ? socket_reset : socket_free;
    socket->peer_cid = 0;
    socket->pending = 0;
}

static void take_packet(const struct vsock_header *header, const uint8_t *payload)
{
    struct socket *socket = find_socket(header);

    if (socket != NULL && header->operation == VSOCK_REQUEST && socket->state != socket_asked) {
        end_by_reset(socket); // a new life of the other domain uses the same port
        socket = NULL;
    }
    if (socket == NULL && header->operation == VSOCK_REQUEST)
        socket = new_socket(header->source_cid, header->destination_port, header->source_port);
    if (socket == NULL) {
        answer_reset(header);
        return;
    }
    if (socket->state == socket_left && header->operation != VSOCK_RESET)
        return; // the other end will be told
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

// The device has lost all connections; it has no other events.
static bool take_event(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_EVENT];

    if (queue->seen == *index_of_used(queue))
        return false;
    queue->seen++;
    for (uint32_t i = 0; i < most_sockets; i++) {
        if (socket_driver.sockets[i].state != socket_free)
            end_by_reset(&socket_driver.sockets[i]);
    }
    give_event_buffer();
    notify(VSOCK_QUEUE_EVENT);
    return true;
}

// Returns true if there was something.
static bool take_received(void)
{
    struct queue *queue = &socket_driver.shared->queues[VSOCK_QUEUE_RX];
    bool taken = take_event();

    while (queue->seen != *index_of_used(queue)) {
        uint32_t pair;
        struct vsock_header header;

        socket_port_barrier(); // the index is read before the entry that it announces
        pair = queue->used.ring[queue->seen % entries].head / 2 % buffers;
        header = socket_driver.shared->received_headers[pair];
        if (queue->used.ring[queue->seen % entries].written >= VSOCK_HEADER_BYTES &&
            header.bytes <= buffer_bytes)
            take_packet(&header, socket_driver.shared->received[pair]);
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
    bool taken = take_received();

    if (sent)
        send_pending();
    return taken || sent;
}

struct socket *socket_ask(uint64_t cid, uint32_t port)
{
    struct socket *socket = new_socket(cid, socket_driver.next_port++, port);

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
    uint64_t deadline = socket_port_after(connect_timeout_s);

    if (socket == NULL)
        return NULL;
    while (socket->state == socket_connecting && !socket_port_is_past(deadline))
        wait_until(deadline);
    if (socket->state == socket_open)
        return socket;
    socket->pending = 0;
    socket->state = socket_free;
    return NULL;
}

struct socket *socket_accept_asked(uint32_t port)
{
    for (uint32_t i = 0; i < most_sockets; i++) {
        struct socket *socket = &socket_driver.sockets[i];

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

// A packet can be sent now: the connection is open, and the other end has been told so.
static bool may_send(const struct socket *socket, size_t bytes)
{
    const struct bounce *bounce = &socket_driver.bounce;

    return socket_driver.free_pairs != 0 && credit(socket) >= bytes &&
           (socket->pending & 1u << VSOCK_RESPONSE) == 0 &&
           (bounce->start == NULL || bounce_find(bounce, bytes) != 0);
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

    if (socket->state != socket_open || !may_send(socket, bytes))
        return false;
    pair = send_payload(socket, data, bytes);
    *number = socket_driver.numbers[pair];
    return true;
}

bool socket_is_sent(uint64_t number)
{
    uint32_t pair = number % buffers;

    return socket_driver.numbers[pair] != number || (socket_driver.free_pairs >> pair & 1) != 0;
}

bool socket_send(struct socket *socket, const void *data, size_t bytes, size_t packet_bytes)
{
    const uint8_t *at = data;
    uint32_t pairs = 0;

    while (bytes > 0 && socket->state == socket_open) {
        size_t piece = smaller(bytes, packet_bytes);

        (void)socket_poll();
        if (!may_send(socket, piece)) {
            wait();
            continue;
        }
        pairs |= 1u << send_payload(socket, at, piece);
        at += piece;
        bytes -= piece;
    }
    // The device reads from `data` until it has returned the descriptors.
    while ((pairs & ~socket_driver.free_pairs) != 0)
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
    (void)socket_poll();
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
    socket->pending = 0;
    if (socket->state != socket_ended) {
        socket->state = socket_free;
        return;
    }
    socket->state = socket_left;
    send_control(socket, VSOCK_RESET); // the other end has requested it
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
