// SPDX-License-Identifier: Apache-2.0
//
// Accesses to emulated devices by instructions that are unusual for devices: pairs, write-back, exclusives,
// atomics, unprivileged and unaligned accesses, maintenance, fetches and table walks. They may end the
// domain; they must not reach the real device. The hypervisor emulates the interrupt controller's
// identification: another value would be the real controller's.
#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/board.h"

#define IIDR         0x08u
#define PRODUCT_MASK 0xFF000FFFu // product and implementer
#define VGIC_PRODUCT 0x4200043Bu

enum {
    instruction_count = 22,
    device_count = 3,
    unaligned_count = 3 * device_count,
};

static const struct {
    probe *instruction;
    bool loads;
} instructions[instruction_count] = {
    {probe_load_pair, true},        {probe_store_pair, false},
    {probe_load_write_back, true},  {probe_store_write_back, false},
    {probe_load_exclusive, true},   {probe_load_acquire, true},
    {probe_store_release, false},   {probe_store_unprivileged, false},
    {probe_exclusive_pair, true},   {probe_atomic_add, true},
    {probe_atomic_swap, true},      {probe_clean_line, false},
    {probe_invalidate_line, false}, {probe_zero_line, false},
    {probe_invalidate_code, false}, {probe_prefetch_load, false},
    {probe_prefetch_store, false},  {probe_load8, true},
    {probe_load16, true},           {probe_load64, true},
    {probe_store8, false},          {probe_store64, false},
};

// One register of each device that can be read, and where writing 0 does no harm.
static uint64_t device(uint32_t n)
{
    const struct board *b = board();
    uint64_t addresses[device_count] = {
        b->gic_distributor.address + IIDR,
        b->gic_redistributor.address + 4, // GICR_IIDR
        b->uart_base + 0x18,              // flags
    };

    return addresses[n];
}

static void try_instruction(uint32_t step)
{
    uint32_t n = step / device_count;
    uint32_t which = step % device_count;
    uint64_t address = device(which) & ~7ull;

    if (n < instruction_count - 5)
        address = device(which);
    catch_start();
    (void)instructions[n].instruction(address, 0);
    note_caught(OUTCOME_EMULATED);
}

// The same instructions with a cacheable mapping: they do not reach the device either.
static void try_as_memory(uint32_t step)
{
    uint32_t n = step / device_count;
    uint64_t at = aim(device(step % device_count) & ~7ull, AIM_MEMORY);

    catch_start();
    (void)instructions[n].instruction(at, 0);
    note_caught(OUTCOME_EMULATED);
}

static void unaligned(uint32_t step)
{
    uint64_t address = device(step % device_count) + 1 + step / device_count;

    catch_start();
    (void)probe_load32(address, 0);
    (void)probe_store32(address, 0);
    (void)probe_load16(address | 1, 0);
    note_caught(OUTCOME_EMULATED);
}

static void fetch(uint32_t step)
{
    uint64_t at = aim(device(step) & ~3ull, AIM_MEMORY);

    catch_start();
    (void)probe_call(at);
    note_caught(OUTCOME_NO_EFFECT);
}

static void walk(uint32_t step)
{
    catch_start();
    (void)probe_walk(device(step) & ~0xFFFull);
    note_caught(OUTCOME_NO_EFFECT);
}

// The identification of the interrupt controller.
static void identify(uint32_t step)
{
    uint64_t found = probe_load32(device(step), 0);

    if ((found & PRODUCT_MASK) != (VGIC_PRODUCT & PRODUCT_MASK))
        note_through(found);
    else
        note(OUTCOME_EMULATED, 1);
}

static const struct attempt attempts[] = {
    {"devices", "instruction", instruction_count *device_count, try_instruction, false},
    {"devices", "as-memory", instruction_count *device_count, try_as_memory, false},
    {"devices", "unaligned", unaligned_count, unaligned, false},
    {"devices", "fetch", device_count, fetch, false},
    {"devices", "table-walk", device_count, walk, false},
    {"devices", "identify", 2, identify, false},
};

const struct attempt_list attempts_devices = {attempts, sizeof(attempts) / sizeof(attempts[0])};
