/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces flash.c in programs with spatial isolation only, which have no flash that takes commands:
 * core/manifest_space_only.c refuses it.
 */
#include "run/flash.h"

void flash_init(struct domain *domain)
{
    (void)domain;
}

void flash_reset(struct domain *domain)
{
    (void)domain;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
bool flash_answers(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    (void)domain;
    (void)page;
    (void)offset;
    return false;
}

bool flash_keeps(const struct domain *domain, uint64_t ipa)
{
    (void)domain;
    (void)ipa;
    return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as its header has it */
enum flash_write flash_write_at(const struct domain *domain, uint64_t address, uint64_t *offset)
{
    (void)domain;
    (void)address;
    (void)offset;
    return FLASH_WRITE_IGNORED;
}

bool flash_access(struct cpu *cpu, struct mmio_access *access)
{
    (void)cpu;
    (void)access;
    __builtin_trap();
}
