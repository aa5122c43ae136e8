// SPDX-License-Identifier: Apache-2.0
//
// A domain that makes the hypervisor work as much as possible, to delay others (examples/hostile-*.yaml).
// Parameters: `attack`, one of those below; `storm_after_us`: delay before the attack, in which other domains
// start. The first VCPU is on the core that is attacked; `interrupts` and `packets` are sent by the second
// one.
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "core/vsock.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/socket_device.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"
#include "guests/socket/flood.h"
#include "guests/socket/socket.h"

enum attack {
    attack_restarts = 1,     // resets itself: memory is cleaned and loaded each time
    attack_interrupts = 2,   // sends interrupts to its first VCPU
    attack_packets = 3,      // sends packets with a wrong sender, in rings that never become empty
    attack_devices = 4,      // stops its socket device in the middle of a transfer
    attack_crashes = 5,      // accesses memory that it does not have, and is restarted if the file says so
    attack_calls = 6,        // calls the hypervisor
    attack_output = 7,       // writes to its console
    attack_shared = 8,       // makes all interrupts of devices pending at once
    attack_maintenance = 10, // invalidates translations and instruction caches, of all cores
    attack_buffers = 11,     // accepts a connection, and gives no receive buffer back from then on
    attack_connections = 12, // begins connections, asks for credit too early, and resets its device
};

enum {
    shared_first = 32,
    shared_end = 288, // INTIDs that a domain has
    storm_interrupt = 1,
    untold = 1024, // rounds of the storm of packets between two notifications
};

static uint64_t attack;
static uint64_t storm_from;

void program_interrupt(uint32_t intid)
{
    if (intid == board()->virtual_timer_intid)
        timer_stop();
    else
        socket_interrupt(intid);
}

static void wait_for_storm(void)
{
    gic_enable_private(board()->virtual_timer_intid);
    timer_sleep_until(storm_from);
}

static void sleep_forever(void)
{
    cpu_unmask_interrupts();
    for (;;)
        cpu_wait_for_interrupt();
}

static void send_interrupts(void)
{
    for (;;)
        gic_send(storm_interrupt, 0);
}

static void send_packets(void)
{
    for (uint64_t round = 0;; round++)
        socket_flood(round % untold == 0);
}

void program_secondary(uint32_t cpu)
{
    if (cpu != 1 || !gic_init_secondary())
        return;
    wait_for_storm();
    if (attack == attack_interrupts)
        send_interrupts();
    if (attack == attack_packets)
        send_packets();
}

static void stop_devices(void)
{
    static uint8_t payload[VSOCK_MOST_BYTES];
    const uint64_t peer = param("send_cid", 0);
    const uint32_t port = (uint32_t)param("send_port", 0);

    for (;;) {
        struct socket *socket = socket_connect(peer, port);
        uint64_t number;

        if (socket != NULL)
            (void)socket_offer(socket, payload, sizeof(payload), &number);
        (void)socket_init();
    }
}

static void keep_buffers(void)
{
    (void)socket_accept((uint32_t)param("receive_port", 0));
    sleep_forever();
}

static void break_connections(void)
{
    for (;;) {
        struct socket *socket = socket_ask(param("send_cid", 0), (uint32_t)param("send_port", 0));

        if (socket != NULL)
            socket_ask_credit(socket);
        (void)socket_init();
    }
}

static bool needs_socket(void)
{
    return attack == attack_packets || attack == attack_devices || attack == attack_buffers ||
           attack == attack_connections;
}

static void invalidate(void)
{
    for (;;) {
        cpu_invalidate_translations();
        cpu_invalidate_instructions();
    }
}

static void crash(void)
{
    *(volatile uint64_t *)mmu_virtual(MMU_ADDRESS_END / 2) = 1;
}

// They become pending while they are masked, and are then taken one after the other.
static void pend_shared(void)
{
    for (uint32_t intid = shared_first; intid < shared_end; intid++)
        gic_enable_shared(intid);
    for (;;) {
        cpu_mask_interrupts();
        for (uint32_t intid = shared_first; intid < shared_end; intid += 32)
            gic_pend_shared(intid, UINT32_MAX);
        cpu_unmask_interrupts();
    }
}

static void attack_alone(void)
{
    switch (attack) {
    case attack_restarts:
        psci_system_reset();
    case attack_devices:
        stop_devices();
        break;
    case attack_crashes:
        crash();
        break;
    case attack_calls:
        for (;;)
            (void)psci_version();
    case attack_output:
        for (;;)
            console_write("the quick brown fox jumps over the lazy dog\n");
    case attack_shared:
        pend_shared();
        break;
    case attack_maintenance:
        invalidate();
        break;
    case attack_buffers:
        keep_buffers();
        break;
    case attack_connections:
        break_connections();
        break;
    default:
        console_printf("hostile: there is no attack %lu\n", attack);
        break;
    }
}

void program_main(void)
{
    attack = param("attack", attack_restarts);
    storm_from = timer_now() + ns_to_ticks(param("storm_after_us", 0) * 1000, timer_frequency());
    if (!gic_init()) {
        console_write("hostile: no usable interrupt controller\n");
        return;
    }
    if (needs_socket() && !socket_init()) {
        console_write("hostile: no socket device\n");
        return;
    }
    console_write("bulkhead: ready\n");
    if (attack == attack_interrupts || attack == attack_packets) {
        gic_enable_private(storm_interrupt);
        if (attack == attack_packets)
            socket_prepare_flood();
        if (smp_start() < 2)
            console_write("hostile: this attack needs a second VCPU\n");
        sleep_forever();
    }
    wait_for_storm();
    attack_alone();
}
