// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that the guest causes itself are counted and skipped. Everywhere else they are bugs of the
// program, and end it with the runtime's dump.
#include <arch/sysreg.h>

#include "guests/programs/breakout/breakout.h"
#include "guests/runtime/board.h"
#include "guests/runtime/exception.h"
#include "guests/runtime/program.h"
#include "guests/runtime/smp.h"

#define SPSR_ILLEGAL (1ull << 20)

enum {
    vector_synchronous = 4, // from EL1 with its own stack pointer
    class_shift = 26,
    class_illegal_state = 0x0E,
    class_instruction_abort = 0x21,
    class_misaligned_pc = 0x22,
    caught_register = 10, // reports to code in a buffer that its instruction was caught
};

static struct {
    volatile bool on;
    volatile uint32_t count;
    volatile uint32_t class;
} caught[BOARD_MAX_CPUS];

extern char probe_returned[];

void catch_start(void)
{
    caught[smp_self()].count = 0;
    caught[smp_self()].on = true;
}

uint32_t catch_stop(void)
{
    cpu_sync_context();
    caught[smp_self()].on = false;
    return caught[smp_self()].count;
}

uint32_t catch_class(void)
{
    return caught[smp_self()].class;
}

bool program_exception(struct exception_frame *frame, uint64_t vector)
{
    uint32_t self = smp_self();

    if (vector != vector_synchronous || !caught[self].on)
        return false;
    caught[self].count++;
    caught[self].class = (uint32_t)(sysreg_read(ESR_EL1) >> class_shift) & 0x3F;
    switch (caught[self].class) {
    case class_instruction_abort:
    case class_misaligned_pc:
        frame->elr = frame->x[30]; // return to the caller
        break;
    case class_illegal_state:
        frame->spsr &= ~SPSR_ILLEGAL;
        frame->elr = (uintptr_t)probe_returned;
        break;
    default:
        frame->elr += 4;
        frame->x[caught_register] = 1;
        break;
    }
    return true;
}
