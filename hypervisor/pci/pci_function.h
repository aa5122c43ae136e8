/* SPDX-License-Identifier: Apache-2.0
 *
 * Access to the configuration space of functions on bus 0, and what the driver's files share. Other rooms use
 * pci.h.
 */
#ifndef BULKHEAD_PCI_FUNCTION_H
#define BULKHEAD_PCI_FUNCTION_H

#include "core/manifest.h"
#include "core/pci_config.h"
#include "core/spinlock.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCI_SLOTS          32u
#define PCI_SLOT_SHIFT     15u
#define PCI_FUNCTION_SHIFT 12u

/* Progress of a function's reset after its domain has stopped. */
enum pci_reset {
    PCI_RESET_DONE, /* as far as the function can be reset */
    PCI_RESET_DUE,
    PCI_RESET_WAITS, /* begun */
};

/* A function of a domain. */
struct pci_function {
    struct spinlock lock; /* protects `config`, `runs` and the registers, while VCPUs of the domain may run */
    struct pci_config config;
    bool runs;  /* VCPUs of its domain may be on, and the function answers at its BARs */
    bool known; /* `config` has what the hardware had at the start */

    /* Set by the core that stops the domain, and then only by the core that restarts it. */
    bool lost;              /* after its reset it was not the one in the manifest */
    _Atomic uint32_t reset; /* enum pci_reset */
    uint64_t step_at;       /* counter value of the reset's next step */
    uint64_t give_up_at;    /* counter value from which on a function that does not answer is lost */
};

static inline uint32_t pci_read(const struct manifest_function *function, uint32_t offset)
{
    return mmio_read32(
        paddr(system_manifest()->pci.config_pa + ((uint64_t)function->slot << PCI_SLOT_SHIFT) + offset));
}

static inline void pci_write(const struct manifest_function *function, uint32_t offset, uint32_t value)
{
    mmio_write32(
        paddr(system_manifest()->pci.config_pa + ((uint64_t)function->slot << PCI_SLOT_SHIFT) + offset),
        value);
}

/* Whether a function whose first register reads as `id` is there and ready. */
static inline bool pci_answers(uint32_t id)
{
    return id != PCI_NO_FUNCTION && id != PCI_NOT_READY;
}

/* Whether the function had function-level reset at the start. */
static inline bool pci_has_reset(const struct pci_function *function)
{
    return (function->config.express_words[PCI_EXPRESS_DEVICE / 4] & PCI_EXPRESS_FLR) != 0;
}

/* pci_check.c. Why the function is not the one in the manifest; NULL: it is. Its registers and message
 * interrupts are off afterwards. The first call fills in its capabilities and the registers that its guest
 * reads; later calls compare the capabilities. */
const char *pci_function_check(struct pci_function *function);

/* Writes the BARs as the manifest has them, and turns the expansion ROM off. */
void pci_place_bars(const struct manifest_function *function);

/* Whether the BARs are as pci_place_bars() has written them. */
bool pci_bars_are_placed(const struct manifest_function *function);

#ifdef __cplusplus
}
#endif

#endif
