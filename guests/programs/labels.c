// SPDX-License-Identifier: Apache-2.0
//
// A domain that tries to use other domains' partitions (MPAM, docs/design/mpam.md). On all VCPUs it writes
// PARTIDs and groups to MPAM1_EL1 and MPAM0_EL1, its own and others', and loads and stores under each; the
// first VCPU reports after the first sweep over them. After it they keep the PARTID `wanted`. Before it the
// first VCPU accesses registers of a component. That ends the domain unless stage 2 maps them, so each life
// makes one access; a counter in memory that a restart does not clear says which is next. Parameters:
// `labels` in a sweep [320], `walk_kib` under each of them [16], `wanted`: the PARTID to keep [0: none, one
// sweep follows the other], `storm_cpus`: VCPUs from the first on that only write the registers, in sweeps
// [0], `after_us` [0]: delay in which other domains start, `page`: address of a component's registers [0:
// none], `accesses` to them [32].
#include <arch/mmio.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/exception.h"
#include "guests/runtime/lines.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/ticks.h"
#include "guests/runtime/timer.h"

#define MAGIC          0x736C6562616C4D50ull
#define MPAMCFG_SELECT 0x0100u /* MPAMCFG_PART_SEL */
#define MPAMCFG_BITMAP 0x1000u /* MPAMCFG_CPBM0 */

enum {
    vector_synchronous = 4, // from EL1 with its own stack pointer
    class_shift = 26,
    class_undefined = 0,
    exact = 64, // the first that many PARTIDs are all tried; then values spread over all 16 bits
    spread = 257,
    page_mask = 0xFFFC,
    page_stride = 0x1014, // the next access is in the next 4 KiB, at another word; all words in turn
    pages = 16,
    start_bytes = 4096, // bytes of the arena for state that a restart keeps
};

// State that a restart keeps, at the start of the arena.
struct lives {
    uint64_t magic;
    uint64_t next; // access to the component's registers
};

// State of one VCPU; on lines of its own, since other VCPUs count at the same time.
static struct self {
    uint64_t tried;
    uint64_t undefined; // accesses
    uint64_t taken;     // labels that the register showed
    bool expects;
    uint8_t reserved[39];
} __attribute__((aligned(64))) selves[BOARD_MAX_CPUS];

static struct memory_area buffer;
static uint64_t line_bytes;
static uint64_t labels;
static uint64_t walk_bytes;
static uint64_t wanted;
static uint64_t storm_cpus;
static uint64_t storm_from;
static uint32_t cpu_count;

bool program_exception(struct exception_frame *frame, uint64_t vector)
{
    struct self *self = &selves[smp_self()];

    if (vector != vector_synchronous || !self->expects ||
        sysreg_read(ESR_EL1) >> class_shift != class_undefined)
        return false;
    self->undefined++;
    frame->elr += 4;
    return true;
}

// The same label for data and instructions.
static uint64_t label(uint64_t partid, uint64_t group)
{
    return group << 40 | group << 32 | partid << 16 | partid;
}

static uint64_t partid_at(uint64_t n)
{
    return (n < exact ? n : (n - exact) * spread) & 0xFFFF;
}

static void choose(struct self *self, uint64_t value)
{
    uint64_t before = self->undefined;
    uint64_t found;

    self->expects = true;
    sysreg_write(MPAM0_EL1, value);
    sysreg_write(MPAM1_EL1, value);
    cpu_sync_context();
    found = sysreg_read(MPAM1_EL1);
    self->expects = false;
    self->tried++;
    if (self->undefined == before && (found & 0xFFFFFFFFFFFFull) == value)
        self->taken++;
}

// All lines of the buffer are loaded and stored in turn, a piece under each label.
static void sweep(uint32_t cpu)
{
    uint64_t bytes = buffer.bytes / cpu_count / walk_bytes * walk_bytes;
    uint64_t first = buffer.start + cpu * bytes;

    for (uint64_t n = 0; n < labels; n++) {
        uint64_t at = first + n * walk_bytes % bytes;

        choose(&selves[cpu], label(partid_at(n), n & 0xFF));
        if (cpu >= storm_cpus)
            lines_touch(at, at + walk_bytes, line_bytes);
    }
}

static void keep_wanted(uint32_t cpu)
{
    uint64_t bytes = buffer.bytes / cpu_count / line_bytes * line_bytes;
    uint64_t first = buffer.start + cpu * bytes;

    choose(&selves[cpu], label(wanted, 0));
    for (;;)
        lines_touch(first, first + bytes, line_bytes);
}

static void identify(void)
{
    struct self *self = &selves[0];
    uint64_t identity;

    self->expects = true;
    identity = sysreg_read(MPAMIDR_EL1);
    self->expects = false;
    if (self->undefined != 0)
        identity = 0;
    console_printf("report {\"identity\": %lu, \"features\": %lu, \"labels\": %lu, \"undefined\": %lu, "
                   "\"taken\": %lu}\n",
                   identity, sysreg_read(ID_AA64PFR0_EL1) >> 40 & 15, self->tried, self->undefined,
                   self->taken);
}

// All portions for each partition, however many there are.
static void seize_portions(uint64_t page)
{
    for (uint32_t partid = 0; partid < exact; partid++) {
        mmio_write32(page + MPAMCFG_SELECT, partid);
        mmio_write32(page + MPAMCFG_BITMAP, UINT32_MAX);
    }
}

static void access_component(uint64_t page, uint64_t n)
{
    uint64_t at = page + (n * page_stride & page_mask);

    if (n / pages % 2 == 0)
        (void)mmio_read32(at);
    else
        mmio_write32(at, UINT32_MAX);
}

static void try_component(uint64_t page, uint64_t accesses)
{
    struct lives *lives = (struct lives *)(uintptr_t)buffer.start;

    if (lives->magic != MAGIC)
        *lives = (struct lives){.magic = MAGIC};
    while (lives->next <= accesses) {
        uint64_t n = lives->next++;

        cpu_sync_memory();
        if (n < accesses)
            access_component(page, n);
        else
            seize_portions(page);
        console_printf("labels: access %lu has ended nothing\n", n);
    }
    console_printf("labels: %lu accesses to the component's registers\n", lives->next);
}

static void attack(uint32_t cpu)
{
    while (timer_now() < storm_from) {
    }
    for (bool first = true;; first = false) {
        sweep(cpu);
        if (cpu == 0 && first)
            identify();
        if (wanted != 0 && cpu >= storm_cpus)
            keep_wanted(cpu);
    }
}

void program_secondary(uint32_t cpu)
{
    while (__atomic_load_n(&cpu_count, __ATOMIC_ACQUIRE) == 0) {
    }
    attack(cpu);
}

void program_main(void)
{
    uint64_t page = param("page", 0);
    uint32_t started;

    buffer = memory_arena();
    line_bytes = lines_bytes();
    labels = param("labels", exact + 256);
    walk_bytes = param("walk_kib", 16) * 1024;
    wanted = param("wanted", 0);
    storm_cpus = param("storm_cpus", 0);
    storm_from = timer_now() + ns_to_ticks(param("after_us", 0) * 1000, timer_frequency());
    if (page != 0)
        try_component(page, param("accesses", 32));
    buffer.start += start_bytes;
    buffer.bytes -= start_bytes;
    started = smp_start();
    if (walk_bytes == 0 || buffer.bytes / started < walk_bytes) {
        console_write("labels: no memory to walk\n");
        return;
    }
    console_write("bulkhead: ready\n");
    __atomic_store_n(&cpu_count, started, __ATOMIC_RELEASE);
    attack(0);
}
