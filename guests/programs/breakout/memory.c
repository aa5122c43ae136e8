// SPDX-License-Identifier: Apache-2.0
//
// Wild addresses: other domains' frames, the hypervisor's pool, the load area, the real interrupt controller,
// devices of others, the ends of the address space; by load, store, fetch, table walk and maintenance.
// Nothing is mapped there, so an access that completes has got through: its value is the evidence.
#include "guests/runtime/memory.h"
#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/board.h"
#include "guests/runtime/random.h"

#define PAGE   0x1000ull
#define CANARY 0x5AC3D21EE4B70F96ull

// Guest-physical addresses. The end of the domain's own memory is added, and steps through all of what may be
// RAM.
static const uint64_t fixed[] = {
    0x0,       // boot flash
    0x8010000, // the GIC's other frames: physical CPU interface, hypervisor interface, ITS
    0x8030000,
    0x8080000,
    0x80E0000, // redistributors of cores that are not the own VCPUs'
    0x9010000, // clock, firmware configuration, power, secure UART
    0x9020000,
    0x9030000,
    0x9040000,
    0xA000000, // devices of the bus
    0x10000000,
    0x3F000000,
    0x3FFFF000,
    0xBFFFF000,
    0xC0000000,
    0x100000000,
    0x200000000,
    0xFF000000, // devices of other boards
    0xFFFFF000,
    0x8000000000 - PAGE, // the end of the addresses that stage 2 can translate, and beyond it
    0x8000000000,
    0x4000000000,
    0x6000000000, // EL2's own addresses: pool, windows
    0x10000000000 - PAGE,
    0x10000000000,
    0x800000000000,
    0x1000000000000 - PAGE,
};

enum {
    fixed_count = sizeof(fixed) / sizeof(fixed[0]),
    around_own = 2, // just before and just after
    ram_stride_log2 = 26,
    ram_steps = 30, // of 64 MiB
    all_addresses = fixed_count + around_own + ram_steps,
    some_addresses = fixed_count + around_own,
};

static bool is_own(uint64_t address)
{
    for (uint32_t i = 0; i < board()->ram_count; i++) {
        if (address - board()->ram[i].address < board()->ram[i].size)
            return true;
    }
    return false;
}

// The result is never in the domain's own memory.
static uint64_t address_of(uint32_t step)
{
    const struct dt_range *own = &board()->ram[0];
    uint64_t address;

    if (step < fixed_count)
        return fixed[step];
    if (step == fixed_count)
        return own->address - PAGE;
    if (step == fixed_count + 1)
        return own->address + own->size;
    address = own->address + ((uint64_t)(step - some_addresses + 1) << ram_stride_log2) + (step % 8) * PAGE;
    return is_own(address) ? address + own->size : address;
}

static void access(uint32_t step, probe *instruction, enum aim as)
{
    uint64_t at = aim(address_of(step), as);

    catch_start();
    uint64_t found = instruction(at, CANARY);
    uint32_t caught = catch_stop();
    if (caught != 0)
        note(OUTCOME_FAULT, 1); // beyond what stage 1 translates
    else
        note_through(found);
}

static void load(uint32_t step)
{
    access(step, probe_load64, AIM_DEVICE);
}

static void load_cached(uint32_t step)
{
    access(step, probe_load8, AIM_MEMORY);
}

static void store(uint32_t step)
{
    access(step, probe_store64, AIM_DEVICE);
}

static void store_cached(uint32_t step)
{
    access(step, probe_store32, AIM_MEMORY);
}

static void exclusive(uint32_t step)
{
    access(step, probe_exclusive_pair, AIM_MEMORY);
}

static void zero_line(uint32_t step)
{
    access(step, probe_zero_line, AIM_MEMORY);
}

static void fetch(uint32_t step)
{
    uint64_t at = aim(address_of(step) & ~3ull, AIM_MEMORY);

    catch_start();
    (void)probe_call(at);
    if (catch_stop() != 0 && catch_class() != 0)
        note(OUTCOME_FAULT, 1); // the fetch faults in stage 1
    else
        note_through(at); // an instruction there was executed
}

static void walk(uint32_t step)
{
    uint64_t table = address_of(step) & ~0xFFFull & 0xFFFFFFFFFFFFull;

    catch_start();
    (void)probe_walk(table);
    // A table walk in memory that is not mapped in stage 2 cannot end in an ordinary translation fault.
    if (catch_stop() != 0 && table >= 1ull << 40)
        note(OUTCOME_FAULT, 1);
    else
        note_through(table);
}

// Maintenance does not tell whether a line exists. It must neither return a value, nor change other domains'
// memory, which the witness would detect.
static void without_data(uint32_t step, probe *instruction)
{
    uint64_t at = aim(address_of(step), AIM_MEMORY);

    catch_start();
    (void)instruction(at, 0);
    note_caught(OUTCOME_NO_EFFECT);
}

static void clean(uint32_t step)
{
    without_data(step, probe_clean_line);
}

static void invalidate(uint32_t step)
{
    without_data(step, probe_invalidate_line);
}

static void invalidate_code(uint32_t step)
{
    without_data(step, probe_invalidate_code);
}

static void prefetch(uint32_t step)
{
    without_data(step, step % 2 == 0 ? probe_prefetch_load : probe_prefetch_store);
}

// The domain's own page tables must yield guest-physical addresses, whatever those are mapped to.
static void translate(uint32_t step)
{
    uint64_t ipa = address_of(step);
    uint64_t at = aim(ipa, AIM_MEMORY);

    catch_start();
    uint64_t answer = probe_translate(at, 0);
    if (catch_stop() != 0 || (answer & 1) != 0)
        note(OUTCOME_FAULT, 1);
    else if ((answer & 0xFFFFFFFFF000) != (ipa & 0xFFFFFFFFF000))
        note_through(answer);
    else
        note(OUTCOME_OWN, 1);
}

// Memory that was never written must not contain the pattern of the witness in the other domain.
static void search(uint32_t step)
{
    struct memory_area area = memory_arena();
    const uint64_t *words = (const uint64_t *)(uintptr_t)area.start;
    uint64_t seed = step + 1; // the parameter of the witness
    uint64_t found = 0;

    for (uint64_t i = 0; i < area.bytes / sizeof(*words); i++) {
        for (uint64_t pattern = 0; pattern < 4; pattern++)
            found += words[i] == random_mix(seed ^ pattern << 40) ? 1 : 0;
    }
    if (found != 0)
        note_through(found);
    else
        note(OUTCOME_NO_EFFECT, 1);
}

static const struct attempt attempts[] = {
    {"memory", "load", all_addresses, load, false},
    {"memory", "load-cached", some_addresses, load_cached, false},
    {"memory", "store", all_addresses, store, false},
    {"memory", "store-cached", some_addresses, store_cached, false},
    {"memory", "exclusive", some_addresses, exclusive, false},
    {"memory", "zero-line", some_addresses, zero_line, false},
    {"memory", "fetch", all_addresses, fetch, false},
    {"memory", "table-walk", some_addresses, walk, false},
    {"memory", "clean-line", all_addresses, clean, false},
    {"memory", "invalidate-line", all_addresses, invalidate, false},
    {"memory", "invalidate-code", some_addresses, invalidate_code, false},
    {"memory", "prefetch", all_addresses, prefetch, false},
    {"memory", "translate", all_addresses, translate, false},
    {"memory", "search-own", 8, search, false},
};

const struct attempt_list attempts_memory = {attempts, sizeof(attempts) / sizeof(attempts[0])};
