// SPDX-License-Identifier: Apache-2.0
//
// Forwards one TCP connection of this guest to another guest, which forwards it to a TCP port of its own.
//     relay out TCP_PORT CID PORT      listens for TCP on the loopback interface
//     relay in PORT TCP_PORT           listens for sockets of domains
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/vm_sockets.h> // needs sys/socket.h before it

enum { attempts = 600, pause_us = 100000 };

static struct sockaddr_in loopback(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(port)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static struct sockaddr_vm domain(uint32_t cid, const char *port)
{
    return (struct sockaddr_vm){.svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = (uint32_t)atoi(port)};
}

static int accept_one(int family, const void *address, socklen_t bytes)
{
    int on = 1;
    int listening = socket(family, SOCK_STREAM, 0);

    (void)setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listening, address, bytes) != 0 || listen(listening, 1) != 0) {
        perror("relay: listen");
        exit(EXIT_FAILURE);
    }
    return accept(listening, NULL, NULL);
}

static int connect_patiently(int family, const void *address, socklen_t bytes)
{
    for (int i = 0; i < attempts; i++) {
        int fd = socket(family, SOCK_STREAM, 0);

        if (connect(fd, address, bytes) == 0)
            return fd;
        (void)close(fd);
        (void)usleep(pause_us);
    }
    perror("relay: connect");
    exit(EXIT_FAILURE);
}

// Returns false if `from` has ended.
static int carry(int from, int to)
{
    char bytes[4096];
    ssize_t got = read(from, bytes, sizeof(bytes));

    for (ssize_t done = 0; got > 0 && done < got;) {
        ssize_t more = write(to, bytes + done, (size_t)(got - done));

        if (more <= 0)
            return 0;
        done += more;
    }
    return got > 0;
}

int main(int count, char **values)
{
    int a, b;

    if (count == 5 && strcmp(values[1], "out") == 0) {
        struct sockaddr_in here = loopback(values[2]);
        struct sockaddr_vm there = domain((uint32_t)atoi(values[3]), values[4]);

        a = accept_one(AF_INET, &here, sizeof(here));
        b = connect_patiently(AF_VSOCK, &there, sizeof(there));
    } else if (count == 4 && strcmp(values[1], "in") == 0) {
        struct sockaddr_vm here = domain(VMADDR_CID_ANY, values[2]);
        struct sockaddr_in there = loopback(values[3]);

        a = accept_one(AF_VSOCK, &here, sizeof(here));
        b = connect_patiently(AF_INET, &there, sizeof(there));
    } else {
        (void)fputs("usage: relay out TCP_PORT CID PORT | relay in PORT TCP_PORT\n", stderr);
        return 2;
    }
    for (;;) {
        struct pollfd ends[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};

        if (poll(ends, 2, -1) < 0 || (ends[0].revents != 0 && !carry(a, b)) ||
            (ends[1].revents != 0 && !carry(b, a)))
            return 0;
    }
}
