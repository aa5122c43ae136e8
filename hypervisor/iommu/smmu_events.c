/* SPDX-License-Identifier: Apache-2.0
 *
 * Events and global errors of the SMMU (IHI 0070, 7), on the console core. An interrupt only disables the
 * SMMU's interrupts and sets an alarm. The alarm handles a bounded number of events. If some are left, it
 * comes again after the same time; otherwise it enables the interrupts. So devices that are refused all the
 * time cost the core one bounded step in each interval, whatever they do. Events that find no room in the
 * queue are lost, and EL2 counts how often that happened.
 */
#include "console/console.h"
#include "iommu/smmu.h"
#include "iommu/smmu_registers.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include <arch/barrier.h>
#include <arch/gic.h>
#include <string.h>

#define EVENTS  (1u << SMMU_EVENTS_LOG2)
#define INDEXES (2 * EVENTS - 1) /* an index with its wrap bit */
#define WORDS   4u               /* of an event */

#define EVENTS_OF_A_STEP 16u
#define STEP_INTERVAL_NS 500000ull

#define EVENT_TYPE(word0)   ((uint32_t)(word0)&0xFFu)
#define EVENT_STREAM(word0) ((uint32_t)((word0) >> 32))
#define EVENT_READ(word1)   (((word1) >> 35 & 1) != 0)
#define F_TRANSLATION       0x10u
#define F_ADDR_SIZE         0x11u
#define F_ACCESS            0x12u
#define F_PERMISSION        0x13u

_Static_assert(8 * WORDS * EVENTS <= BH_PAGE_BYTES, "the queue is a page");

static struct {
    paddr_t place;
    volatile uint64_t *queue;
    uint32_t next;          /* consumer index with its wrap bit */
    uint32_t overflow;      /* EVENTQ_OVERFLOW as acknowledged */
    uint32_t logged_errors; /* bits of GERROR that have been logged */
    bool logged_nobody;
    bool logged[BH_MAX_STREAMS]; /* a refusal of that stream of the manifest has been logged */
} events;

bool smmu_events_init(void)
{
    memset(&events, 0, sizeof events);
    if (!pool_allocate(system_pool(), &events.place)) {
        return false;
    }
    events.queue = pool_pointer(system_pool(), events.place);
    return true;
}

void smmu_events_place(void)
{
    mmio_write64(smmu_register(SMMU_EVENTQ_BASE), BASE_ALLOCATE | events.place.value | SMMU_EVENTS_LOG2);
    smmu_write(SMMU_EVENTQ_PROD, 0);
    smmu_write(SMMU_EVENTQ_CONS, 0);
}

static const char *reason(uint32_t type)
{
    return type == F_TRANSLATION  ? "not its memory"
           : type == F_PERMISSION ? "not writable"
           : type == F_ADDR_SIZE  ? "address too large"
                                  : "it could not be translated";
}

/* The stream's row in the manifest; the number of rows if no domain has it. */
static uint32_t row_of(uint32_t stream)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t row = 0;

    while (row < manifest->streams.count && manifest_streams(manifest)[row].stream != stream) {
        row++;
    }
    return row;
}

static void take_event(const volatile uint64_t *event)
{
    const struct manifest_header *manifest = system_manifest();
    struct status_smmu *status = smmu_status();
    uint32_t type = EVENT_TYPE(event[0]);
    uint32_t stream = EVENT_STREAM(event[0]);
    uint32_t row = row_of(stream);
    uint64_t address = event[2];
    bool read = EVENT_READ(event[1]);
    uint32_t domain;

    status->last_type = type;
    status->last_stream = stream;
    status->last_address = address;
    if (row == manifest->streams.count) {
        status->nobody++;
        if (!events.logged_nobody) {
            events.logged_nobody = true;
            console_log("SMMU: stream %x, which no domain has, is refused (event %x); counted from now on",
                        stream, type);
        }
        return;
    }
    domain = manifest_streams(manifest)[row].domain;
    if (type < F_TRANSLATION || type > F_PERMISSION) {
        status->other++; /* a table or an entry could not be read: not the device's fault */
    } else {
        status->refused[domain]++;
    }
    if (!events.logged[row]) {
        events.logged[row] = true;
        console_log("SMMU: stream %x of '%s': %s of %lx is refused, %s (event %x); counted from now on",
                    stream, manifest_domains(manifest)[domain].name, read ? "read" : "write", address,
                    reason(type), type);
    }
}

/* Handles at most `most` events. Returns whether some are left. */
static bool take_events(uint32_t most)
{
    uint32_t prod = smmu_read(SMMU_EVENTQ_PROD);

    if (((prod & EVENTQ_OVERFLOW) ^ events.overflow) != 0) {
        events.overflow = prod & EVENTQ_OVERFLOW;
        smmu_status()->overflows++;
    }
    arch_dsb_sy(); /* events are read after the index */
    for (uint32_t i = 0; i < most && events.next != (prod & INDEXES); i++) {
        take_event(events.queue + (size_t)(events.next % EVENTS) * WORDS);
        events.next = (events.next + 1) & INDEXES;
    }
    arch_dsb_sy(); /* and before their room is given back */
    smmu_write(SMMU_EVENTQ_CONS, events.overflow | events.next);
    /* The SMMU interrupts when an empty queue gets an event. One that came since the first look found the
     * queue not empty, so only a second look finds that event. */
    return events.next != (smmu_read(SMMU_EVENTQ_PROD) & INDEXES);
}

/* An error of the command queue is not acknowledged: the SMMU executes no more commands, so no domain with a
 * stream is restarted. All others are only counted and logged once each; the SMMU aborts what it cannot do.
 */
static void take_errors(void)
{
    uint32_t acknowledged = smmu_read(SMMU_GERRORN);
    uint32_t active = smmu_read(SMMU_GERROR) ^ acknowledged;
    uint32_t unseen = active & ~(events.logged_errors & GERROR_CMDQ_ERR);

    if (unseen == 0) {
        return;
    }
    smmu_status()->global_errors++;
    smmu_status()->last_error = unseen;
    if ((unseen & ~events.logged_errors) != 0) {
        events.logged_errors |= unseen;
        console_log("SMMU: global error (GERROR %x)%s; counted from now on", unseen,
                    (unseen & GERROR_CMDQ_ERR) != 0         ? ": it executes no more commands"
                    : (unseen & GERROR_SFM_ERR) != 0        ? ": it aborts all accesses"
                    : (unseen & GERROR_EVENTQ_ABT_ERR) != 0 ? ": events are lost"
                                                            : "");
    }
    smmu_write(SMMU_GERRORN, acknowledged ^ (active & ~GERROR_CMDQ_ERR));
}

static void set_alarm(void)
{
    rare_alarm_set(RARE_ALARM_SMMU, clock_now() + clock_ticks(STEP_INTERVAL_NS));
}

static void enable_interrupts(uint64_t mpidr)
{
    gic_enable(system_manifest()->smmu.event_irq, mpidr);
    gic_enable(system_manifest()->smmu.error_irq, mpidr);
}

/* The SMMU's interrupts are edges (IHI 0070, 3.18). What came before they were enabled is found by the first
 * alarm. */
void smmu_start(const struct cpu *cpu)
{
    const struct manifest_smmu *config = &system_manifest()->smmu;

    if (config->pa == 0) {
        return;
    }
    gic_set_edge(config->event_irq, true);
    gic_set_edge(config->error_irq, true);
    smmu_write(SMMU_IRQ_CTRL, IRQ_GERROR | IRQ_EVENTQ);
    if (!smmu_wait(smmu_register(SMMU_IRQ_CTRLACK), UINT32_MAX, IRQ_GERROR | IRQ_EVENTQ, SMMU_RUN_WAIT_NS)) {
        smmu_status()->unanswered++;
        console_log("SMMU: it does not answer, refused accesses may go unnoticed");
    }
    enable_interrupts(cpu->mpidr);
    set_alarm();
}

bool smmu_interrupt(uint32_t intid)
{
    const struct manifest_smmu *config = &system_manifest()->smmu;

    if (config->pa == 0 || (intid != config->event_irq && intid != config->error_irq)) {
        return false;
    }
    gic_disable(config->event_irq);
    gic_disable(config->error_irq);
    smmu_status()->interrupts++;
    set_alarm();
    return true;
}

/* An event that comes after the last look, at an empty queue, makes its interrupt pending. */
void smmu_alarm(void)
{
    take_errors();
    if (take_events(EVENTS_OF_A_STEP)) {
        set_alarm();
    } else {
        enable_interrupts(this_cpu()->mpidr);
    }
}

void smmu_end(void)
{
    const struct manifest_header *manifest = system_manifest();

    if (smmu_status() == NULL) {
        return;
    }
    take_errors();
    (void)take_events(EVENTS);
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        if (smmu_status()->refused[i] != 0) {
            console_log("SMMU: %lu accesses of devices of '%s' were refused, or more if events were lost",
                        smmu_status()->refused[i], manifest_domains(manifest)[i].name);
        }
    }
}
