/* SPDX-License-Identifier: Apache-2.0
 *
 * Dumps all controls of all components for the witness that compares them with the plan
 * (src/bulkhead/evidence/mpam.py). The ID registers determine which registers are read, independently of the
 * writes.
 */
#include "mpam/mpam_registers.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <stddef.h>

#define MOST (BH_MPAM_DUMP_FRAMES * (BH_PAGE_BYTES / (uint32_t)sizeof(struct status_mpam_register)))

static struct status_mpam_register *rows;

struct place {
    uint32_t component;
    uint32_t instance;
    uint32_t partid;
};

static void add(const struct place *place, uint32_t offset)
{
    struct status_mpam *status = mpam_status();

    if (status->dump_count == MOST) {
        status->dump_left_out++;
        return;
    }
    rows[status->dump_count++] = (struct status_mpam_register){
        .component = (uint8_t)place->component,
        .instance = (uint8_t)place->instance,
        .partid = (uint16_t)place->partid,
        .offset = offset,
        .value = mpam_read(mpam_component_at(place->component), offset),
    };
}

static void add_if(const struct place *place, bool there, uint32_t offset)
{
    if (there) {
        add(place, offset);
    }
}

static void add_words(const struct place *place, uint32_t portions, uint32_t offset)
{
    for (uint32_t word = 0; word * 32 < portions; word++) {
        add(place, offset + 4 * word);
    }
}

static void dump_controls(const struct place *place, const struct mpam_features *has)
{
    add_words(place, has->cache_portions, MPAMCFG_CPBM(0));
    add_if(place, has->has_cmax, MPAMCFG_CMAX);
    add_if(place, has->has_cmin, MPAMCFG_CMIN);
    add_if(place, has->associativity_bits != 0, MPAMCFG_CASSOC);
    add_if(place, has->has_min, MPAMCFG_MBW_MIN);
    add_if(place, has->has_max, MPAMCFG_MBW_MAX);
    add_words(place, has->bandwidth_portions, MPAMCFG_MBW_PBM(0));
    add_if(place, has->has_proportional, MPAMCFG_MBW_PROP);
    add_if(place, has->window_writable, MPAMCFG_MBW_WINWD);
    add_if(place, has->internal.bits != 0 || has->downstream.bits != 0, MPAMCFG_PRI);
}

static void dump_partid(const struct place *place, const struct mpam_features *has)
{
    const struct mpam_component *component = mpam_component_at(place->component);
    uint32_t selection = place->instance << MPAM_SEL_RIS_SHIFT | place->partid;

    mpam_write(component, MPAMCFG_PART_SEL, selection);
    if (has->narrowing) {
        add(place, MPAMCFG_INTPARTID);
        mpam_write(component, MPAMCFG_PART_SEL, selection | MPAMCFG_PART_SEL_INTERNAL);
    }
    if (place->partid <= has->intpartid_max) {
        dump_controls(place, has);
    }
}

bool mpam_dump_init(void)
{
    rows = pool_allocate_bytes(system_pool(), (uint64_t)BH_MPAM_DUMP_FRAMES * BH_PAGE_BYTES);
    if (rows == NULL) {
        return false;
    }
    mpam_status()->dump_frame = pool_frame_number(system_pool(), rows);
    return true;
}

void mpam_dump(void)
{
    struct status_mpam *status = mpam_status();

    status->dump_count = 0;
    status->dump_left_out = 0;
    for (uint32_t i = 0; i < mpam_component_count(); i++) {
        const struct mpam_component *component = mpam_component_at(i);

        for (uint32_t j = 0; j < component->config->instance_count; j++) {
            const struct mpam_features *has = &component->instances[j];

            for (uint32_t partid = 0; partid <= has->partid_max && partid <= BH_MAX_MPAM_PARTID; partid++) {
                dump_partid(&(struct place){i, j, partid}, has);
            }
        }
    }
    status->dump_at = clock_now();
}
