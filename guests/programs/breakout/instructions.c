// SPDX-License-Identifier: Apache-2.0
//
// Instruction classes other than MRS and MSR: calls upward with every immediate, debug, exception returns to
// higher levels, vectors and matrices, pointer authentication, tags, waiting. The evidence is the exception
// level and the results.
#include <arch/sysreg.h>
#include <stddef.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"
#include "guests/runtime/timer.h"

#define HVC(immediate) (0xD4000002u | (uint32_t)(immediate) << 5)
#define SMC(immediate) (0xD4000003u | (uint32_t)(immediate) << 5)
#define HINT(number)   (0xD503201Fu | (uint32_t)(number) << 5)
#define BRANCH_X12     0xD61F0180u
#define STORE_X0       0xF8008420u // str x0, [x1], #8
#define MOV_X0(value)  (0xD2800000u | (uint32_t)(value) << 5)
#define NOT_SUPPORTED  (~0ull)
#define SPSR_MASKED    0x3C0ull

enum {
    calls_per_step = 512,
    immediate_stride = 16,
    immediate_steps = 65536 / calls_per_step / immediate_stride,
    hint_wfe = 2,
    hint_wfi = 3,
    hints = 128,
    wait_ticks = 100000,
};

static uint32_t code[calls_per_step * 3 + 1];
static uint64_t answers[calls_per_step];

static void run(uint32_t instructions)
{
    code[instructions] = BRANCH_X12;
    probe_make_visible((uintptr_t)code, (instructions + 1) * sizeof(code[0]));
    catch_start();
    probe_run(code, answers, NULL);
}

// Function 1 exists in no range: each call must be refused, whatever its immediate.
static void call_upward(uint32_t step, bool smc)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < calls_per_step; i++) {
        uint32_t immediate = (step * calls_per_step + i) * immediate_stride + i % immediate_stride;
        code[at++] = MOV_X0(1);
        code[at++] = smc ? SMC(immediate) : HVC(immediate);
        code[at++] = STORE_X0;
        answers[i] = 0;
    }
    run(at);
    if (catch_stop() != 0) {
        note(OUTCOME_UNDEFINED, calls_per_step);
        return;
    }
    for (uint32_t i = 0; i < calls_per_step; i++) {
        if (answers[i] != NOT_SUPPORTED)
            note_through(answers[i]);
    }
    note(OUTCOME_ERROR_CODE, calls_per_step);
}

static void hvc(uint32_t step)
{
    call_upward(step, false);
}

static void smc(uint32_t step)
{
    call_upward(step, true);
}

static const uint32_t odd[] = {
    0xD4A00001,
    0xD4A00002,
    0xD4A00003, // dcps1, dcps2, dcps3: debug state only
    0xD6BF03E0, // drps
    0xD4400000,
    0xD45E0000, // hlt #0, hlt #0xF000: for a debugger, semihosting
    0xD4200000, // brk
    0x00000000, // udf
    0xD4000001, // svc
    0x04E0E3E0,
    0x2538C000,
    0xA5E0A000, // SVE: cntd, dup, ld1d
    0xD503477F,
    0xD503467F, // SME: smstart, smstop
    0xC0080000, // SME: zero
    0xDAC10000,
    0xDAC11000,
    0xD71F0800, // pacia, autia, braa
    0x9AC01000,
    0xD9200000,
    0xD9600400, // MTE: irg, stg, ldg
    0xB8210001,
    0x48207C00,
    0xF8218001, // LSE: ldadd, casp, swp
    0xD5033060,
    0xD5033160, // tcommit, tstart
    0x19000400,
    0xF83F9000, // MOPS: cpyfp; ld64b
    0xD503109F,
    0xD5031F1F,              // unallocated hint-like
    0xDAC00000 | 0x1C << 10, // unallocated data processing
    0x1E200400,
    0x0E200400,           // FP, AdvSIMD: not enabled
    0xD69F03E0 | 1 << 10, // eretaa
    0xFFFFFFFF,
    0xCE000000,
    0x5AC05000,
};

static void execute_odd(uint32_t step)
{
    code[0] = odd[step];
    run(1);
    note_caught(OUTCOME_OWN);
}

static void hint(uint32_t step)
{
    if (step == hint_wfe || step == hint_wfi)
        return; // for the waits below
    code[0] = HINT(step);
    run(1);
    note_caught(OUTCOME_NO_EFFECT);
}

// A timer ends each wait; its interrupt stays masked.
static void wait(uint32_t step)
{
    static const uint32_t waits[] = {HINT(hint_wfi), HINT(hint_wfe), 0xD5031001,
                                     0xD5031021}; // and WFET, WFIT x1

    timer_set(timer_now() + wait_ticks);
    code[0] = waits[step];
    run(1);
    cpu_unmask_interrupts();
    cpu_mask_interrupts();
    timer_stop();
    note_caught(OUTCOME_OWN);
}

// To EL2 and EL3 with both stack pointers, to AArch32 at EL1 and above, to modes that do not exist.
static const uint64_t targets[] = {0x8, 0x9, 0xC,  0xD,  0x1,  0x2,  0x3,  0x6,  0x7,  0xA, 0xB,
                                   0xE, 0xF, 0x11, 0x12, 0x13, 0x16, 0x17, 0x1A, 0x1B, 0x1F};

static void return_to(uint32_t step)
{
    catch_start();
    uint64_t level = probe_return_to(SPSR_MASKED | targets[step]) >> 2 & 3;
    (void)catch_stop();
    if (level != 1)
        note_through(level);
    else
        note(OUTCOME_FAULT, 1);
}

static const struct attempt attempts[] = {
    {"instructions", "hvc-immediate", immediate_steps, hvc, false},
    {"instructions", "smc-immediate", immediate_steps, smc, false},
    {"instructions", "odd", sizeof(odd) / sizeof(odd[0]), execute_odd, false},
    {"instructions", "hint", hints, hint, false},
    {"instructions", "wait", 4, wait, false},
    {"instructions", "return-upward", sizeof(targets) / sizeof(targets[0]), return_to, false},
};

const struct attempt_list attempts_instructions = {attempts, sizeof(attempts) / sizeof(attempts[0])};
