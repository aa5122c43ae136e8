/* SPDX-License-Identifier: Apache-2.0
 *
 * The SMMU's command queue (IHI 0070, 4). Each call adds its commands and a CMD_SYNC, which the SMMU consumes
 * when all earlier commands are complete, and with them all accesses that used what was invalidated. The
 * queue has room for all commands that can be under way, those of a start, a stop and an unmapping of each
 * domain: a restart waits for the stop, and an unmapping for the previous one. Cores ask without the lock
 * whether commands are done, so a guest that asks all the time does not delay a core that adds some. If the
 * queue is full nevertheless, commands are dropped, and no later ticket is ever done.
 */
#include "core/spinlock.h"
#include "iommu/smmuv3_registers.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include <arch/barrier.h>
#include <stdatomic.h>

#define COMMANDS (1u << SMMU_COMMANDS_LOG2)
#define INDEXES  (2 * COMMANDS - 1) /* an index with its wrap bit */

#define CMD_CFGI_STE       0x03ull
#define CMD_CFGI_STE_RANGE 0x04ull
#define CMD_TLBI_S12_VMALL 0x28ull
#define CMD_TLBI_NSNH_ALL  0x30ull
#define CMD_SYNC           0x46ull
#define CMD_STREAM_SHIFT   32
#define CMD_VMID_SHIFT     32
#define CMD_LEAF           1ull
#define CMD_RANGE_ALL      31ull

_Static_assert(16 * COMMANDS <= BH_PAGE_BYTES, "the queue is a page");
_Static_assert(2 * BH_MAX_STREAMS + BH_MAX_DOMAINS * (1 + 2 + 2) < COMMANDS,
               "room for a start, a stop and an unmapping of each domain");

static struct {
    struct spinlock lock;
    paddr_t place;
    volatile uint64_t *queue;
    _Atomic uint64_t added; /* commands since the start; the low bits are the producer index */
    uint32_t room;          /* while the lock is held: commands that can be added */
    _Atomic bool stopped;   /* the queue was full once */
} commands;

bool smmu_commands_init(void)
{
    commands.added = 0;
    commands.stopped = false;
    if (!pool_allocate(system_pool(), &commands.place)) {
        return false;
    }
    commands.queue = pool_pointer(system_pool(), commands.place);
    return true;
}

void smmu_commands_place(void)
{
    mmio_write64(smmu_register(SMMU_CMDQ_BASE), BASE_ALLOCATE | commands.place.value | SMMU_COMMANDS_LOG2);
    smmu_write(SMMU_CMDQ_PROD, 0);
    smmu_write(SMMU_CMDQ_CONS, 0);
}

/* The number of commands that the SMMU has consumed. Without the lock it may be too small, because another
 * core adds commands meanwhile. */
static uint64_t consumed(void)
{
    uint64_t added = atomic_load(&commands.added);

    return added - (((uint32_t)added - smmu_read(SMMU_CMDQ_CONS)) & INDEXES);
}

static void add(uint64_t first, uint64_t second)
{
    volatile uint64_t *entry = commands.queue + commands.added % COMMANDS * 2;

    if (commands.stopped || commands.room == 0) {
        commands.stopped = true;
        return;
    }
    commands.room--;
    entry[0] = first;
    entry[1] = second;
    commands.added++;
}

static void begin(void)
{
    spin_lock(&commands.lock);
    commands.room = COMMANDS - (uint32_t)(commands.added - consumed());
}

/* The SMMU sees the commands and everything that was stored before. */
static uint64_t end(void)
{
    uint64_t ticket;

    add(CMD_SYNC, 0);
    arch_dsb_sy();
    smmu_write(SMMU_CMDQ_PROD, (uint32_t)commands.added & INDEXES);
    ticket = commands.added;
    spin_unlock(&commands.lock);
    return ticket;
}

uint64_t smmu_commands_forget_all(void)
{
    begin();
    add(CMD_CFGI_STE_RANGE, CMD_RANGE_ALL);
    add(CMD_TLBI_NSNH_ALL, 0);
    return end();
}

static void add_translations(const struct domain *domain)
{
    add(CMD_TLBI_S12_VMALL | VTTBR_VMID(domain->stage2.vttbr) << CMD_VMID_SHIFT, 0);
}

uint64_t smmu_forget(const struct domain *domain)
{
    begin();
    add_translations(domain);
    return end();
}

uint64_t smmu_commands_domain(const struct domain *domain, bool translations)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_stream *streams = manifest_streams(manifest);

    begin();
    for (uint32_t i = 0; i < manifest->streams.count; i++) {
        if (streams[i].domain == domain->index) {
            add(CMD_CFGI_STE | (uint64_t)streams[i].stream << CMD_STREAM_SHIFT, CMD_LEAF);
        }
    }
    if (translations) {
        add_translations(domain);
    }
    return end();
}

bool smmu_is_done(uint64_t ticket)
{
    return !atomic_load(&commands.stopped) && consumed() >= ticket;
}

bool smmu_commands_wait(uint64_t ticket, uint64_t most_ns)
{
    uint64_t deadline = clock_now() + clock_ticks(most_ns);

    while (!smmu_is_done(ticket)) {
        if (commands.stopped || clock_now() > deadline) {
            __atomic_fetch_add(&smmu_status()->unanswered, 1, __ATOMIC_RELAXED);
            return false;
        }
    }
    return true;
}
