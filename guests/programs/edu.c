// SPDX-License-Identifier: Apache-2.0
//
// Lets the emulator's device `edu`, a PCI function that copies between its buffer and any address, copy
// memory of this domain, and then attempt foreign memory: other addresses than the domain's own, in turn
// written and read. The hypervisor places the function's BAR, unless the domain has the function's page of
// configuration space as an ordinary device; then the program places the BAR. The device reports no error, so
// the program checks bytes: its own bytes must arrive, and a read of foreign memory must leave zeros or the
// old bytes in the buffer. The program cannot see whether foreign bytes have changed; their owners check
// that. Parameters: `config` [0x3F008000]; `registers` [0x10000000]: address of the BAR if the program places
// it; `foreign` [0x48000000]: the first address; `step` [0x1001000] to the next one; `attempts` [16].
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/console.h"
#include "guests/runtime/edu.h"
#include "guests/runtime/memory.h"
#include "guests/runtime/params.h"
#include "guests/runtime/pci.h"
#include "guests/runtime/program.h"
#include "guests/runtime/timer.h"

enum { piece_bytes = edu_buffer_bytes };

static uint64_t registers;
static uint32_t unfinished; // transfers that have not ended in time

static void wait(void)
{
    uint64_t deadline = timer_now() + device_patience_s * timer_frequency();

    while (edu_is_busy(registers)) {
        if (timer_now() > deadline) {
            unfinished++;
            return;
        }
    }
    cpu_sync_memory();
}

static uint64_t own_address(const volatile uint8_t *bytes)
{
    return mmu_physical((const void *)(uintptr_t)bytes);
}

static void read_memory(uint64_t address)
{
    edu_read(registers, address, piece_bytes);
    wait();
}

static void write_memory(uint64_t address)
{
    edu_write(registers, address, piece_bytes);
    wait();
}

static void fill(volatile uint8_t *bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < piece_bytes; i++)
        bytes[i] = (uint8_t)(1 + (i * 7 + seed) % 255);
}

static uint32_t differing(const volatile uint8_t *a, const volatile uint8_t *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < piece_bytes; i++)
        count += a[i] != b[i];
    return count;
}

void program_main(void)
{
    struct memory_area arena = memory_arena();
    uint64_t config = param("config", 0x3F008000);
    uint64_t foreign = param("foreign", 0x48000000);
    uint64_t step = param("step", 0x1001000);
    uint32_t attempts = (uint32_t)param("attempts", 16);
    volatile uint8_t *source = (volatile uint8_t *)arena.start;
    volatile uint8_t *target = source + piece_bytes;
    uint32_t wrong;
    uint32_t leaked = 0;

    if (mmio_read32(config + pci_id) != edu_id) {
        console_write("edu: there is no such function\n");
        return;
    }
    registers = pci_registers(config);
    if (registers == 0) {
        registers = param("registers", 0x10000000);
        mmio_write32(config + pci_bar_0, (uint32_t)registers);
    }
    pci_enable(config);
    console_write("bulkhead: ready\n");

    fill(source, 3);
    read_memory(own_address(source));
    write_memory(own_address(target));
    wrong = differing(source, target);
    for (uint32_t i = 0; i < attempts; i++) {
        if (i % 2 == 0) {
            write_memory(foreign + i * step);
            continue;
        }
        read_memory(foreign + i * step);
        write_memory(own_address(target));
        for (uint32_t j = 0; j < piece_bytes; j++)
            leaked += target[j] != source[j] && target[j] != 0;
        read_memory(own_address(source)); // the next write has something to write
    }
    fill(source, 101);
    read_memory(own_address(source));
    write_memory(own_address(target));
    wrong += differing(source, target);
    console_printf("report {\"attempts\": %u, \"wrong\": %u, \"leaked\": %u, \"unfinished\": %u}\n", attempts,
                   wrong, leaked, unfinished);
}
