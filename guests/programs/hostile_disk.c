// SPDX-License-Identifier: Apache-2.0
//
// A domain that attacks through its NVMe disk: random programs of DMA make the disk access addresses that
// are not the domain's: as data, in lists of pages (PRP), as lists, and as the rings of its queues. Addresses
// are other RAM, the interrupt controller, other devices, and anything in 64 bits. Of the interrupt
// translation service, the frame that controls it and the frame that takes messages are addresses, too. The
// disk reaches the latter, because it is in stage 2 of a domain with message interrupts; data that is written
// there is no message of this domain, which maps none. Lengths are those that the disk accepts and others.
//
// All pages of its own that programs name, and all blocks that they write, hold zeros. So a byte in a block
// or in such a page that is not zero is foreign (`leaked`). After every `check_every` programs the disk has
// to write and read a pattern in memory of the domain (`wrong`: times when it did not). The program cannot
// see whether foreign bytes have changed; their owners check that.
//
// The same seed gives the same programs. Parameters: `config` [0x3F010000]: the function's configuration
// space; `foreign` [0x48000000] and `foreign_mib` [896]: other RAM; `programs` [100000]; `seed` [1];
// `only_reads` [0] (1: programs make the disk read memory, and not write it); `check_every` [256];
// `print_every` [10000].
#include <arch/mmio.h>
#include <arch/mmu.h>

#include "guests/nvme/controller.h"
#include "guests/runtime/console.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/pci.h"
#include "guests/runtime/program.h"
#include "guests/runtime/random.h"
#include "guests/runtime/string.h"
#include "guests/runtime/timer.h"

enum {
    bar_bytes = 16 * 1024,
    class_nvme = 0x010802,

    queue_pages = 4,
    block_bytes = 512,
    blocks_in_page = NVME_PAGE_BYTES / block_bytes,
    entries_in_page = NVME_PAGE_BYTES / 8,
    zero_pages = 64,
    copy_pages = 128,
    copied_blocks = copy_pages * blocks_in_page,
    pattern_block = 0,
    attacked_block = 64, // the first one that programs write
    attacked_blocks = 16384,
    usual_blocks = 32,     // of one program, 16 KiB
    longest_blocks = 2048, // twice of what the disk accepts (MDTS 7)
    its_control = 0x08080000,
    its_messages = 0x08090000, // with GITS_TRANSLATER
    its_frame_bytes = 0x10000,
    board_devices = 0x08000000,
    board_devices_bytes = 0x02000000,
    pci_window = 0x10000000,
    pci_window_bytes = 0x01000000,
    config_bytes = 0x01000000,
};

struct pages {
    uint8_t queues[queue_pages][NVME_PAGE_BYTES];
    uint64_t list[entries_in_page];
    uint64_t copy_list[entries_in_page]; // the pages of `copy` from the second one on
    uint8_t pattern[NVME_PAGE_BYTES];
    uint8_t copy[copy_pages][NVME_PAGE_BYTES];
    uint8_t zeros[zero_pages][NVME_PAGE_BYTES];
};

static struct {
    struct nvme_controller disk;
    struct random random;
    uint64_t config;
    uint64_t foreign;
    uint64_t foreign_bytes;
    uint64_t ram;
    bool only_reads;
    struct pages *pages;
    uint32_t counts[3]; // of programs, by enum nvme_answer
    uint32_t restarts;
    uint32_t wrong;
    uint64_t leaked;
} attack;

static uint64_t any(uint64_t limit)
{
    return random_below(&attack.random, limit);
}

// Whether an access would reach memory or a register of this domain.
static bool is_own(uint64_t address)
{
    uint64_t bar = attack.disk.registers;

    return (address >= attack.ram && address < attack.foreign) ||
           (address >= bar && address < bar + bar_bytes);
}

static uint64_t some_address(void)
{
    switch (any(8)) {
    case 0:
        return random_next(&attack.random);
    case 1:
        return any(1ull << 40);
    case 2:
        return any(2) != 0 ? its_messages : its_control + any(its_frame_bytes);
    case 3:
        return board_devices + any(board_devices_bytes);
    case 4:
        return any(2) != 0 ? pci_window + any(pci_window_bytes) : attack.config + any(config_bytes);
    default:
        return attack.foreign + any(attack.foreign_bytes);
    }
}

// Three of four are addresses of pages: the disk refuses others in lists and for rings. All are multiples of
// a block: the emulator's disk never finishes a transfer of RAM of which less than a block is in a page.
static uint64_t foreign_address(void)
{
    uint64_t mask = any(4) != 0 ? ~(uint64_t)(NVME_PAGE_BYTES - 1) : ~(uint64_t)(block_bytes - 1);
    uint64_t address;

    do {
        address = some_address() & mask;
    } while (is_own(address) || is_own(address + NVME_PAGE_BYTES - 1));
    return address;
}

static uint64_t own_page(void)
{
    return mmu_physical(attack.pages->zeros[any(zero_pages)]);
}

// A list of pages, of which some are foreign, that starts anywhere in its page. If it is longer than the rest
// of its page, the last entry there names the next list.
static uint64_t mixed_list(void)
{
    for (uint32_t i = 0; i < entries_in_page; i++)
        attack.pages->list[i] = any(4) != 0 ? own_page() : foreign_address();
    return mmu_physical(&attack.pages->list[any(2) != 0 ? 0 : any(entries_in_page)]);
}

static uint64_t nonzero_bytes(const uint8_t *bytes, uint64_t count)
{
    const uint64_t *words = (const uint64_t *)(const void *)bytes;
    uint64_t found = 0;

    for (uint64_t i = 0; i < count / sizeof(*words); i++)
        for (uint64_t word = words[i]; word != 0; word >>= 8)
            found += (word & 0xFF) != 0;
    return found;
}

// Reads blocks, at most `copied_blocks`, to `copy`, whose pages are named by `copy_list`.
static bool read_copy(uint64_t first, uint32_t blocks)
{
    uint64_t second =
        blocks <= 2 * blocks_in_page ? attack.pages->copy_list[0] : mmu_physical(attack.pages->copy_list);

    memset(attack.pages->copy[0], 0, blocks * (size_t)block_bytes);
    return nvme_transfer(&attack.disk, nvme_read, first, blocks, mmu_physical(attack.pages->copy[0]),
                         second) == nvme_done;
}

static void start_disk(void)
{
    struct nvme_rings rings = nvme_own_rings(&attack.disk);

    attack.restarts++;
    if (nvme_start(&attack.disk, &rings) != nvme_done)
        attack.wrong++;
}

// Reads the blocks that a program has written. Bytes of them that are not zero are foreign.
static void look_at(uint64_t first, uint32_t blocks)
{
    uint32_t now = 0;

    for (uint32_t done = 0; done < blocks; done += now) {
        now = blocks - done < copied_blocks ? blocks - done : copied_blocks;
        if (read_copy(first + done, now))
            attack.leaked += nonzero_bytes(attack.pages->copy[0], now * (uint64_t)block_bytes);
        else
            attack.wrong++;
    }
}

// What a command has as its second address (NVMe, 4.1.1): the second page of two, or a list of more pages.
static uint64_t second_address(uint64_t first_address, uint32_t blocks)
{
    uint64_t bytes = first_address % NVME_PAGE_BYTES + blocks * (uint64_t)block_bytes;

    if (any(4) == 0)
        return foreign_address();
    return bytes > 2 * NVME_PAGE_BYTES ? mixed_list() : own_page();
}

static enum nvme_answer data_program(void)
{
    uint32_t opcode = any(2) != 0 && !attack.only_reads ? nvme_read : nvme_write;
    uint32_t blocks = 1 + (uint32_t)any(any(64) != 0 ? usual_blocks : longest_blocks);
    uint64_t first = attacked_block + any(attacked_blocks);
    uint64_t prp1 = any(2) != 0 ? foreign_address() : own_page();
    uint64_t prp2 = second_address(prp1, blocks);
    enum nvme_answer answer = nvme_transfer(&attack.disk, opcode, first, blocks, prp1, prp2);

    if (answer == nvme_unanswered || nvme_has_failed(&attack.disk))
        start_disk();
    if (opcode == nvme_write)
        look_at(first, blocks);
    return answer;
}

// Not in the frame that takes messages: the disk writes completions there, and nobody reads them.
static uint64_t ring_address(void)
{
    uint64_t address;

    do {
        address = foreign_address();
    } while (address >= its_messages && address < its_messages + its_frame_bytes);
    return address;
}

// Rings at foreign addresses. The disk reads a command there, or writes a completion.
static enum nvme_answer ring_program(void)
{
    struct nvme_rings rings = nvme_own_rings(&attack.disk);
    uint64_t *all[] = {&rings.admin_submission, &rings.admin_completion, &rings.io_submission,
                       &rings.io_completion};
    enum nvme_answer answer;

    *all[any(4)] = ring_address();
    answer = nvme_start(&attack.disk, &rings);
    if (answer == nvme_done)
        answer = nvme_transfer(&attack.disk, nvme_read, attacked_block, 1, own_page(), 0);
    start_disk();
    return answer;
}

static void honest_transfer(void)
{
    uint64_t pattern = mmu_physical(attack.pages->pattern);

    for (uint32_t i = 0; i < NVME_PAGE_BYTES; i++)
        attack.pages->pattern[i] = (uint8_t)random_next(&attack.random);
    if (nvme_transfer(&attack.disk, nvme_write, pattern_block, blocks_in_page, pattern, 0) != nvme_done ||
        !read_copy(pattern_block, blocks_in_page) ||
        memcmp(attack.pages->pattern, attack.pages->copy[0], NVME_PAGE_BYTES) != 0)
        attack.wrong++;
    attack.leaked += nonzero_bytes(attack.pages->zeros[0], sizeof(attack.pages->zeros));
}

static bool find_disk(void)
{
    attack.config = param("config", 0x3F010000);
    if (mmio_read32(attack.config + pci_class) >> pci_class_shift != class_nvme) {
        console_write("hostile-disk: there is no NVMe disk\n");
        return false;
    }
    pci_enable(attack.config);
    nvme_init(&attack.disk, pci_registers(attack.config), attack.pages->queues,
              device_patience_s * timer_frequency());
    return true;
}

static bool prepare(void)
{
    struct memory_area arena = memory_arena();

    if (arena.bytes < sizeof(*attack.pages)) {
        console_write("hostile-disk: too little memory\n");
        return false;
    }
    attack.pages = (struct pages *)(uintptr_t)arena.start;
    memset(attack.pages->zeros, 0, sizeof(attack.pages->zeros));
    for (uint32_t i = 0; i < entries_in_page; i++)
        attack.pages->copy_list[i] = mmu_physical(attack.pages->copy[(i + 1) % copy_pages]);
    attack.foreign = param("foreign", 0x48000000);
    attack.foreign_bytes = param("foreign_mib", 896) << 20;
    attack.ram = mmu_physical(memory_ram_start());
    attack.only_reads = param("only_reads", 0) != 0;
    attack.random.state = param("seed", 1);
    return find_disk();
}

void program_main(void)
{
    uint64_t programs = param("programs", 100000);
    uint64_t check_every = param("check_every", 256);
    uint64_t print_every = param("print_every", 10000);

    if (!prepare())
        return;
    start_disk();
    console_write("bulkhead: ready\n");
    for (uint64_t i = 0; i < programs; i++) {
        attack.counts[any(64) != 0 || attack.only_reads ? data_program() : ring_program()]++;
        if (check_every != 0 && i % check_every == 0)
            honest_transfer();
        if (print_every != 0 && (i + 1) % print_every == 0)
            console_printf("hostile-disk: %lu programs\n", i + 1);
    }
    honest_transfer();
    console_printf("report {\"programs\": %lu, \"done\": %u, \"refused\": %u, \"unanswered\": %u, "
                   "\"restarts\": %u, \"wrong\": %u, \"leaked\": %lu}\n",
                   programs, attack.counts[nvme_done], attack.counts[nvme_refused],
                   attack.counts[nvme_unanswered], attack.restarts, attack.wrong, attack.leaked);
}
