/* SPDX-License-Identifier: Apache-2.0
 *
 * Flash of a domain that its guest can erase and program by commands (core/nor_flash.h). While reads return
 * its content, the flash is memory mapped read-only, and each write traps to EL2 as a command. While reads
 * return something else, the flash is hidden: its entries at level 2 of stage 2 are invalid. No other memory
 * uses these entries, so hiding the flash takes one store for each 2 MiB, whatever is mapped below. The
 * content survives a restart of the domain, but not the end of the machine.
 */
#ifndef BULKHEAD_FLASH_H
#define BULKHEAD_FLASH_H

#include "base/mmio_access.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Put the flash in its state after power-on: init() at the domain's first start, reset() at each restart.
 * None of its VCPUs runs; its stage-2 tables exist. */
void flash_init(struct domain *domain);
void flash_reset(struct domain *domain);

/* True if the flash answers an access to guest-physical page `page` that stage 2 did not translate; `*offset`
 * is then the page's offset in the flash. */
bool flash_answers(const struct domain *domain, uint64_t page, uint64_t *offset);

/* True if the content at guest-physical address `ipa` is kept when the domain restarts. */
bool flash_keeps(const struct domain *domain, uint64_t ipa);

enum flash_write {
    FLASH_WRITE_IGNORED, /* a write to memory that takes no commands */
    FLASH_WRITE_COMMAND,
    /* the guest or another VCPU has changed the translation since: execute the instruction again */
    FLASH_WRITE_AGAIN,
};

/* What a write means that stage 2 did not permit. `address`: the guest's virtual address. For a command,
 * `*offset` is the position in the flash. Called on the VCPU's core. */
enum flash_write flash_write_at(const struct domain *domain, uint64_t address, uint64_t *offset);

/* Handles one access by the VCPU that runs on this core, and counts the exit. Returns false if the guest must
 * execute it again because reads return the content now, or later (`access->again`) because the SMMU may
 * still read the flash that has just been hidden. Erases at most 1 KiB. Work caused on other cores is charged
 * to the domain's budget. */
bool flash_access(struct cpu *cpu, struct mmio_access *access);

#ifdef __cplusplus
}
#endif

#endif
