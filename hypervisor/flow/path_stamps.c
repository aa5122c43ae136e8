/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorders of all cores, and measurement of parts that begin on one core and end on another.
 */
#include "flow/path_stamps.h"
#include "core/path_costs.h"
#include "memory/placement.h"
#include "memory/window.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/speculation.h>
#include <stdatomic.h>

_Static_assert(sizeof(struct status_path_costs) <= BH_PAGE_BYTES, "the costs of a core must fit in a frame");
_Static_assert(sizeof(((struct status_path_costs *)0)->parts) / sizeof(struct status_path_cost) ==
                   BH_PATH_PART_COUNT,
               "one record for each part");

static bool wanted;
/* time at which the line was raised, until the driver sees it; 0: none */
static _Atomic uint64_t raised_at[BH_MAX_DOMAINS];

struct path_recorder *path_recorder_here(void)
{
    return wanted ? &this_cpu()->flow.recorder : NULL;
}

uint64_t path_clock(void)
{
    return clock_now();
}

bool path_stamps_init(void)
{
    struct pool *pool = system_pool();

    wanted = false;
    if ((system_manifest()->broker.stamps | system_manifest()->second_broker.stamps) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < system_manifest()->cpus.count; i++) {
        struct status_path_costs *costs = pool_allocate_bytes(pool, sizeof *costs);

        if (costs == NULL) {
            return false;
        }
        cpu_at(i)->flow.recorder = (struct path_recorder){.parts = costs->parts};
        path_calibrate(&cpu_at(i)->flow.recorder);
        cpu_at(i)->status->paths_frame = pool_frame_number(pool, costs);
    }
    wanted = true;
    return true;
}

static void set_if_clear(_Atomic uint64_t *moment, uint64_t at)
{
    uint64_t clear = 0;

    (void)atomic_compare_exchange_strong(moment, &clear, at);
}

/* Adds the time from a start that another core has set until now to a part. */
static void add_since(_Atomic uint64_t *moment, enum bh_path_part part)
{
    struct path_recorder *recorder = path_recorder_here();
    uint64_t since = atomic_exchange(moment, 0);
    uint64_t now = path_clock();

    if (since != 0 && now > since) {
        path_add(recorder, part, now - since);
    }
}

/* Whether EL2 measures the part itself; else the broker does. */
static bool is_own(uint32_t part)
{
    return part == BH_PATH_PART_TRANSPORT || part == BH_PATH_PART_NOTIFY || part == BH_PATH_PART_INTERRUPT;
}

bool path_stamps_take(const struct domain *broker, uint64_t at)
{
    struct segment_map map = placement_map(system_manifest(), broker->config);
    const struct status_path_costs *from;

    if (!wanted || at % BH_PAGE_BYTES != 0 || !segment_map_owns(&map, at, BH_PAGE_BYTES)) {
        return false;
    }
    from = window_open(this_cpu()->index, WINDOW_DESTINATION, segment_map_at(&map, at, 1).pa);
    for (uint32_t i = 0; i < BH_PATH_PART_COUNT; i++) {
        if (!is_own(i)) {
            this_cpu()->flow.recorder.parts[i] = from->parts[i];
        }
    }
    window_close(this_cpu()->index, WINDOW_DESTINATION);
    return true;
}

bool path_stamps_read(uint64_t x[31])
{
    const struct status_path_cost *cost;
    uint64_t cores = system_manifest()->cpus.count;

    if (!wanted || x[1] >= cores || x[2] >= BH_PATH_PART_COUNT || x[3] >= PATH_COST_BUCKETS) {
        return false;
    }
    cost = &cpu_at((uint32_t)(x[1] & arch_index_mask(x[1], cores)))
                ->flow.recorder.parts[x[2] & arch_index_mask(x[2], BH_PATH_PART_COUNT)];
    x[5] =
        __atomic_load_n(&cost->histogram[x[3] & arch_index_mask(x[3], PATH_COST_BUCKETS)], __ATOMIC_RELAXED);
    x[1] = __atomic_load_n(&cost->count, __ATOMIC_RELAXED);
    x[2] = __atomic_load_n(&cost->min, __ATOMIC_RELAXED);
    x[3] = __atomic_load_n(&cost->max, __ATOMIC_RELAXED);
    x[4] = __atomic_load_n(&cost->sum, __ATOMIC_RELAXED);
    return true;
}

void path_stamps_raise(uint32_t domain)
{
    if (wanted) {
        set_if_clear(&raised_at[domain], path_clock());
    }
}

void path_stamps_heard(uint32_t domain)
{
    if (wanted && atomic_load_explicit(&raised_at[domain], memory_order_relaxed) != 0) {
        add_since(&raised_at[domain], BH_PATH_PART_NOTIFY);
    }
}
