// SPDX-License-Identifier: Apache-2.0
//
// Waiting. Interrupts stay masked and only end the wait.
#include "guests/programs/broker/wait.h"
#include "guests/programs/broker/admission.h"
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/costs.h"
#include "guests/programs/broker/news.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { watched_ns = 20000 }; // for shorter waits the timer's interrupt does not pay

static bool waits_for_events;
static uint64_t watched_ticks;

void wait_init(bool by_event, uint32_t interrupt)
{
    waits_for_events = by_event;
    if (!by_event)
        gic_enable_shared(interrupt);
    watched_ticks = ns_to_ticks(watched_ns, timer_frequency());
    gic_enable_private(board()->virtual_timer_intid);
}

static void end_timer(void)
{
    uint32_t intid;

    timer_stop();
    if (gic_acknowledge(&intid)) // the timer's interrupt; EL2 lowers that of the line
        gic_end(intid);
}

static void wait_for_interrupt(uint64_t deadline)
{
    if (deadline != UINT64_MAX)
        timer_set(deadline);
    cpu_wait_for_interrupt();
    end_timer();
    if (broker.pages.door.woken != 0)
        broker_call(BH_HYPERCALL_BROKER_TELL, 0, 0, 0, 0); // the broker has seen it
}

static bool is_woken(void)
{
    return __atomic_load_n(&broker.pages.door.woken, __ATOMIC_ACQUIRE) != 0;
}

// If an event comes after the word is read, the core keeps it, and WFE returns at once. Returns to EL1 are
// events, too, so only the word tells whether the broker was woken.
static void wait_for_event(uint64_t deadline)
{
    uint64_t now = timer_now();
    bool by_timer = deadline != UINT64_MAX && deadline > now && deadline - now > watched_ticks;

    if (by_timer)
        timer_set(deadline);
    while (!is_woken() && (deadline == UINT64_MAX || timer_now() < deadline)) {
        if (by_timer || deadline == UINT64_MAX)
            cpu_wait_for_event();
    }
    if (by_timer)
        end_timer();
}

void wait_ended(uint64_t since)
{
    uint64_t now = timer_now();

    if (now - since > broker.pages.map.look_back_ticks)
        flow_exchange_woke(&broker.exchange, now - broker.pages.map.look_back_ticks);
}

static bool may_sleep(void)
{
    return !news_are_there() && (broker_is_transferring() || !admission_is_requested());
}

// Either EL2 sees that the broker waits, or the broker sees what EL2 has stored.
void wait_for_news(uint64_t until)
{
    struct broker_pages *pages = &broker.pages;
    uint64_t slept = timer_now();

    costs_wait(until);
    __atomic_store_n(&pages->door.woken, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pages->reply.waits, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (may_sleep()) {
        if (waits_for_events)
            wait_for_event(until);
        else
            wait_for_interrupt(until);
    }
    __atomic_store_n(&pages->reply.waits, 0, __ATOMIC_RELAXED);
    wait_ended(slept);
}
