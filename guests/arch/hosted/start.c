// SPDX-License-Identifier: Apache-2.0
//
// First steps of a guest that is compiled for the build host, in place of start.S and vectors.S: the entry
// points that the machine finds in the domain's memory, relocations for the address at which the image runs,
// and zeroed bss. The machine has set the stack. The rest is runtime/start.c.
#include <elf.h>
#include <stddef.h>

#include <arch/mmu.h>
#include <arch/sysreg.h>

#include "guests/runtime/exception.h"
#include "guests/runtime/start.h"

extern char bss_start[];
extern char bss_end[];
extern char image_window[];
extern const Elf64_Dyn machine_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

void start_hosted(uint64_t device_tree);
void start_hosted_secondary(uint64_t cpu);
void start_hosted_exception(uint64_t vector, uint64_t elr, uint64_t spsr);

// Where the processor would find instructions, memory holds the distance to a function
// (machine/hosted/entry_point.h). Vectors have the alignment that VBAR_EL1 needs.
#define ENTRY_POINT(name, function, alignment)                                                               \
    __asm__(".pushsection .data.entry_points,\"aw\"\n\t.balign " #alignment "\n\t.globl " #name              \
            "\n\t.hidden " #name "\n" #name ":\n\t.ascii \"HOSTED->\"\n\t.quad " #function                   \
            " - .\n\t.popsection")

ENTRY_POINT(_start, start_hosted, 16);
ENTRY_POINT(start_secondary_entry, start_hosted_secondary, 16);
ENTRY_POINT(vectors, start_hosted_exception, 2048);
extern char vectors[];

// Relocates pointers in the data. This is done at each start, because a restarted domain gets its data as
// they are in the file.
static void relocate(void)
{
    const Elf64_Rela *relocations = NULL;
    uint64_t count = 0;

    for (const Elf64_Dyn *entry = machine_dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA)
            relocations = (const Elf64_Rela *)(image_window + (entry->d_un.d_ptr - MACHINE_LINK_WINDOW));
        if (entry->d_tag == DT_RELASZ)
            count = entry->d_un.d_val / sizeof(Elf64_Rela);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (relocations[i].r_offset >= MACHINE_LINK_WINDOW)
            *(uint64_t *)(void *)(image_window + (relocations[i].r_offset - MACHINE_LINK_WINDOW)) =
                (uint64_t)(uintptr_t)image_window + (uint64_t)relocations[i].r_addend - MACHINE_LINK_WINDOW;
    }
}

void start_hosted(uint64_t device_tree)
{
    uint64_t counter = sysreg_read(CNTVCT_EL0);

    relocate();
    for (uint64_t *word = (uint64_t *)(void *)bss_start; word < (uint64_t *)(void *)bss_end; word++)
        *word = 0;
    sysreg_write(VBAR_EL1, mmu_physical(vectors));
    start_first((const void *)(uintptr_t)mmu_virtual(device_tree), counter);
}

void start_hosted_secondary(uint64_t cpu)
{
    sysreg_write(VBAR_EL1, mmu_physical(vectors));
    sysreg_write(TPIDR_EL1, cpu);
    start_secondary((uint32_t)cpu);
}

// General registers are the host's: the frame does not contain them.
void start_hosted_exception(uint64_t vector, uint64_t elr, uint64_t spsr)
{
    struct exception_frame frame = {.elr = elr, .spsr = spsr};

    exception_entry(&frame, vector);
}
