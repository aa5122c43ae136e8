// SPDX-License-Identifier: Apache-2.0
//
// Whether maintenance has its effect, whoever executes it. By every instruction that invalidates translations
// a page is moved from one place in memory to another, on this VCPU and, where the instruction affects them,
// on all. `wrong` counts accesses that still reach the old place. `stale` counts how often the old
// translation was still used before the instruction: only then did the instruction have anything to do. Then
// code is changed and called, with each way of invalidating it; a line is cleaned that is not mapped, which a
// core refuses (`clean_refused`; an emulator may not); and a page is unmapped and mapped again at the fault,
// as a kernel does it, `rounds` times: `fault_ticks` in all. Parameter: `rounds`.
#include <arch/mmu.h>
#include <arch/remap_probes.h>
#include <arch/sysreg.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/exception.h"
#include "guests/runtime/params.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"
#include "guests/runtime/timer.h"

#define IN_FIRST    0x1111u
#define IN_SECOND   0x2222u
#define RANGE_BY_4K (1ull << 46) // two pages
#define MOV_W0      0x52800000u  // mov w0, #0
#define RET         0xD65F03C0u
#define ABORT_CLASS 0x25u // data abort of the own exception level
#define PAGE_FAULT  0x07u // translation fault, level 3

enum {
    words_of_page = MMU_SMALL_PAGE_BYTES / sizeof(uint64_t),
    reach_own = 0,
    reach_inner = 1,
    reach_outer = 2,
    vcpus_most = 2,
    fault_page = 511, // of the last subtest
};

static const struct remap_form forms[] = {
#define REMAP_FORM(name, operand) {#name, operand, {remap_##name, remap_##name##is, remap_##name##os}},
    REMAP_FORMS(REMAP_FORM)
#undef REMAP_FORM
};

_Alignas(MMU_SMALL_PAGE_BYTES) static volatile uint64_t first_page[words_of_page];
_Alignas(MMU_SMALL_PAGE_BYTES) static volatile uint64_t second_page[words_of_page];
_Alignas(MMU_SMALL_PAGE_BYTES) static volatile uint32_t code[MMU_SMALL_PAGE_BYTES / 4];

static volatile uint64_t *pages;
static uint32_t next_page;
static bool map_at_fault;

static uint64_t forms_tried, stale, wrong, code_wrong, aborts_wrong;

// What this VCPU asks the other one to read: both numbers are equal when it has done so.
static volatile struct {
    uint64_t asked;
    uint64_t answered;
    uint64_t address;
    uint64_t found;
} other;

static uint64_t address_of(uint32_t page)
{
    return MMU_SMALL_PAGES + (uint64_t)page * MMU_SMALL_PAGE_BYTES;
}

static void map(uint32_t page, const volatile void *at)
{
    pages[page] = at == NULL ? 0 : (uint64_t)(uintptr_t)at | MMU_SMALL_PAGE;
    cpu_sync_memory();
    cpu_sync_context();
}

bool program_exception(struct exception_frame *frame, uint64_t vector)
{
    uint64_t syndrome = sysreg_read(ESR_EL1);
    bool load = frame->elr == (uintptr_t)remap_load_at;

    (void)vector;
    if (!load && frame->elr != (uintptr_t)remap_clean_at)
        return false;
    if (syndrome >> 26 != ABORT_CLASS || (syndrome & 0x3F) != PAGE_FAULT ||
        sysreg_read(FAR_EL1) / MMU_SMALL_PAGE_BYTES != frame->x[load ? 0 : 1] / MMU_SMALL_PAGE_BYTES)
        aborts_wrong++;
    if (load && map_at_fault) {
        map(fault_page, first_page);
    } else {
        frame->x[0] = REMAP_FAULT;
        frame->elr += 4;
    }
    return true;
}

static uint64_t load_on_other(uint64_t address)
{
    other.address = address;
    cpu_sync_memory();
    other.asked++;
    while (other.answered != other.asked) {
    }
    cpu_sync_memory();
    return other.found;
}

void program_secondary(uint32_t cpu)
{
    (void)cpu;
    for (;;) {
        while (other.answered == other.asked) {
        }
        cpu_sync_memory();
        other.found = remap_load(other.address);
        cpu_sync_memory();
        other.answered = other.asked;
    }
}

static uint64_t seen(uint64_t address, bool by_other)
{
    return by_other ? load_on_other(address) : remap_load(address);
}

static uint64_t operand_of(enum remap_operand operand, uint64_t address)
{
    switch (operand) {
    case remap_page:
        return address / MMU_SMALL_PAGE_BYTES;
    case remap_range:
        return address / MMU_SMALL_PAGE_BYTES | RANGE_BY_4K;
    default:
        return 0; // there is only one address space
    }
}

// Moves a page that was not accessed before from the first place to the second.
static void try_form(const struct remap_form *form, int reach, uint32_t vcpus)
{
    uint32_t page = next_page++;
    uint64_t address = address_of(page);
    uint32_t readers = reach == reach_own ? 1 : vcpus;

    map(page, first_page);
    for (uint32_t i = 0; i < readers; i++)
        wrong += seen(address, i != 0) != IN_FIRST;
    map(page, NULL);
    for (uint32_t i = 0; i < readers; i++)
        stale += seen(address, i != 0) == IN_FIRST;
    form->reach[reach](operand_of(form->operand, address));
    for (uint32_t i = 0; i < readers; i++)
        wrong += seen(address, i != 0) != REMAP_FAULT;
    map(page, second_page);
    for (uint32_t i = 0; i < readers; i++)
        wrong += seen(address, i != 0) != IN_SECOND;
    forms_tried++;
}

static void try_forms(uint32_t vcpus)
{
    uint64_t has = sysreg_read(ID_AA64ISAR0_EL1) >> 56 & 0xF; // 1: outer shareable forms; 2: ranges too

    for (uint32_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].operand == remap_range && has < 2)
            continue;
        try_form(&forms[i], reach_own, vcpus);
        try_form(&forms[i], reach_inner, vcpus);
        if (has != 0)
            try_form(&forms[i], reach_outer, vcpus);
    }
}

static void change_code(uint32_t value, void (*forget)(uint64_t address))
{
    uint64_t address = (uintptr_t)code;

    code[0] = MOV_W0 | value << 5;
    code[1] = RET;
    code_wrong += remap_clean(address) != 0;
    forget(address);
    code_wrong += ((uint32_t(*)(void))(uintptr_t)address)() != value;
}

static uint64_t fault_ticks(uint64_t rounds)
{
    uint64_t address = address_of(fault_page);
    uint64_t began;

    map_at_fault = true;
    wrong += remap_load(address) != IN_FIRST;
    began = timer_now();
    for (uint64_t i = 0; i < rounds; i++) {
        pages[fault_page] = 0;
        remap_vae1is(address / MMU_SMALL_PAGE_BYTES);
        wrong += remap_load(address) != IN_FIRST;
    }
    return timer_now() - began;
}

void program_main(void)
{
    uint64_t rounds = param("rounds", 1000);
    uint32_t vcpus = board()->cpu_count < vcpus_most ? 1 : smp_start();
    uint64_t clean_refused, ticks;

    pages = mmu_small_pages();
    first_page[0] = IN_FIRST;
    second_page[0] = IN_SECOND;
    console_write("bulkhead: ready\n");
    try_forms(vcpus < vcpus_most ? vcpus : vcpus_most);
    for (uint32_t i = 1; i <= 3; i++) {
        change_code(3 * i, remap_forget_line);
        change_code(3 * i + 1, remap_forget_all);
        change_code(3 * i + 2, remap_forget_everywhere);
    }
    clean_refused = remap_clean(address_of(next_page)) == REMAP_FAULT;
    ticks = fault_ticks(rounds);
    console_printf(
        "report {\"vcpus\": %u, \"forms\": %lu, \"stale\": %lu, \"wrong\": %lu, \"code_wrong\": %lu, "
        "\"aborts_wrong\": %lu, \"clean_refused\": %lu, \"rounds\": %lu, \"fault_ticks\": %lu}\n",
        vcpus, forms_tried, stale, wrong, code_wrong, aborts_wrong, clean_refused, rounds, ticks);
}
