/* SPDX-License-Identifier: Apache-2.0
 *
 * EL3 firmware for the emulator's `virt` board, as small as possible and with no more than the rules require:
 * the software above gets exactly what the boot protocol and PSCI guarantee. A test fixture, never part of a
 * product.
 */
#ifndef BULKHEAD_TESTS_FIRMWARE_H
#define BULKHEAD_TESTS_FIRMWARE_H

#include <stdint.h>

/* Sizes of the linker script and start.S. */
#define MAX_CORES 8u

/* QEMU hw/arm/virt.c, base_memmap. */
#define GICD_PA        0x08000000u
#define GICC_PA        0x08010000u
#define GICR_PA        0x080A0000u
#define UART_PA        0x09000000u
#define SECURE_GPIO_PA 0x090B0000u
#define TREE_PA        0x40000000u /* where the emulator puts the board's device tree when it starts firmware */
#define PACKAGE_PA     0x40200000u /* where an earlier loader has put the package */

static inline uint32_t read32(uint64_t address)
{
    return *(volatile uint32_t *)(uintptr_t)address;
}

static inline void write32(uint64_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}

/* start.S */
void firmware_fill(uint64_t start, uint64_t end, uint64_t pattern);
void firmware_gic_system_registers(void);
_Noreturn void firmware_enter(uint64_t pc, uint64_t x0);
_Noreturn void firmware_forget_stack(uint64_t core);

/* firmware.c; called by start.S */
_Noreturn void firmware_core(uint64_t core);
_Noreturn void firmware_wait(uint64_t core);

/* gic.c: gives all interrupts to the non-secure world; then each core's own ones. */
void gic_give_away(void);
void gic_give_away_core(uint64_t core);

/* psci.c; called by start.S */
int64_t firmware_call(uint64_t function, uint64_t first, uint64_t second, uint64_t third);
/* Whether the core was turned on, and where it has to start. */
_Bool psci_start_of(uint64_t core, uint64_t *pc, uint64_t *context);
void psci_first_core_is_on(void);

/* speculation.c: SMCCC_VERSION, SMCCC_ARCH_FEATURES, SMCCC_ARCH_WORKAROUND_1 to _3; NOT_SUPPORTED of others.
 */
#define SMCCC_VERSION 0x80000000u
#define NOT_SUPPORTED (-1)
int64_t speculation_call(uint64_t core, uint64_t function, uint64_t first);
/* Prints how often each workaround was called, all cores together. */
void speculation_report(void);

/* tree.c: adds the node that says that PSCI is called by SMC. False if there is no tree, or no room. */
_Bool tree_add_psci(uint8_t *tree);

#endif
