/* SPDX-License-Identifier: Apache-2.0
 *
 * Flash of a domain that its guest can erase and program by commands (core/nor_flash.h). While reads find its
 * content it is memory, mapped read-only, and each write comes to EL2 as a command. While they find something
 * else it is hidden: invalid at level 2 of stage 2, whose entries it has for itself, so that hiding it takes
 * as many stores as it has 2 MiB, whatever is mapped below. Its content survives a restart of its domain, not
 * the end of the machine.
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

/* As after power-on, at the domain's first start and at each restart. None of its VCPUs runs; its tables
 * exist. */
void flash_init(struct domain *domain);
void flash_reset(struct domain *domain);

/* Whether an access to the guest-physical page `page`, which stage 2 did not translate, is to be answered by
 * the flash, and where that page is in it. */
bool flash_answers(const struct domain *domain, uint64_t page, uint64_t *offset);

/* Whether what is at the guest-physical address `ipa` stays as it is when the domain restarts. */
bool flash_keeps(const struct domain *domain, uint64_t ipa);

enum flash_write {
    FLASH_WRITE_IGNORED, /* to memory that takes no command */
    FLASH_WRITE_COMMAND,
    FLASH_WRITE_AGAIN, /* the guest, or another VCPU, has changed the translation meanwhile */
};

/* What a write is that stage 2 did not permit, to the guest's virtual address `address`; of a command, where
 * in the flash. On the core of the VCPU. */
enum flash_write flash_write_at(const struct domain *domain, uint64_t address, uint64_t *offset);

/* One access, which is counted as such an exit, by the VCPU that this core has. False: the guest is to
 * execute it again, because reads find the content now. At most 1 KiB is erased; what goes to other cores is
 * charged to the domain's budget. */
bool flash_access(struct cpu *cpu, struct mmio_access *access);

#ifdef __cplusplus
}
#endif

#endif
