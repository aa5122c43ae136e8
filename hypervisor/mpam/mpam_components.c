/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the components' ID registers and programs the components. Errors, monitors and dumps are in
 * mpam_errors.c, mpam_monitors.c and mpam_dump.c. core/mpam_settings.c computes the register writes, so this
 * file depends on no particular control. The duration of programming is published (status_mpam.start_ticks):
 * it is proportional to PARTIDs, instances and controls, and ends before the first guest runs.
 */
#include "mpam/mpam_components.h"
#include "console/console.h"
#include "core/manifest_mpam.h"
#include "core/mpam_difference.h"
#include "core/mpam_label.h"
#include "mpam/mpam_labels.h"
#include "mpam/mpam_registers.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/rare_alarm.h"
#include "vm/system.h"
#include <stddef.h>

static struct {
    struct mpam_component components[BH_MAX_MPAM_COMPONENTS];
    struct mpam_features features[BH_MAX_MPAM_INSTANCES];
    struct mpam_writes writes; /* used at the start only; too large for the stack */
    uint32_t count;            /* programmed components; 0: the driver is inactive */
    struct status_mpam *status;
} driver;

_Static_assert(sizeof(struct status_mpam) <= BH_PAGE_BYTES, "status_mpam fits into a frame of the pool");

uint32_t mpam_component_count(void)
{
    return driver.count;
}

const struct mpam_component *mpam_component_at(uint32_t index)
{
    return &driver.components[index];
}

struct status_mpam *mpam_status(void)
{
    return driver.status;
}

static uint32_t read_if(const struct mpam_component *component, bool there, uint32_t offset)
{
    return there ? mpam_read(component, offset) : 0;
}

/* Reads the ID registers of one instance, except those that are absent according to MPAMF_IDR. */
static struct mpam_features read_features(const struct mpam_component *component, uint32_t instance)
{
    struct mpam_id_registers read = {0};
    uint64_t idr;

    mpam_write(component, MPAMCFG_PART_SEL, instance << MPAM_SEL_RIS_SHIFT);
    idr = mpam_read(component, MPAMF_IDR);
    if ((idr & MPAMF_IDR_EXT) != 0) {
        idr |= (uint64_t)mpam_read(component, MPAMF_IDR + 4) << 32;
    }
    read.idr = idr;
    read.aidr = mpam_read(component, MPAMF_AIDR);
    read.cpor = read_if(component, (idr & MPAMF_IDR_HAS_CPOR_PART) != 0, MPAMF_CPOR_IDR);
    read.ccap = read_if(component, (idr & MPAMF_IDR_HAS_CCAP_PART) != 0, MPAMF_CCAP_IDR);
    read.mbw = read_if(component, (idr & MPAMF_IDR_HAS_MBW_PART) != 0, MPAMF_MBW_IDR);
    read.pri = read_if(component, (idr & MPAMF_IDR_HAS_PRI_PART) != 0, MPAMF_PRI_IDR);
    read.partid_nrw = read_if(component, (idr & MPAMF_IDR_HAS_PARTID_NRW) != 0, MPAMF_PARTID_NRW_IDR);
    read.msmon = read_if(component, (idr & MPAMF_IDR_HAS_MSMON) != 0, MPAMF_MSMON_IDR);
    read.csumon = read_if(component, (read.msmon & MPAMF_MSMON_IDR_CSU) != 0, MPAMF_CSUMON_IDR);
    read.mbwumon = read_if(component, (read.msmon & MPAMF_MSMON_IDR_MBWU) != 0, MPAMF_MBWUMON_IDR);
    return mpam_features_of(&read);
}

static bool is_as_stated(uint32_t component, uint32_t instance, const struct mpam_features *found)
{
    struct mpam_features stated;
    struct mpam_difference difference;

    manifest_mpam_features(system_manifest(), component, instance, &stated);
    difference = mpam_compare(&stated, found);
    if (difference.field != NULL) {
        console_log("MPAM component %u, instance %u: MPAMF_%s is %u, the platform file says %u", component,
                    instance, difference.field, difference.found, difference.stated);
    }
    return difference.field == NULL;
}

static bool guests_choose_groups(void)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (manifest_domains(manifest)[i].mpam_virtual != 0) {
            return true;
        }
    }
    return false;
}

/* Whether an instance has all PMGs that a guest with virtual PARTIDs can use. Hardware does not map PMGs for
 * such a guest: it can use every PMG that the core has. A PMG that a component does not have is an error
 * there. The guest could cause such errors without a limit, and the component may assign the request to
 * another partition. */
static bool has_groups_of_guests(uint32_t index, const struct mpam_features *found)
{
    uint32_t of_cores = (uint32_t)(mpam_core_ids() >> MPAMIDR_PMG_MAX_SHIFT & MPAMIDR_PMG_MAX);

    if (found->pmg_max >= of_cores || !guests_choose_groups()) {
        return true;
    }
    console_log("MPAM component %u: groups up to %u, guests with virtual PARTIDs can choose up to %u", index,
                found->pmg_max, of_cores);
    return false;
}

static bool find_component(uint32_t index, struct mpam_features *features)
{
    struct mpam_component *component = &driver.components[index];

    *component = (struct mpam_component){
        .page = paddr(manifest_mpam_page(system_manifest(), index)),
        .config = &manifest_mpam_components(system_manifest())[index],
        .instances = features,
    };
    for (uint32_t i = 0; i < component->config->instance_count; i++) {
        features[i] = read_features(component, i);
        if (!is_as_stated(index, i, &features[i]) || !has_groups_of_guests(index, &features[i])) {
            return false;
        }
    }
    return true;
}

static bool find_components(void)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->mpam_components.count; i++) {
        if (!find_component(i, &driver.features[manifest_mpam_first_instance(manifest, i)])) {
            return false;
        }
    }
    driver.count = manifest->mpam_components.count;
    return true;
}

/* Reads each register back after its write, while the PARTID and the instance are still selected. */
static bool make_writes(uint32_t index, uint32_t instance, uint32_t partid)
{
    const struct mpam_component *component = &driver.components[index];

    for (uint32_t i = 0; i < driver.writes.count; i++) {
        const struct mpam_write *write = &driver.writes.write[i];
        uint32_t read;

        mpam_write(component, write->offset, write->value);
        read = mpam_read(component, write->offset);
        driver.status->writes++;
        if (((read ^ write->value) & write->implemented) != 0) {
            console_log("MPAM component %u, instance %u, PARTID %u: register %x is %x after %x was written",
                        index, instance, partid, write->offset, read, write->value);
            return false;
        }
    }
    return true;
}

/* Writes settings for all PARTIDs of the instance, including those without an owner. */
static bool program_instance(uint32_t index, uint32_t instance)
{
    const struct manifest_header *manifest = system_manifest();
    const struct mpam_features *features = &driver.components[index].instances[instance];
    uint32_t last = features->partid_max < BH_MAX_MPAM_PARTID ? features->partid_max : BH_MAX_MPAM_PARTID;
    struct mpam_settings settings;

    for (uint32_t partid = 0; partid <= last; partid++) {
        if (partid > features->intpartid_max) {
            mpam_settings_share(instance, partid, manifest->mpam.partid, &driver.writes);
        } else {
            manifest_mpam_settings_of(manifest, index, instance, partid, &settings);
            mpam_settings_writes(features, &settings, instance, partid, &driver.writes);
        }
        if (!make_writes(index, instance, partid)) {
            return false;
        }
    }
    return true;
}

static bool program(void)
{
    for (uint32_t i = 0; i < driver.count; i++) {
        const struct mpam_component *component = &driver.components[i];
        uint32_t error;

        mpam_errors_clear(component);
        for (uint32_t j = 0; j < component->config->instance_count; j++) {
            if (!program_instance(i, j)) {
                return false;
            }
        }
        error = mpam_errors_pending(component);
        if (error != 0) {
            console_log("MPAM component %u: %s (MPAMF_ESR %x) while it was programmed", i,
                        mpam_error_name(error >> MPAMF_ESR_ERRCODE_SHIFT & MPAMF_ESR_ERRCODE), error);
            return false;
        }
    }
    return true;
}

static bool make_status(void)
{
    driver.status = pool_allocate_bytes(system_pool(), sizeof *driver.status);
    if (driver.status == NULL) {
        return false;
    }
    system_status()->mpam_frame = pool_frame_number(system_pool(), driver.status);
    driver.status->state = mpam_state();
    driver.status->version = mpam_version();
    driver.status->partid_max = system_manifest()->mpam.partid_max;
    driver.status->pmg_max = system_manifest()->mpam.pmg_max;
    return true;
}

enum bh_manifest_error mpam_components_init(void)
{
    uint64_t began = clock_now();

    driver.count = 0;
    driver.status = NULL;
    if (system_manifest()->mpam_components.count == 0) {
        return BH_MANIFEST_ERROR_NONE;
    }
    if (!make_status() || !mpam_dump_init()) {
        return BH_MANIFEST_ERROR_POOL_EXHAUSTED;
    }
    if (mpam_state() != BH_MPAM_STATE_ENABLED) {
        return BH_MANIFEST_ERROR_NONE;
    }
    if (!find_components() || !program()) {
        return BH_MANIFEST_ERROR_MPAM;
    }
    mpam_monitors_init();
    mpam_dump();
    driver.status->start_ticks = clock_now() - began;
    console_log("MPAM %u.%u: %u components, %lu writes for %u PARTIDs", mpam_version() >> 4,
                mpam_version() & 0xF, driver.count, driver.status->writes,
                system_manifest()->mpam.partid_max + 1);
    return BH_MANIFEST_ERROR_NONE;
}

static void set_alarm(void)
{
    rare_alarm_set(RARE_ALARM_MONITORS, clock_now() + clock_ticks(BH_MPAM_READ_INTERVAL_NS));
}

void mpam_components_start(const struct cpu *cpu)
{
    if (driver.count != 0) {
        mpam_errors_start(cpu->mpidr);
        set_alarm();
    }
}

bool mpam_components_interrupt(uint32_t intid)
{
    return driver.count != 0 && mpam_errors_interrupt(intid);
}

void mpam_components_alarm(void)
{
    mpam_errors_look();
    mpam_monitors_read_next();
    set_alarm();
}

void mpam_components_end(void)
{
    if (driver.count != 0) {
        mpam_errors_look();
        mpam_monitors_read_all();
        mpam_dump();
    }
}
