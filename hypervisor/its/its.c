/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the ITS. Each table is a frame of EL2's pool, so it has EL2's colors. Only the redistributors'
 * tables of pending LPIs are elsewhere, in memory that the manifest names: each must be aligned to 64 KiB,
 * which colored frames are not in general. They are accessed past the caches.
 */
#include "its/its.h"
#include "base/its_registers.h"
#include "console/console.h"
#include "core/spinlock.h"
#include "memory/cache.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <arch/mmio.h>
#include <arch/sysreg.h>
#include <string.h>

#define TYPER_PHYSICAL       (1ull << 0)
#define TYPER_HCC(t)         ((uint32_t)((t) >> 24) & 0xFFu) /* collections that it keeps without a table */
#define TYPER_PTA            (1ull << 19) /* a redistributor is named by its address, not by its number */
#define TYPER_ITT_ENTRY(t)   (((uint32_t)((t) >> 4) & 0xFu) + 1)
#define TYPER_EVENT_BITS(t)  (((uint32_t)((t) >> 8) & 0x1Fu) + 1)
#define TYPER_DEVICE_BITS(t) (((uint32_t)((t) >> 13) & 0x1Fu) + 1)

#define BASER_COUNT       8u
#define BASER_TYPE(b)     ((uint32_t)((b) >> 56) & 7u)
#define BASER_ENTRY(b)    (((uint32_t)((b) >> 48) & 0x1Fu) + 1)
#define BASER_FIXED       (7ull << 56 | 0x1Full << 48)
#define BASER_PAGE_SIZE   (3ull << 8)
#define BASER_INDIRECT    (1ull << 62) /* the table has the addresses of frames with entries */
#define BASER_DEVICES     1u
#define BASER_COLLECTIONS 4u

#define BASE_VALID     (1ull << 63)
#define BASE_CACHED    (7ull << 59) /* inner, write-back, allocating */
#define BASE_SHARED    (1ull << 10) /* inner */
#define BASE_SHARE_ANY (3ull << 10)

#define GICR_CTLR_RWP        (1u << 3)
#define GICR_TYPER_LPIS      1u
#define GICR_TYPER_NUMBER(t) ((uint32_t)((t) >> 8) & 0xFFFFu)
#define PROPBASER_ID_BITS    13ull /* LPIs have 14 bits, the fewest that are allowed */
#define PROPBASER_CACHED     (7ull << 7)
#define PENDBASER_UNCACHED   (1ull << 7)
#define PENDBASER_ZERO       (1ull << 62)
#define PENDING_BYTES        (1u << (PROPBASER_ID_BITS + 1) >> 3)

/* Less urgent than all other interrupts: a function that sends messages without end delays none of EL2's
 * own. */
#define LPI_PRIORITY    0xB0u
#define LOWEST_PRIORITY 0xFFu
#define LPI_ENABLED     3u /* and a bit that reads as one */

#define COMMAND_BYTES 32u
#define COMMAND_WORDS (COMMAND_BYTES / 8)
#define COMMAND_SYNC  0x05ull
#define COMMAND_MAPD  0x08ull
#define COMMAND_MAPC  0x09ull
#define COMMAND_MAPTI 0x0Aull
#define COMMAND_VALID (1ull << 63)

#define BUS_BITS    8u /* device ids of a bus */
#define EVENT_BITS  5u
#define MOST_ENTRY  16u                        /* bytes, of all tables */
#define TABLE_BYTES (MOST_ENTRY << EVENT_BITS) /* of a function's events */
#define WAIT_NS     100000000ull

_Static_assert(BH_MAX_FUNCTIONS *BH_MAX_MESSAGES <= BH_PAGE_BYTES, "properties of all LPIs are in a page");
_Static_assert(1u << EVENT_BITS == BH_MAX_MESSAGES && MOST_ENTRY << BUS_BITS <= BH_PAGE_BYTES, "");
_Static_assert((BH_MAX_MESSAGES + 2) * COMMAND_BYTES < BH_PAGE_BYTES, "the queue has room for a function");

static struct {
    struct spinlock lock; /* protects the queue: cores start side by side */
    volatile uint64_t *queue;
    uint32_t written; /* offset of the next command */
    paddr_t queue_frame;
    paddr_t properties;
    uint64_t type;              /* GITS_TYPER */
    volatile uint64_t *devices; /* addresses of the frames of the table of devices; NULL: it is one frame */
    uint32_t device_bytes;      /* of an entry in them */
} driver;

static paddr_t its_register(uint32_t offset)
{
    return paddr(system_manifest()->its.pa + offset);
}

static bool wait_for(paddr_t address, uint32_t mask, uint32_t value)
{
    uint64_t deadline = clock_now() + clock_ticks(WAIT_NS);

    while ((mmio_read32(address) & mask) != value) {
        if (clock_now() > deadline) {
            return false;
        }
    }
    return true;
}

/* The redistributors have no LPIs any more. Lines of the pending tables that a boot loader left dirty must
 * not be written back over EL2's zeros. */
bool its_silence(const struct manifest_header *manifest)
{
    paddr_t control = paddr(manifest->its.pa + GITS_CTLR);

    if (manifest->its.pa == 0) {
        return true;
    }
    cache_clean(paddr(manifest->its.pending_pa), manifest->its.pending_bytes);
    mmio_write32(control, mmio_read32(control) & ~GITS_CTLR_ENABLED);
    return wait_for(control, GITS_CTLR_QUIESCENT, GITS_CTLR_QUIESCENT);
}

/* The largest device id that has messages. */
static uint32_t last_device(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t last = 0;

    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *function = &manifest_functions(manifest)[i];

        if (function->messages != 0 && function->requester > last) {
            last = function->requester;
        }
    }
    return last;
}

/* Why the driver cannot use this ITS; NULL: it can. */
static const char *missing(void)
{
    uint64_t type = driver.type;

    return (type & TYPER_PHYSICAL) == 0 ? "no physical LPIs"
           : TYPER_DEVICE_BITS(type) < BUS_BITS || (uint64_t)last_device() >> TYPER_DEVICE_BITS(type) != 0
               ? "fewer device ids than functions"
           : TYPER_EVENT_BITS(type) < EVENT_BITS ? "fewer events than messages of a function"
           : TYPER_ITT_ENTRY(type) > MOST_ENTRY  ? "entries of its tables are too long"
                                                 : NULL;
}

/* Whether a frame has too few entries for the devices: functions behind bridges have large ids. */
static bool needs_levels(uint64_t fixed)
{
    return BASER_TYPE(fixed) == BASER_DEVICES && (last_device() + 1) * BASER_ENTRY(fixed) > BH_PAGE_BYTES;
}

/* Gives the ITS a frame for its table of devices or collections. Other tables stay off. */
static const char *place_table(uint32_t index)
{
    paddr_t address = its_register(GITS_BASER + 8 * index);
    uint64_t fixed = mmio_read64(address) & BASER_FIXED;
    uint64_t wanted;
    uint64_t value;
    paddr_t frame;

    mmio_write64(address, 0);
    if (BASER_TYPE(fixed) != BASER_DEVICES && BASER_TYPE(fixed) != BASER_COLLECTIONS) {
        return NULL;
    }
    if (BASER_ENTRY(fixed) > MOST_ENTRY) {
        return "entries of its tables are too long";
    }
    if (!pool_allocate(system_pool(), &frame)) {
        return "the pool is exhausted";
    }
    wanted = BASE_VALID | BASE_CACHED | fixed | frame.value | BASE_SHARED;
    if (needs_levels(fixed)) {
        wanted |= BASER_INDIRECT;
        driver.devices = pool_pointer(system_pool(), frame);
        driver.device_bytes = BASER_ENTRY(fixed);
    }
    mmio_write64(address, wanted);
    value = mmio_read64(address);
    return (value & BASER_PAGE_SIZE) != 0             ? "no tables of 4 KiB"
           : ((value ^ wanted) & BASE_SHARE_ANY) != 0 ? "its tables are not coherent with caches"
           : ((value ^ wanted) & BASER_INDIRECT) != 0 ? "no table of two levels, for functions behind bridges"
                                                      : NULL;
}

/* Makes the frame of a table of two levels in which the device has its entry, unless the frame is there. */
static bool make_room(uint32_t device)
{
    uint32_t index;
    paddr_t frame;

    if (driver.devices == NULL) {
        return true;
    }
    index = device / (BH_PAGE_BYTES / driver.device_bytes);
    if (driver.devices[index] != 0) {
        return true;
    }
    if (!pool_allocate(system_pool(), &frame)) {
        return false;
    }
    driver.devices[index] = BASE_VALID | frame.value;
    return true;
}

static const char *place_tables(void)
{
    bool keeps_collections = TYPER_HCC(driver.type) >= system_manifest()->cpus.count;
    uint32_t needed = 1u << BASER_DEVICES | (keeps_collections ? 0u : 1u << BASER_COLLECTIONS);
    const char *lacks = NULL;
    uint32_t found = 0;

    for (uint32_t i = 0; i < BASER_COUNT && lacks == NULL; i++) {
        lacks = place_table(i);
        found |= 1u << BASER_TYPE(mmio_read64(its_register(GITS_BASER + 8 * i)));
    }
    return lacks == NULL && (found & needed) != needed ? "no table of devices or of collections" : lacks;
}

static bool place_queue(void)
{
    uint64_t wanted = BASE_VALID | BASE_CACHED | driver.queue_frame.value | BASE_SHARED;

    mmio_write64(its_register(GITS_CBASER), wanted);
    mmio_write64(its_register(GITS_CWRITER), 0);
    driver.written = 0;
    return ((mmio_read64(its_register(GITS_CBASER)) ^ wanted) & BASE_SHARE_ANY) == 0;
}

static void add(uint64_t first, uint64_t second, uint64_t third)
{
    volatile uint64_t *command = driver.queue + driver.written / sizeof *driver.queue;

    command[0] = first;
    command[1] = second;
    command[2] = third;
    command[3] = 0;
    driver.written = (driver.written + COMMAND_BYTES) % BH_PAGE_BYTES;
}

/* Waits until the ITS has executed all commands. An ITS that stalls at a command does not get there. */
static bool run(void)
{
    arch_dsb_sy();
    mmio_write64(its_register(GITS_CWRITER), driver.written);
    return wait_for(its_register(GITS_CREADR), UINT32_MAX, driver.written);
}

/* Maps the messages of function `index`; `table` is memory for the ITS's table of them. */
static bool map_function(uint32_t index, paddr_t table)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_function *function = &manifest_functions(manifest)[index];
    uint64_t device = (uint64_t)function->requester << 32;
    uint64_t core = domain_at(function->domain)->vcpus[0].cpu->index;

    add(COMMAND_MAPD | device, EVENT_BITS - 1, COMMAND_VALID | table.value);
    for (uint32_t event = 0; event < function->messages; event++) {
        uint64_t lpi = BH_FIRST_LPI + index * BH_MAX_MESSAGES + event;

        add(COMMAND_MAPTI | device, lpi << 32 | event, core);
    }
    return run();
}

static bool map_functions(const char **lacks)
{
    const struct manifest_header *manifest = system_manifest();
    uint64_t used = BH_PAGE_BYTES;
    paddr_t frame = {0};

    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *function = &manifest_functions(manifest)[i];

        if (function->messages == 0) {
            continue;
        }
        if (!make_room(function->requester) ||
            (used == BH_PAGE_BYTES && !pool_allocate(system_pool(), &frame))) {
            *lacks = "the pool is exhausted";
            return false;
        }
        used = used == BH_PAGE_BYTES ? 0 : used;
        if (!map_function(i, paddr(frame.value + used))) {
            *lacks = "it does not answer";
            return false;
        }
        used += TABLE_BYTES;
    }
    return true;
}

static bool make_memory(void)
{
    uint8_t *properties;

    if (!pool_allocate(system_pool(), &driver.queue_frame) ||
        !pool_allocate(system_pool(), &driver.properties)) {
        return false;
    }
    driver.queue = pool_pointer(system_pool(), driver.queue_frame);
    properties = pool_pointer(system_pool(), driver.properties);
    memset(properties, LPI_PRIORITY | LPI_ENABLED, BH_PAGE_BYTES);
    return true;
}

enum bh_manifest_error its_init(void)
{
    const struct manifest_header *manifest = system_manifest();
    const char *lacks;

    if (manifest->its.pa == 0) {
        return BH_MANIFEST_ERROR_NONE;
    }
    driver.type = mmio_read64(its_register(GITS_TYPER));
    driver.devices = NULL;
    lacks = missing();
    if (lacks == NULL && !make_memory()) {
        return BH_MANIFEST_ERROR_POOL_EXHAUSTED;
    }
    if (lacks == NULL) {
        lacks = place_tables();
    }
    if (lacks == NULL && !place_queue()) {
        lacks = "its queue is not coherent with caches";
    }
    if (lacks == NULL) {
        mmio_write32(its_register(GITS_CTLR), GITS_CTLR_ENABLED);
        (void)map_functions(&lacks);
    }
    if (lacks != NULL) {
        console_log("ITS: %s", lacks);
        return BH_MANIFEST_ERROR_ITS;
    }
    return BH_MANIFEST_ERROR_NONE;
}

/* Memory for pending LPIs of the core, as device memory: the redistributor accesses it past the caches. */
static paddr_t clear_pending(const struct cpu *cpu)
{
    paddr_t table = paddr(system_manifest()->its.pending_pa + (uint64_t)cpu->index * BH_LPI_PENDING_BYTES);

    for (uint32_t offset = 0; offset < PENDING_BYTES; offset += 8) {
        mmio_write64(paddr(table.value + offset), 0);
    }
    return table;
}

/* Makes the core's number at the ITS that of its collection. */
static bool map_core(const struct cpu *cpu)
{
    paddr_t redistributor = cpu->gic.redistributor;
    uint64_t type = mmio_read64(paddr(redistributor.value + GICR_TYPER));
    uint64_t target =
        (driver.type & TYPER_PTA) != 0 ? redistributor.value : (uint64_t)GICR_TYPER_NUMBER(type) << 16;
    bool done;

    spin_lock(&driver.lock);
    add(COMMAND_MAPC, 0, COMMAND_VALID | target | cpu->index);
    add(COMMAND_SYNC, 0, target);
    done = run();
    spin_unlock(&driver.lock);
    return done;
}

/* Why the core's redistributor cannot deliver LPIs; NULL: it does. */
static const char *enable_lpis(const struct cpu *cpu)
{
    paddr_t base = cpu->gic.redistributor;
    paddr_t control = paddr(base.value + GICR_CTLR);
    uint64_t properties = PROPBASER_CACHED | BASE_SHARED | driver.properties.value | PROPBASER_ID_BITS;

    if ((mmio_read64(paddr(base.value + GICR_TYPER)) & GICR_TYPER_LPIS) == 0) {
        return "a redistributor has no LPIs";
    }
    mmio_write32(control, mmio_read32(control) & ~GICR_CTLR_LPIS);
    if (!wait_for(control, GICR_CTLR_RWP | GICR_CTLR_LPIS, 0)) {
        return "LPIs that a boot loader has enabled cannot be disabled";
    }
    mmio_write64(paddr(base.value + GICR_PROPBASER), properties);
    if (((mmio_read64(paddr(base.value + GICR_PROPBASER)) ^ properties) & BASE_SHARE_ANY) != 0) {
        return "a redistributor is not coherent with caches";
    }
    mmio_write64(paddr(base.value + GICR_PENDBASER),
                 PENDBASER_ZERO | PENDBASER_UNCACHED | clear_pending(cpu).value);
    arch_dsb_sy();
    mmio_write32(control, mmio_read32(control) | GICR_CTLR_LPIS);
    return map_core(cpu) ? NULL : "it does not answer";
}

bool its_cpu_init(const struct cpu *cpu)
{
    const char *lacks = system_manifest()->its.pa == 0 ? NULL : enable_lpis(cpu);

    if (lacks != NULL) {
        console_log("ITS: core %u: %s", cpu->index, lacks);
    }
    return lacks == NULL;
}

/* The priority mask lets only more urgent interrupts pass, which are all others. */
void its_hold_messages(bool hold)
{
    if (system_manifest()->its.pa != 0) {
        sysreg_write(ICC_PMR_EL1, hold ? LPI_PRIORITY : LOWEST_PRIORITY);
        arch_isb();
    }
}
