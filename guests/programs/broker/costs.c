// SPDX-License-Identifier: Apache-2.0
//
// The broker's recorder.
#include "guests/programs/broker/costs.h"
#include "guests/programs/broker/broker.h"
#include "guests/runtime/timer.h"

enum { told_every_ms = 10 };

static struct status_path_costs measured __attribute__((aligned(BH_PAGE_BYTES)));
static struct path_recorder recorder;
static bool slept;
static uint64_t slept_until;
static uint64_t told_at;

struct path_recorder *path_recorder_here(void)
{
    return recorder.parts != 0 ? &recorder : 0;
}

uint64_t path_clock(void)
{
    return timer_now();
}

void costs_init(void)
{
    if (broker.pages.map.stamps == 0)
        return;
    recorder.parts = measured.parts;
    path_calibrate(&recorder);
}

void costs_wait(uint64_t until)
{
    if (path_recorder_here() == 0)
        return;
    if (timer_now() - told_at >= timer_frequency() / 1000 * told_every_ms) {
        broker_call(BH_HYPERCALL_BROKER_COSTS, mmu_physical(&measured), 0, 0, 0);
        told_at = timer_now();
    }
    slept = true;
    slept_until = until;
}

void costs_woken(uint64_t notified)
{
    uint64_t now = timer_now();

    if (path_recorder_here() != 0 && slept && now > notified)
        path_add(&recorder, BH_PATH_PART_WAKE, now - notified);
}

void costs_looked(void)
{
    uint64_t now = timer_now();

    if (path_recorder_here() != 0 && slept && now > slept_until)
        path_add(&recorder, BH_PATH_PART_WAKE, now - slept_until);
    slept = false;
}
