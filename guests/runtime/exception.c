// SPDX-License-Identifier: Apache-2.0
//
// Interrupt dispatch and the register dump.
#include "guests/runtime/exception.h"

#include <arch/sysreg.h>
#include <stdbool.h>

#include "guests/runtime/board.h"
#include "guests/runtime/console.h"
#include "guests/runtime/gic.h"
#include "guests/runtime/program.h"
#include "guests/runtime/psci.h"

enum {
    vector_irq = 5, // from EL1 with its own stack pointer: the only one that is expected
    esr_class_shift = 26,
};

static bool dumping;

static const char *vector_name(uint64_t vector)
{
    static const char *const names[] = {"synchronous exception", "IRQ", "FIQ", "SError"};

    return names[vector % 4];
}

static const char *class_name(uint64_t esr)
{
    switch (esr >> esr_class_shift & 0x3F) {
    case 0x00:
        return "undefined instruction";
    case 0x07:
        return "FP or SIMD access";
    case 0x0E:
        return "illegal execution state";
    case 0x15:
        return "supervisor call";
    case 0x18:
        return "trapped system register";
    case 0x20:
    case 0x21:
        return "instruction abort";
    case 0x22:
        return "misaligned pc";
    case 0x24:
    case 0x25:
        return "data abort";
    case 0x26:
        return "misaligned sp";
    case 0x2F:
        return "SError";
    case 0x3C:
        return "breakpoint instruction";
    default:
        return "other";
    }
}

static void dump(const struct exception_frame *frame, uint64_t vector)
{
    uint64_t esr = sysreg_read(ESR_EL1);

    console_printf("\nexception: %s (vector %u) on cpu %u: %s\n", vector_name(vector), (unsigned)vector,
                   (unsigned)sysreg_read(TPIDR_EL1), class_name(esr));
    console_printf("  esr %016lx  far  %016lx\n", esr, sysreg_read(FAR_EL1));
    console_printf("  elr %016lx  spsr %016lx  sp  %016lx\n", frame->elr, frame->spsr, frame->sp);
    for (unsigned i = 0; i < 31; i++)
        console_printf("  x%-2u %016lx%s", i, frame->x[i], i % 4 == 3 || i == 30 ? "\n" : "");
}

void exception_entry(struct exception_frame *frame, uint64_t vector)
{
    uint32_t intid;

    if (vector == vector_irq) {
        if (gic_acknowledge(&intid)) {
            program_interrupt(intid);
            gic_end(intid);
        }
        return;
    }
    if (program_exception(frame, vector))
        return;
    if (!dumping) { // a fault in the dump must not start another one
        dumping = true;
        dump(frame, vector);
    }
    psci_system_off();
}
