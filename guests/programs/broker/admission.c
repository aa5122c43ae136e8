// SPDX-License-Identifier: Apache-2.0
//
// The test calls flow_pause() after every few divisions (core/flow_pause.h). There the broker looks for news,
// at intervals of about `interval_ns`, and serves what it finds before it goes on with the test.
#include "guests/programs/broker/admission.h"
#include "core/broker_admission.h"
#include "core/flow_pause.h"
#include "guests/programs/broker/broker.h"
#include "guests/programs/broker/news.h"
#include "guests/programs/broker/wait.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

enum { interval_ns = 100 };

// Times are counter ticks.
static struct {
    struct flow_admission admission;
    uint64_t request;  // number of the latest request that is done with
    uint64_t interval; // interval_ns
    uint64_t until;    // nothing is to be done before this time unless an event comes
    uint64_t served;   // when the broker had last served everything
    uint64_t looked;   // when the broker last began to look for news, or had served everything
    uint64_t longest;  // longest time between two looks
} test;

bool admission_is_requested(void)
{
    return broker_admission_request(&broker.pages.door) != test.request;
}

static void note_away(uint64_t now)
{
    uint64_t away = now - test.looked;

    test.longest = away > test.longest ? away : test.longest;
}

// Tells the exchange that the broker has slept since it last served everything, although it ran the test.
void flow_pause(void)
{
    uint64_t now = timer_now();

    if (now - test.looked < test.interval)
        return;
    note_away(now);
    test.looked = now;
    if (news_are_there() || now >= test.until) {
        wait_ended(test.served);
        test.until = broker_serve();
        test.served = timer_now();
        test.looked = test.served;
    }
}

// The number is written last: EL2 reads the rest when it sees the number.
static void write_answer(const struct door_answer *answer, uint64_t request)
{
    struct door_answer *to = &broker.pages.reply.answer;

    to->problem = answer->problem;
    to->culprit = answer->culprit;
    to->verdict = answer->verdict;
    to->at = answer->at;
    to->demand = answer->demand;
    to->longest_away_ns = ticks_to_ns(test.longest, timer_frequency());
    __atomic_store_n(&to->number, request, __ATOMIC_RELEASE);
}

bool admission_work(uint64_t until)
{
    uint64_t request = broker_admission_request(&broker.pages.door);
    struct door_answer answer;
    bool is_answered;

    if (request == test.request)
        return false;
    test.interval = ns_to_ticks(interval_ns, timer_frequency());
    test.until = until;
    test.served = timer_now();
    test.looked = test.served;
    test.longest = 0;
    is_answered =
        broker_admission_test(&test.admission, &broker.pages.door, &broker.pages.map, request, &answer);
    note_away(timer_now());
    if (is_answered)
        write_answer(&answer, request);
    test.request = request;
    wait_ended(test.served);
    return true;
}
