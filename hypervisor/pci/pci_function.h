/* SPDX-License-Identifier: Apache-2.0
 *
 * Access to configuration space, and what the driver's files share. Other rooms use pci.h.
 */
#ifndef BULKHEAD_PCI_FUNCTION_H
#define BULKHEAD_PCI_FUNCTION_H

#include "core/manifest.h"
#include "core/pci_config.h"
#include "core/spinlock.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/mmio.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PCI_SLOTS           32u
#define PCI_SLOT_SHIFT      15u
#define PCI_REQUESTER_SHIFT 12u /* of a requester id in the address of its configuration space */
#define PCI_BUS(id)         ((id) >> 8)
#define PCI_SLOT(id)        ((id) >> 3 & (PCI_SLOTS - 1))
#define PCI_NUMBER(id)      ((id)&7u) /* of the function in its device */

/* Extended capabilities (PCI Express Base 7.6.3). */
#define PCI_EXTENDED_ACS       0x000Du
#define PCI_EXTENDED_ATS       0x000Fu
#define PCI_EXTENDED_SRIOV     0x0010u
#define PCI_EXTENDED_MULTICAST 0x0012u
#define PCI_EXTENDED_PRI       0x0013u
#define PCI_EXTENDED_PASID     0x001Bu

/* Access control services (7.7.11), in the word that follows the capability's header. The control register
 * is the upper half. */
#define PCI_ACS               0x04u
#define PCI_ACS_CONTROL_SHIFT 16u
#define PCI_ACS_SOURCE        0x01u /* no requester id of another bus */
#define PCI_ACS_BLOCK         0x02u /* no address that claims to be translated */
#define PCI_ACS_REQUESTS      0x04u /* requests to other functions go to the root complex, */
#define PCI_ACS_COMPLETIONS   0x08u /* and completions, too */
#define PCI_ACS_UPSTREAM      0x10u /* also those that came from the root complex's side */
#define PCI_ACS_EXCEPTIONS    0x60u /* egress control, direct translated: to let requests pass all the same */
#define PCI_ACS_ENHANCED                                                                                     \
    0x80u /* capability: the port can also refuse requests from below to its own BAR,                        \
           */
#define PCI_ACS_TARGET_BLOCK 0x100u /* control: and it does */
#define PCI_ACS_TARGET       0x300u /* control: what happens to them */

#define PCI_COMMAND_READY (PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF) /* until the domain starts */

/* PCI Express Base 6.6.1 and 6.6.2. */
#define PCI_HOLD_NS    2000000ull   /* a bus is held in reset, for 1 ms at least */
#define PCI_RESET_NS   100000000ull /* until a function has been reset, or may be asked after a bus's reset */
#define PCI_GIVE_UP_NS 1000000000ull /* after its reset a function may not answer yet for so long */
#define PCI_RETRY_NS   10000000ull   /* until EL2 asks a function again that does not answer */

/* Progress of a function's reset after its domain has stopped. */
enum pci_reset {
    PCI_RESET_DONE, /* as far as the function can be reset */
    PCI_RESET_DUE,
    PCI_RESET_BUS,   /* the bus behind its bridge is held in reset */
    PCI_RESET_WAITS, /* begun */
};

/* A function of a domain. */
struct pci_function {
    struct spinlock lock; /* protects writes of `config` and `runs`, and the registers, while VCPUs may run */
    struct pci_config config;
    bool runs;           /* VCPUs of its domain may be on, and the function answers at its BARs */
    uint64_t wait_until; /* counter value until which a guest's write waits for the function; 0: none waits */
    bool known;          /* `config` has what the hardware had at the start */

    /* Set by the core that stops the domain, and then only by the core that restarts it. */
    bool lost;              /* after its reset it was not the one in the manifest */
    _Atomic uint32_t reset; /* enum pci_reset */
    uint64_t step_at;       /* counter value of the reset's next step */
    uint64_t give_up_at;    /* counter value from which on a function that does not answer is lost */
};

/* Where the registers of the function with this requester id are. */
static inline paddr_t pci_place(const struct manifest_header *manifest, uint32_t requester)
{
    return paddr(manifest->pci.config_pa + ((uint64_t)requester << PCI_REQUESTER_SHIFT));
}

static inline uint32_t pci_read_at(paddr_t place, uint32_t offset)
{
    return mmio_read32(paddr(place.value + offset));
}

static inline void pci_write_at(paddr_t place, uint32_t offset, uint32_t value)
{
    mmio_write32(paddr(place.value + offset), value);
}

static inline uint32_t pci_read(const struct manifest_function *function, uint32_t offset)
{
    return pci_read_at(pci_place(system_manifest(), function->requester), offset);
}

static inline void pci_write(const struct manifest_function *function, uint32_t offset, uint32_t value)
{
    pci_write_at(pci_place(system_manifest(), function->requester), offset, value);
}

/* Whether a function whose first register reads as `id` is there and ready. */
static inline bool pci_answers(uint32_t id)
{
    return id != PCI_NO_FUNCTION && id != PCI_NOT_READY;
}

/* Whether EL2 may access other registers than the first one. The first register of a function that its guest
 * has reset is read at once also if the function is not ready; an access to any other register can take until
 * the function is ready (PCI Express Base 2.3.2, 7.5.3.12: configuration request retry). */
static inline bool pci_is_ready(const struct pci_function *function)
{
    return pci_read(function->config.function, PCI_ID) != PCI_NOT_READY;
}

/* Whether the function had function-level reset at the start. */
static inline bool pci_has_reset(const struct pci_function *function)
{
    return (function->config.express_words[PCI_EXPRESS_DEVICE / 4] & PCI_EXPRESS_FLR) != 0;
}

/* pci.c. The domain's function after `function`, or its first one after NULL; NULL: there is no other. */
struct pci_function *pci_next_of(const struct domain *domain, struct pci_function *function);

/* pci.c. At the start: waits until the counter has this value. */
void pci_wait_until(uint64_t time);

/* pci.c. Compares a function that has been reset with the manifest, places its BARs, writes the command
 * register, and then reads the BARs: so the write has arrived, and the function answers where the manifest
 * says. Otherwise the function is off, and the answer says why. */
const char *pci_check_and_enable(struct pci_function *function, uint32_t command);

/* pci_reset.c. Begins function-level reset, which the function has; it is off, and is not accessed for
 * PCI_RESET_NS. */
void pci_begin_reset(const struct pci_function *function);

/* pci.c. A line about a function. */
void pci_log(const struct pci_function *function, const char *what, const char *difference);

static inline void pci_log_lost(const struct pci_function *function, const char *difference)
{
    pci_log(function, " is off until its domain's next start", difference);
}

/* pci_check.c. Why the function is not the one in the manifest; NULL: it is. Its registers and message
 * interrupts are off afterwards. The first call fills in its capabilities and the registers that its guest
 * reads; later calls compare the capabilities. */
const char *pci_function_check(struct pci_function *function);

/* Writes the BARs as the manifest has them, and turns the expansion ROM off. */
void pci_place_bars(const struct manifest_function *function);

/* Whether the BARs are as pci_place_bars() has written them. */
bool pci_bars_are_placed(const struct manifest_function *function);

/* pci_extended.c. Offset of the capability `id`; 0: there is none. Also with the MMU off. */
uint32_t pci_capability(paddr_t place, uint32_t id);

/* Offset of the extended capability `id`, whose first two words are in configuration space; 0: there is none.
 * Also with the MMU off. */
uint32_t pci_extended_capability(paddr_t place, uint32_t id);

/* pci_extended.c. Enables `wanted` as far as the function's ACS has it, and nothing else. Whether the
 * function has ACS, with all of `needed`, and does what has been written. */
bool pci_acs_enable(paddr_t place, uint32_t wanted, uint32_t needed);

#ifdef __cplusplus
}
#endif

#endif
