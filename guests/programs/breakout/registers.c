// SPDX-License-Identifier: Apache-2.0
//
// Every encoding of MRS, MSR, SYS and SYSL, by executing it: a buffer is filled with the instructions of one
// step, each between two that record whether it was caught. Registers and operations of EL2 and EL3,
// performance monitors, limited ordering, resource partitioning and those of the implementation must be
// undefined; the evidence is the encoding of one that is not.
#include <arch/sysreg.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/programs/breakout/probes.h"

#define FIELD(value, shift) ((uint32_t)(value) << (shift))
#define SYSTEM_INSTRUCTION  0xD5000000u
#define READ                FIELD(1, 21)
#define MOV_X10_ZERO        0xAA1F03EAu // mov x10, xzr
#define STORE_X9_X10        0xA8812829u // stp x9, x10, [x1], #16
#define LOAD_X9             0xF8408449u // ldr x9, [x2], #8
#define BRANCH_X12          0xD61F0180u // br x12
#define REGISTER_X9         9u
#define REGISTER_NONE       31u

enum {
    batch = 128, // encodings: one op0, op1 and CRn
    steps_per_op0 = 8 * 16,
};

struct answer {
    uint64_t value;
    uint64_t caught;
};

static uint32_t code[batch * 4 + 1];
static struct answer answers[batch];
static uint64_t values[batch];
static _Alignas(64) uint64_t scratch[64]; // operand of operations by address

struct group {
    uint32_t op0;
    uint32_t op1;
    uint32_t crn;
};

static struct group group_of(uint32_t op0, uint32_t step)
{
    return (struct group){op0, step / 16, step % 16};
}

// The CRm and op2 of entry n of a batch.
static uint32_t crm_of(uint32_t n)
{
    return n / 8;
}

static uint32_t op2_of(uint32_t n)
{
    return n % 8;
}

static uint32_t encode(struct group g, uint32_t n, uint32_t direction, uint32_t reg)
{
    return SYSTEM_INSTRUCTION | direction | FIELD(g.op0, 19) | FIELD(g.op1, 16) | FIELD(g.crn, 12) |
           FIELD(crm_of(n), 8) | FIELD(op2_of(n), 5) | reg;
}

static void execute(struct group g, uint32_t direction, uint32_t reg)
{
    uint32_t at = 0;

    for (uint32_t n = 0; n < batch; n++) {
        code[at++] = MOV_X10_ZERO;
        if (direction != READ)
            code[at++] = LOAD_X9;
        code[at++] = encode(g, n, direction, reg);
        code[at++] = STORE_X9_X10;
    }
    code[at++] = BRANCH_X12;
    probe_make_visible((uintptr_t)code, at * sizeof(code[0]));
    catch_start();
    probe_run(code, answers, values);
    (void)catch_stop();
}

// Encodings that are not for EL1, or not for a guest, whatever CRm and op2 are.
static bool is_forbidden(struct group g)
{
    return g.op1 >= 4 || g.crn == 11 || g.crn == 15;
}

static bool is_performance_monitor(struct group g, uint32_t n)
{
    return g.op0 == 3 &&
           ((g.op1 == 3 && g.crn == 9 && crm_of(n) >= 12) || (g.op1 == 3 && g.crn == 14 && crm_of(n) >= 8) ||
            (g.op1 == 0 && g.crn == 9 && crm_of(n) >= 9));
}

// A domain with `pmu: true` has monitors: their registers are accessible, and change only its own counters.
static bool has_monitors(void)
{
    return (sysreg_read(ID_AA64DFR0_EL1) >> 8 & 15) != 0;
}

// MPAMIDR_EL1, MPAM1_EL1 and MPAM0_EL1.
static bool is_partition(uint32_t n)
{
    return (crm_of(n) == 4 && op2_of(n) == 4) || (crm_of(n) == 5 && op2_of(n) <= 1);
}

// Limited-ordering regions are of physical addresses. Partitions and their monitors belong to the machine,
// except for the virtual PARTIDs of a guest that has them.
static bool is_of_the_machine(struct group g, uint32_t n)
{
    return g.op0 == 3 && g.op1 == 0 && g.crn == 10 && crm_of(n) >= 4 &&
           !(is_partition(n) && has_partitions());
}

static bool is_error_record(struct group g, uint32_t n)
{
    return g.op0 == 3 && g.op1 == 0 && g.crn == 5 && crm_of(n) >= 3;
}

static bool must_be_undefined(struct group g, uint32_t n)
{
    return is_forbidden(g) || (is_performance_monitor(g, n) && !has_monitors()) || is_of_the_machine(g, n) ||
           is_error_record(g, n);
}

static enum outcome kind(struct group g, uint32_t n)
{
    if (g.op0 == 3 && g.op1 == 0 && g.crn == 0)
        return OUTCOME_MASKED;
    if (g.op0 == 3 && g.op1 == 0 && (g.crn == 12 || (g.crn == 4 && crm_of(n) == 6)))
        return OUTCOME_EMULATED;
    if (is_performance_monitor(g, n))
        return OUTCOME_EMULATED;
    if (g.op0 == 1 && g.crn == 7 && op2_of(n) == 2 && g.op1 == 0)
        return OUTCOME_EMULATED; // maintenance by set and way does nothing
    return OUTCOME_OWN;
}

static void judge(struct group g, uint32_t direction)
{
    uint64_t counts[OUTCOME_COUNT] = {0};

    for (uint32_t n = 0; n < batch; n++) {
        if (answers[n].caught != 0)
            counts[OUTCOME_UNDEFINED]++;
        else if (must_be_undefined(g, n))
            note_through(encode(g, n, direction, 0));
        else
            counts[kind(g, n)]++;
    }
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
        if (counts[i] != 0)
            note((enum outcome)i, counts[i]);
    }
}

static void read(uint32_t op0, uint32_t step)
{
    struct group g = group_of(op0, step);

    execute(g, READ, REGISTER_X9);
    judge(g, READ);
}

// A register that can be read is written with the value that was read, so that the VCPU's own state is kept.
// Others are written with 0, or with all ones if they are not for EL1.
static void write(uint32_t op0, uint32_t step)
{
    struct group g = group_of(op0, step);

    execute(g, READ, REGISTER_X9);
    for (uint32_t n = 0; n < batch; n++) {
        if (answers[n].caught == 0)
            values[n] = answers[n].value;
        else
            values[n] = is_forbidden(g) ? ~0ull : 0;
    }
    execute(g, 0, REGISTER_X9);
    judge(g, 0);
}

static void read_debug(uint32_t step)
{
    read(2, step);
}

static void read_system(uint32_t step)
{
    read(3, step);
}

static void write_debug(uint32_t step)
{
    write(2, step);
}

static void write_system(uint32_t step)
{
    write(3, step);
}

static void operate(uint32_t step)
{
    struct group g = group_of(1, step);

    for (uint32_t n = 0; n < batch; n++)
        values[n] = (uintptr_t)scratch;
    execute(g, 0, REGISTER_X9);
    judge(g, 0);
}

static void operate_with_answer(uint32_t step)
{
    struct group g = group_of(1, step);

    execute(g, READ, REGISTER_X9);
    judge(g, READ);
}

// op0 = 0: barriers, hints, state of the processor. Those that wait or change the stack have separate steps.
static void unallocated(uint32_t step)
{
    struct group g = group_of(0, step);

    if (g.crn == 2 || g.crn == 4)
        return;
    execute(g, 0, REGISTER_NONE);
    judge(g, 0);
}

// A guest must not see which core it runs on: its affinity is its index.
static void look_for_the_core(uint32_t step)
{
    uint64_t mpidr = sysreg_read(MPIDR_EL1);

    (void)step;
    if ((mpidr & 0xFF00FFFFFFull) != 0)
        note_through(mpidr);
    else
        note(OUTCOME_MASKED, 1);
}

// The counters above PMCR_EL0.N are not the guest's: no bit of them may be set.
static void take_more_counters(uint32_t step)
{
    const uint64_t all = 0xFFFFFFFF;
    uint64_t own, seen;

    (void)step;
    if (!has_monitors())
        return;
    own = 1ull << 31 | ((1ull << (sysreg_read(PMCR_EL0) >> 11 & 31)) - 1);
    sysreg_write(PMCR_EL0, all);
    sysreg_write(PMCNTENSET_EL0, all);
    sysreg_write(PMINTENSET_EL1, all);
    sysreg_write(PMOVSSET_EL0, all);
    seen = sysreg_read(PMCNTENSET_EL0) | sysreg_read(PMINTENSET_EL1) | sysreg_read(PMOVSSET_EL0);
    sysreg_write(PMINTENCLR_EL1, all);
    sysreg_write(PMOVSCLR_EL0, all);
    sysreg_write(PMCNTENCLR_EL0, all);
    sysreg_write(PMCR_EL0, 0);
    if (seen != own)
        note_through(seen);
    else
        note(OUTCOME_EMULATED, 1);
}

static const struct attempt attempts[] = {
    {"registers", "mrs-op0-2", steps_per_op0, read_debug, true},
    {"registers", "mrs-op0-3", steps_per_op0, read_system, true},
    {"registers", "msr-op0-2", steps_per_op0, write_debug, true},
    {"registers", "msr-op0-3", steps_per_op0, write_system, true},
    {"registers", "sys", steps_per_op0, operate, true},
    {"registers", "sysl", steps_per_op0, operate_with_answer, true},
    {"registers", "op0-0", steps_per_op0, unallocated, true},
    {"registers", "mpidr", 1, look_for_the_core, true},
    {"registers", "counters", 1, take_more_counters, true},
};

const struct attempt_list attempts_registers = {attempts, sizeof(attempts) / sizeof(attempts[0])};
