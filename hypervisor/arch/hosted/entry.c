/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points of the hosted image, in place of arch/aarch64/entry.S and vectors.S: the image's first page,
 * the path from the first instruction to cpu_main(), and entry to and exit from guests. The machine provides
 * the stack. Makes the same decisions as the assembly.
 */
#include "base/image.h"
#include "boot/boot.h"
#include "boot/trampoline.h"
#include "trap/trap.h"
#include "vm/vcpu.h"
#include <arch/barrier.h>
#include <arch/machine.h>
#include <arch/physical.h>
#include <arch/sysreg.h>
#include <elf.h>

#define HCR_RW        (1ull << 31)
#define SCTLR_OFF     0x30C50830ull
#define INDEX_UNKNOWN UINT64_MAX
#define IMAGE_MAGIC   0x644D5241u
#define IMAGE_FLAGS   0xAu

extern const Elf64_Dyn image_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

void cpu_main(uint32_t index, struct guest_regs *regs);
uint32_t cpu_find_index(void);
_Noreturn void entry_primary(uint64_t load_address, uint64_t device_tree);
_Noreturn void entry_trampoline(uint64_t index);

/* Where a core would find instructions, the page holds the distance to a function
 * (machine/hosted/entry_point.h). */
__asm__(".pushsection .head.entry_points,\"aw\"\n\t.balign 16\n\t.globl trampoline_entry\n\t.hidden "
        "trampoline_entry\n"
        "trampoline_entry:\n\t.ascii \"HOSTED->\"\n\t.quad entry_trampoline - .\n\t.popsection");

/* The builder fills in the other fields. */
__attribute__((section(".head"), used)) struct image_header image_header = {
    .flags = IMAGE_FLAGS,
    .magic = IMAGE_MAGIC,
    .package = {.magic = BH_PACKAGE_MAGIC, .version = BH_PACKAGE_VERSION},
};
__attribute__((section(".head.values"))) struct trampoline_values trampoline_values;

/* Relocates pointers in the data, whose values the linker could not know. */
static void relocate(void)
{
    const Elf64_Rela *relocations = NULL;
    uint64_t count = 0;

    for (const Elf64_Dyn *entry = image_dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA) {
            relocations = (const Elf64_Rela *)(image_start + (entry->d_un.d_ptr - MACHINE_LINK_WINDOW));
        } else if (entry->d_tag == DT_RELASZ) {
            count = entry->d_un.d_val / sizeof(Elf64_Rela);
        }
    }
    for (uint64_t i = 0; i < count; i++) {
        if (relocations[i].r_offset >= MACHINE_LINK_WINDOW) {
            *(uint64_t *)(void *)(image_start + (relocations[i].r_offset - MACHINE_LINK_WINDOW)) =
                (uint64_t)(uintptr_t)image_start + (uint64_t)relocations[i].r_addend - MACHINE_LINK_WINDOW;
        }
    }
}

static _Noreturn void start_core(uint64_t index)
{
    struct guest_regs regs;

    if (index == INDEX_UNKNOWN) {
        relocate();
        index = cpu_find_index();
    }
    cpu_main((uint32_t)index, &regs);
    for (;;) {
        switch (hosted_enter_guest(&regs)) {
        case HOSTED_EXCEPTION_SYNC:
            if (!trap_sync_short(&regs)) {
                trap_sync(&regs);
            }
            break;
        case HOSTED_EXCEPTION_IRQ:
            if (!trap_irq_short()) {
                trap_settle(&regs);
            }
            break;
        case HOSTED_EXCEPTION_SERROR:
            trap_serror(&regs);
            break;
        }
    }
}

static void reset_state(void)
{
    sysreg_write(HCR_EL2, HCR_RW);
    sysreg_write(SCTLR_EL2, SCTLR_OFF);
    arch_isb();
}

static _Noreturn void turn_mmu_on(const struct trampoline_values *values, uint64_t index)
{
    uint64_t sctlr = values->sctlr;

    sysreg_write(TTBR0_EL2, values->ttbr0);
    sysreg_write(TCR_EL2, values->tcr);
    sysreg_write(MAIR_EL2, values->mair);
    arch_isb();
    arch_tlbi_local_all();
    arch_icache_invalidate_local();
    sysreg_write(SCTLR_EL2, sctlr);
    arch_isb();
    start_core(index);
}

_Noreturn void entry_primary(uint64_t load_address, uint64_t device_tree)
{
    uint64_t trampoline;

    reset_state();
    trampoline = boot_prepare(load_address, device_tree);
    turn_mmu_on(phys_pointer(paddr(trampoline + (uint64_t)((char *)&trampoline_values - trampoline_entry))),
                INDEX_UNKNOWN);
}

/* Entry of the other cores: the first core's translation is on, and theirs will be the same. */
_Noreturn void entry_trampoline(uint64_t index)
{
    reset_state();
    turn_mmu_on(&trampoline_values, index);
}

/* Only its address is used, by boot_prepare(); cores enter by the trampoline. */
void cpu_start(void) {}
