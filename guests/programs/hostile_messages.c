// SPDX-License-Identifier: Apache-2.0
//
// A domain that attacks through its message interrupts: random commands for its interrupt translation service
// (ITS), random writes to the registers of the ITS and of its redistributor, writes of its core to the page
// that takes messages, and random messages of its NVMe disk, whose MSI-X table the program writes: other
// events, other registers, other devices, other memory.
//
// After every `check_every` attacks the program sets its ITS up again. Then of three messages of the disk
// exactly the one that is mapped must arrive (`wrong`: times when it did not, or others did). The program
// cannot see whether messages arrive elsewhere; other domains check that (`messages.c`).
//
// The same seed gives the same attacks. Parameters: `config` [0x3F010000]: the function's configuration
// space; `its` [0x08080000]: the ITS; `victim` [0x18]: device id of another domain's function; `foreign`
// [0x48000000] and `foreign_mib` [896]: other RAM; `attacks` [20000]; `seed` [1]; `check_every` [64];
// `print_every` [10000].
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/messages/its.h"
#include "guests/nvme/controller.h"
#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/pci.h"
#include "guests/runtime/program.h"
#include "guests/runtime/random.h"
#include "guests/runtime/timer.h"

enum {
    device_shift = 12, // of a function's place in configuration space
    own_events = 8,
    io_message = 1,
    queue_pages = 4,
    lpi_span = 80,        // some beyond the guest's own
    collection_span = 20, // likewise
    core_span = 9,
    board_devices = 0x08000000,
    board_devices_bytes = 0x02000000,
};

struct pages {
    struct its_memory its;
    uint8_t queues[queue_pages][NVME_PAGE_BYTES];
    uint8_t block[NVME_PAGE_BYTES];
};

static struct {
    struct nvme_controller disk;
    struct its its;
    struct random random;
    struct pages *pages;
    uint64_t table; // MSI-X
    uint64_t foreign;
    uint64_t foreign_bytes;
    uint32_t device;
    uint32_t victim;
    uint32_t counts[4]; // of attacks by kind
    uint32_t wrong;
} attack;

static volatile uint32_t arrived[ITS_LPIS];
static volatile uint32_t all_arrived;

void program_interrupt(uint32_t intid)
{
    all_arrived++;
    if (intid >= ITS_FIRST_LPI && intid < ITS_FIRST_LPI + ITS_LPIS)
        arrived[intid - ITS_FIRST_LPI]++;
}

static uint64_t any(uint64_t limit)
{
    return random_below(&attack.random, limit);
}

// Three of four are below `limit`.
static uint32_t mostly(uint32_t limit)
{
    return (uint32_t)(any(4) != 0 ? any(limit) : random_next(&attack.random));
}

static uint64_t some_device(void)
{
    switch (any(4)) {
    case 0:
        return attack.victim;
    case 1:
        return mostly(256);
    default:
        return attack.device;
    }
}

static uint64_t some_address(void)
{
    switch (any(4)) {
    case 0:
        return random_next(&attack.random);
    case 1:
        return board_devices + any(board_devices_bytes);
    case 2:
        return attack.foreign + any(attack.foreign_bytes);
    default:
        return mmu_physical(&attack.pages->its) + any(sizeof(attack.pages->its));
    }
}

static void attack_by_command(void)
{
    static const uint8_t opcodes[] = {its_movi,  its_int,  its_clear, its_sync,   its_mapd,   its_mapc,
                                      its_mapti, its_mapi, its_inv,   its_invall, its_movall, its_discard};
    uint64_t opcode = any(16) != 0 ? opcodes[any(sizeof(opcodes))] : any(256);
    uint64_t second = mostly(own_events) | (uint64_t)(ITS_FIRST_LPI + mostly(lpi_span)) << 32;
    uint64_t third = mostly(collection_span) | any(core_span) << 16 | any(2) << 63;
    uint64_t command[ITS_COMMAND_WORDS] = {some_device() << 32 | opcode, second, third,
                                           random_next(&attack.random)};

    if (opcode == its_mapd) {
        command[1] = mostly(6);
        command[2] = (some_address() & ~0xFFull) | any(2) << 63;
    }
    (void)its_do(&attack.its, command);
}

// Queues of random memory are short, with few exceptions: the guest itself waits for all of their commands.
static uint64_t some_queue(void)
{
    return (some_address() & ~0xFFFull) | any(any(64) != 0 ? 4 : 256) | any(4) << 62;
}

static void attack_by_register(void)
{
    uint64_t registers = attack.its.registers;
    uint64_t redistributor = attack.its.redistributor;

    switch (any(8)) {
    case 0:
        mmio_write32(registers + gits_ctlr, (uint32_t)any(2));
        break;
    case 1:
        mmio_write64(registers + gits_cbaser, some_queue());
        break;
    case 2:
        mmio_write64(registers + gits_cwriter, mostly(8192));
        break;
    case 3:
        mmio_write64(registers + gits_baser + 8 * any(8), some_queue());
        break;
    case 4:
        mmio_write32(redistributor + gicr_ctlr, (uint32_t)any(2));
        break;
    case 5:
        mmio_write64(redistributor + (any(2) != 0 ? gicr_propbaser : gicr_pendbaser), some_address());
        break;
    case 6:
        mmio_write32(registers + any(ITS_FRAME_BYTES / 4) * 4, (uint32_t)random_next(&attack.random));
        break;
    default:
        (void)mmio_read32(registers + any(ITS_FRAME_BYTES / 4) * 4);
        break;
    }
}

static void attack_by_core(void)
{
    mmio_write32(attack.its.registers + (any(4) != 0 ? ITS_TRANSLATER : ITS_FRAME_BYTES + any(1024) * 4),
                 mostly(own_events));
}

static void read_block(void)
{
    (void)nvme_transfer(&attack.disk, nvme_read, 0, 1, mmu_physical(attack.pages->block), 0);
}

static void attack_by_message(void)
{
    uint64_t address = any(2) != 0 ? attack.its.registers + ITS_TRANSLATER : some_address() & ~3ull;

    msix_set(attack.table, io_message, address, mostly(2 * own_events));
    read_block();
}

static void take_interrupts(void)
{
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
}

static void send(uint32_t event)
{
    msix_set(attack.table, io_message, attack.its.registers + ITS_TRANSLATER, event);
    read_block();
    take_interrupts();
}

// Sets all up as an honest guest does, with half of the events mapped. Then the disk sends an event that is
// not mapped, one that the function does not have, and one that is mapped. Exactly the last one must arrive.
static void check(void)
{
    uint64_t deadline = timer_now() + device_patience_s * timer_frequency();
    uint32_t before;

    if (!its_start(&attack.its) || !its_map(&attack.its, attack.device, own_events / 2, ITS_FIRST_LPI)) {
        attack.wrong++;
        return;
    }
    take_interrupts();
    before = all_arrived;
    arrived[io_message] = 0;
    send(own_events / 2);
    send(own_events);
    send(io_message);
    while (arrived[io_message] == 0 && timer_now() < deadline)
        take_interrupts();
    attack.wrong += arrived[io_message] != 1 || all_arrived != before + 1;
}

static bool prepare(uint64_t config)
{
    struct memory_area arena = memory_arena();
    uint64_t start = (arena.start + ITS_PAGE_BYTES - 1) & ~(uint64_t)(ITS_PAGE_BYTES - 1);
    struct nvme_rings rings;

    if (!gic_init() || start + sizeof(*attack.pages) > arena.start + arena.bytes)
        return false;
    attack.pages = (struct pages *)(uintptr_t)start;
    attack.its.registers = param("its", 0x08080000);
    attack.its.memory = &attack.pages->its;
    attack.device = (uint32_t)(config >> device_shift) & 0xFF;
    attack.victim = (uint32_t)param("victim", 0x18);
    attack.foreign = param("foreign", 0x48000000);
    attack.foreign_bytes = param("foreign_mib", 896) << 20;
    attack.random.state = param("seed", 1);
    pci_enable(config);
    attack.table = msix_enable(config);
    if (attack.table == 0 || !its_start(&attack.its))
        return false;
    nvme_init(&attack.disk, pci_registers(config), attack.pages->queues,
              device_patience_s * timer_frequency());
    attack.disk.interrupts = true;
    rings = nvme_own_rings(&attack.disk);
    return nvme_start(&attack.disk, &rings) == nvme_done;
}

void program_main(void)
{
    static void (*const kinds[])(void) = {attack_by_command, attack_by_register, attack_by_core,
                                          attack_by_message};
    uint64_t attacks = param("attacks", 20000);
    uint64_t check_every = param("check_every", 64);
    uint64_t print_every = param("print_every", 10000);

    if (!prepare(param("config", 0x3F010000))) {
        console_write("hostile-messages: there is no NVMe disk with message interrupts\n");
        return;
    }
    console_write("bulkhead: ready\n");
    for (uint64_t i = 0; i < attacks; i++) {
        uint64_t kind = any(4);

        kinds[kind]();
        attack.counts[kind]++;
        take_interrupts();
        if (check_every != 0 && i % check_every == 0)
            check();
        if (print_every != 0 && (i + 1) % print_every == 0)
            console_printf("hostile-messages: %lu attacks\n", i + 1);
    }
    check();
    console_printf("report {\"attacks\": %lu, \"commands\": %u, \"registers\": %u, \"writes\": %u, "
                   "\"messages\": %u, \"arrived\": %u, \"wrong\": %u}\n",
                   attacks, attack.counts[0], attack.counts[1], attack.counts[2], attack.counts[3],
                   all_arrived, attack.wrong);
}
