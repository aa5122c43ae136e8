/* SPDX-License-Identifier: Apache-2.0
 *
 * Events and global errors of an SMMUv3 (IHI 0070, 7), on the console core. Events that find no room in the
 * queue are lost, and EL2 counts how often that happened.
 */
#include "console/console.h"
#include "iommu/smmuv3_registers.h"
#include <arch/barrier.h>
#include <string.h>

#define EVENTS  (1u << SMMU_EVENTS_LOG2)
#define INDEXES (2 * EVENTS - 1) /* an index with its wrap bit */
#define WORDS   4u               /* of an event */

#define EVENT_TYPE(word0)   ((uint32_t)(word0)&0xFFu)
#define EVENT_STREAM(word0) ((uint32_t)((word0) >> 32))
#define EVENT_READ(word1)   (((word1) >> 35 & 1) != 0)
#define F_UUT               0x01u
#define F_BAD_ATS_TREQ      0x05u
#define F_TRANSL_FORBIDDEN  0x07u
#define C_BAD_SUBSTREAMID   0x08u
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

/* NULL: a table or an entry could not be read, which is not the device's fault. */
static const char *reason(uint32_t type)
{
    return type == F_TRANSLATION                                  ? "not its memory"
           : type == F_PERMISSION                                 ? "not writable"
           : type == F_ADDR_SIZE                                  ? "address too large"
           : type == F_ACCESS                                     ? "not accessible"
           : type == F_BAD_ATS_TREQ || type == F_TRANSL_FORBIDDEN ? "translated by the device"
           : type == C_BAD_SUBSTREAMID                            ? "with a substream"
           : type == F_UUT                                        ? "of a kind that it does not know"
                                                                  : NULL;
}

static void take_event(const volatile uint64_t *event)
{
    uint32_t type = EVENT_TYPE(event[0]);
    struct smmu_refusal refusal = {
        .type = type,
        .stream = EVENT_STREAM(event[0]),
        .domain = SMMU_OF_STREAM,
        .address = event[2],
        .read = EVENT_READ(event[1]),
        .reason = reason(type),
    };

    smmu_count(&refusal);
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
    smmu_status()->overflows += (unseen & GERROR_EVENTQ_ABT_ERR) != 0;
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

bool smmu_take(uint32_t most)
{
    take_errors();
    return take_events(most);
}

/* The SMMU's interrupts are edges (IHI 0070, 3.18). */
bool smmu_listen(bool *edge)
{
    *edge = true;
    smmu_write(SMMU_IRQ_CTRL, IRQ_GERROR | IRQ_EVENTQ);
    return smmu_wait(smmu_register(SMMU_IRQ_CTRLACK), UINT32_MAX, IRQ_GERROR | IRQ_EVENTQ, SMMU_RUN_WAIT_NS);
}
