// SPDX-License-Identifier: Apache-2.0
//
// Stream and packet sockets of a Linux guest, by the kernel's stock driver (AF_VSOCK). The counterpart of
// guests/programs/socket_source.c and socket_sink.c: the same pattern, the same report lines, one for each
// connection. Lines go out in one write each, because several of these programs share a console, and begin a
// new line, because a prompt may be on it.
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/vm_sockets.h> // needs sys/socket.h before it

#include "core/crc32.h"

enum {
    exit_usage = 2,
    most_packet_bytes = 1 << 16,
    connect_attempts = 600, // waits until the other end listens
    connect_pause_us = 100000,
    connect_most_s = 2, // as Linux's default
    // A pause of the host that runs the emulator passes in the guest's time too; it is no lost connection.
    storm_connect_most_s = 60,
};

static uint8_t packet[most_packet_bytes];
static uint8_t message[most_packet_bytes]; // bytes received

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// As guests/programs/socket_source.c fills it.
static void fill(uint64_t at, size_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        packet[i] = (uint8_t)((at + i) * 7 + ((at + i) >> 8) + ((at + i) >> 16));
}

static void report(const char *what, uint64_t bytes, uint32_t crc, uint64_t start, int error)
{
    char line[160];
    int length =
        snprintf(line, sizeof(line), "\nreport {\"%s\": %llu, \"crc\": %u, \"ns\": %llu, \"reset\": %d}\n",
                 what, (unsigned long long)bytes, crc, (unsigned long long)(now_ns() - start),
                 error == ECONNRESET || error == EPIPE);

    (void)!write(STDOUT_FILENO, line, (size_t)length);
}

static struct sockaddr_vm address_of(uint32_t cid, uint32_t port)
{
    return (struct sockaddr_vm){.svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = port};
}

// A connected socket, or -1. An answer that is missing for `most_s` seconds counts as lost.
static int connect_once(uint32_t cid, uint32_t port, int type, int most_s)
{
    const struct timeval most = {.tv_sec = most_s};
    struct sockaddr_vm address = address_of(cid, port);
    int socket_fd = socket(AF_VSOCK, type, 0);
    int error;

    if (socket_fd < 0)
        return socket_fd;
    if (setsockopt(socket_fd, AF_VSOCK, SO_VM_SOCKETS_CONNECT_TIMEOUT, &most, sizeof(most)) == 0 &&
        connect(socket_fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return socket_fd;
    error = errno;
    (void)close(socket_fd);
    errno = error;
    return -1;
}

// The other domain may not have started yet.
static int connect_patiently(uint32_t cid, uint32_t port, int type)
{
    int socket_fd = connect_once(cid, port, type, connect_most_s);

    for (int i = 0; socket_fd < 0 && i < connect_attempts; i++) {
        (void)usleep(connect_pause_us);
        socket_fd = connect_once(cid, port, type, connect_most_s);
    }
    return socket_fd;
}

static int listen_at(uint32_t port, int type)
{
    struct sockaddr_vm address = address_of(VMADDR_CID_ANY, port);
    int socket_fd = socket(AF_VSOCK, type, 0);

    if (socket_fd >= 0 &&
        (bind(socket_fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(socket_fd, 16) != 0)) {
        (void)close(socket_fd);
        return -1;
    }
    return socket_fd;
}

// Waits until the other end has taken everything and has closed too, which close() does not wait for.
static int finish(int socket_fd)
{
    uint8_t byte;

    if (shutdown(socket_fd, SHUT_WR) != 0)
        return errno;
    return read(socket_fd, &byte, 1) < 0 ? errno : 0;
}

static int send_stream(uint32_t cid, uint32_t port, uint64_t total, size_t packet_bytes)
{
    int socket_fd = connect_patiently(cid, port, SOCK_STREAM);
    uint64_t start = now_ns();
    uint64_t sent = 0;
    uint32_t crc = 0;
    int error = 0;

    if (socket_fd < 0) {
        perror("bulkhead-socket: connect");
        return EXIT_FAILURE;
    }
    while (sent < total && error == 0) {
        size_t bytes = total - sent < packet_bytes ? (size_t)(total - sent) : packet_bytes;
        ssize_t done;

        fill(sent, bytes);
        done = send(socket_fd, packet, bytes, MSG_NOSIGNAL);
        if (done < 0) {
            error = errno;
        } else {
            crc = crc32_update(crc, packet, (size_t)done);
            sent += (uint64_t)done;
        }
    }
    if (error == 0)
        error = finish(socket_fd);
    report("sent", sent, crc, start, error);
    (void)close(socket_fd);
    return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void receive_stream(int socket_fd)
{
    uint64_t start = now_ns();
    uint64_t received = 0;
    uint32_t crc = 0;
    ssize_t bytes;

    while ((bytes = read(socket_fd, packet, sizeof(packet))) > 0) {
        crc = crc32_update(crc, packet, (size_t)bytes);
        received += (uint64_t)bytes;
    }
    report("received", received, crc, start, bytes < 0 ? errno : 0);
}

static int receive_streams(uint32_t port, uint64_t times)
{
    int listening = listen_at(port, SOCK_STREAM);

    if (listening < 0) {
        perror("bulkhead-socket: listen");
        return EXIT_FAILURE;
    }
    for (uint64_t i = 0; i < times; i++) {
        int socket_fd = accept(listening, NULL, NULL);

        if (socket_fd < 0) {
            perror("bulkhead-socket: accept");
            return EXIT_FAILURE;
        }
        receive_stream(socket_fd);
        (void)close(socket_fd);
    }
    return EXIT_SUCCESS;
}

// Accepts connections, and never reads from them.
static int stall(uint32_t port)
{
    int listening = listen_at(port, SOCK_STREAM);

    while (listening >= 0 && accept(listening, NULL, NULL) >= 0)
        (void)!write(STDOUT_FILENO, "stalls\n", 7);
    perror("bulkhead-socket: stall");
    return EXIT_FAILURE;
}

// Makes connections one after the other; each is closed at once, and at both ends before the next one.
static int storm(uint32_t cid, uint32_t port, uint64_t count)
{
    uint64_t refused = 0;
    uint64_t unclean = 0;
    int socket_fd = connect_patiently(cid, port, SOCK_STREAM);

    if (socket_fd >= 0)
        (void)close(socket_fd);
    for (uint64_t i = 0; i < count; i++) {
        socket_fd = connect_once(cid, port, SOCK_STREAM, storm_connect_most_s);
        if (socket_fd < 0) {
            (void)fprintf(stderr, "bulkhead-socket: connection %llu: %s\n", (unsigned long long)i,
                          strerror(errno));
            refused++;
            continue;
        }
        unclean += finish(socket_fd) != 0;
        (void)close(socket_fd);
    }
    (void)printf("\nreport {\"connections\": %llu, \"refused\": %llu, \"unclean\": %llu}\n",
                 (unsigned long long)count, (unsigned long long)refused, (unsigned long long)unclean);
    return refused == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void fill_message(uint64_t index, size_t bytes)
{
    fill(index * 977, bytes);
}

// Sends one whole message: packets in one call, streams in as many as needed.
static bool receive_message(int socket_fd, int type, size_t bytes)
{
    size_t got = 0;

    do {
        ssize_t more = recv(socket_fd, message + got, sizeof(message) - got, 0);

        if (more <= 0)
            return false;
        got += (size_t)more;
    } while (type == SOCK_STREAM && got < bytes);
    return got == bytes;
}

static bool send_message(int socket_fd, uint64_t index, size_t bytes)
{
    fill_message(index, bytes);
    for (size_t sent = 0; sent < bytes;) {
        ssize_t more = send(socket_fd, packet + sent, bytes - sent, MSG_NOSIGNAL);

        if (more <= 0)
            return false;
        sent += (size_t)more;
    }
    return true;
}

static bool is_message(uint64_t index, size_t bytes)
{
    fill_message(index, bytes);
    return memcmp(packet, message, bytes) == 0;
}

// Sends requests, and receives the answers along the same connection. Answer i is message i + 1.
static int ask(uint32_t cid, uint32_t port, size_t bytes, size_t answer_bytes, uint64_t count, int type)
{
    int socket_fd = connect_patiently(cid, port, type);
    uint64_t answered = 0;
    uint64_t wrong = 0;

    if (socket_fd < 0) {
        perror("bulkhead-socket: connect");
        return EXIT_FAILURE;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!send_message(socket_fd, i, bytes) || !receive_message(socket_fd, type, answer_bytes))
            break;
        answered++;
        wrong += !is_message(i + 1, answer_bytes);
    }
    (void)close(socket_fd);
    (void)printf("\nreport {\"answered\": %llu, \"wrong\": %llu}\n", (unsigned long long)answered,
                 (unsigned long long)wrong);
    return answered == count && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int answer(uint32_t port, size_t bytes, size_t answer_bytes, uint64_t count, int type)
{
    int listening = listen_at(port, type);
    int socket_fd = listening < 0 ? -1 : accept(listening, NULL, NULL);

    if (socket_fd < 0) {
        perror("bulkhead-socket: answer");
        return EXIT_FAILURE;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!receive_message(socket_fd, type, bytes) || !is_message(i, bytes) ||
            !send_message(socket_fd, i + 1, answer_bytes))
            return EXIT_FAILURE;
    }
    (void)!read(socket_fd, message, 1); // until the other end has closed
    (void)close(socket_fd);
    return EXIT_SUCCESS;
}

// Writes all bytes. False: nobody takes them any more.
static bool write_all(int to, const uint8_t *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t more = write(to, data + done, bytes - done);

        if (more <= 0)
            return false;
        done += (size_t)more;
    }
    return true;
}

static bool pour(int from, int to)
{
    ssize_t bytes;

    while ((bytes = read(from, packet, sizeof(packet))) > 0)
        if (!write_all(to, packet, (size_t)bytes))
            return false;
    return bytes == 0;
}

// Sends its input, and then writes what the other end answers to its output.
static int pipe_through(uint32_t cid, uint32_t port)
{
    int socket_fd = connect_patiently(cid, port, SOCK_STREAM);

    if (socket_fd < 0 || !pour(STDIN_FILENO, socket_fd) || shutdown(socket_fd, SHUT_WR) != 0 ||
        !pour(socket_fd, STDOUT_FILENO)) {
        perror("bulkhead-socket: pipe");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

// Runs a command of the shell for each connection, which is the command's input and output.
static int serve(uint32_t port, uint64_t times, const char *command)
{
    int listening = listen_at(port, SOCK_STREAM);

    for (uint64_t i = 0; listening >= 0 && i < times; i++) {
        int socket_fd = accept(listening, NULL, NULL);
        pid_t child = socket_fd < 0 ? -1 : fork();

        if (child < 0)
            break;
        if (child == 0) {
            (void)dup2(socket_fd, STDIN_FILENO);
            (void)dup2(socket_fd, STDOUT_FILENO);
            (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
            _exit(EXIT_FAILURE);
        }
        (void)waitpid(child, NULL, 0);
        (void)finish(socket_fd);
        (void)close(socket_fd);
        if (i + 1 == times)
            return EXIT_SUCCESS;
    }
    perror("bulkhead-socket: serve");
    return EXIT_FAILURE;
}

static uint64_t number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 0);

    if (*text == '\0' || *end != '\0') {
        (void)fprintf(stderr, "bulkhead-socket: '%s' is not a number\n", text);
        exit(exit_usage);
    }
    return value;
}

int main(int count, char **values)
{
    const char *what = count > 1 ? values[1] : "";
    uint64_t n[5] = {0, 0, UINT64_MAX, most_packet_bytes, 0};
    int type = count > 2 && strcmp(values[count - 1], "packets") == 0 ? SOCK_SEQPACKET : SOCK_STREAM;

    count -= type == SOCK_SEQPACKET;
    if (strcmp(what, "serve") == 0 && count == 5)
        return serve((uint32_t)number(values[2]), number(values[3]), values[4]);
    for (int i = 2; i < count && i < 7; i++)
        n[i - 2] = number(values[i]);
    if (strcmp(what, "ask") == 0 && count == 7 && n[2] <= most_packet_bytes && n[3] <= most_packet_bytes)
        return ask((uint32_t)n[0], (uint32_t)n[1], (size_t)n[2], (size_t)n[3], n[4], type);
    if (strcmp(what, "answer") == 0 && count == 6 && n[1] <= most_packet_bytes && n[2] <= most_packet_bytes)
        return answer((uint32_t)n[0], (size_t)n[1], (size_t)n[2], n[3], type);
    if (strcmp(what, "send") == 0 && (count == 5 || count == 6) && n[3] > 0 && n[3] <= most_packet_bytes)
        return send_stream((uint32_t)n[0], (uint32_t)n[1], n[2], (size_t)n[3]);
    if (strcmp(what, "receive") == 0 && (count == 3 || count == 4))
        return receive_streams((uint32_t)n[0], count == 4 ? n[1] : UINT64_MAX);
    if (strcmp(what, "storm") == 0 && count == 5)
        return storm((uint32_t)n[0], (uint32_t)n[1], n[2]);
    if (strcmp(what, "pipe") == 0 && count == 4)
        return pipe_through((uint32_t)n[0], (uint32_t)n[1]);
    if (strcmp(what, "stall") == 0 && count == 3)
        return stall((uint32_t)n[0]);
    (void)fputs("usage: bulkhead-socket send CID PORT BYTES [PACKET]\n"
                "       bulkhead-socket receive PORT [TIMES]\n"
                "       bulkhead-socket storm CID PORT COUNT\n"
                "       bulkhead-socket stall PORT\n"
                "       bulkhead-socket pipe CID PORT\n"
                "       bulkhead-socket serve PORT TIMES COMMAND\n"
                "       bulkhead-socket ask CID PORT BYTES ANSWER_BYTES COUNT [packets]\n"
                "       bulkhead-socket answer PORT BYTES ANSWER_BYTES COUNT [packets]\n"
                "Packets have at most 65536 bytes. A stream is written in pieces of PACKET bytes.\n",
                stderr);
    return exit_usage;
}
