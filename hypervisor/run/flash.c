/* SPDX-License-Identifier: Apache-2.0
 *
 * Flash that takes commands: where it is in the guest's memory, whether it is hidden, and changes of its
 * content.
 */
#include "run/flash.h"
#include "core/color.h"
#include "iommu/smmu.h"
#include "memory/placement.h"
#include "memory/ptable.h"
#include "memory/table_update.h"
#include "run/charge.h"
#include "run/guest_translation.h"
#include "run/loader.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"

static const struct manifest_segment *segment_of(const struct manifest_domain *domain)
{
    const struct manifest_segment *segments = manifest_segments(system_manifest()) + domain->first_segment;

    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if ((segments[i].flags & BH_SEGMENT_FLAG_PROGRAMMABLE) != 0) {
            return &segments[i];
        }
    }
    return NULL;
}

/* Hides or shows the flash. Its entries at level 2 follow one another, because it is aligned to its size. */
static void set_hidden(struct domain *domain, bool hidden)
{
    struct flash *flash = &domain->flash;
    ptable_entry_t *entries =
        ptable_block_entry(domain->stage2.pool, domain->stage2.root, flash->segment->ipa);
    uint32_t count = (uint32_t)((flash->segment->bytes - 1) >> PTABLE_LEVEL2_SHIFT) + 1;

    atomic_store(&flash->hidden, hidden);
    if (hidden) {
        table_hide_stage2(entries, count, domain->spread ? TABLE_ALL_CORES : TABLE_OWN_CORE);
        smmu_domain_unmapped(domain);
    } else {
        table_show_stage2(entries, count);
    }
}

void flash_init(struct domain *domain)
{
    const struct manifest_segment *segment = segment_of(domain->config);

    domain->flash = (struct flash){
        .segment = segment,
        .chip = {.bytes = segment == NULL ? 0 : (uint32_t)segment->bytes},
    };
}

void flash_reset(struct domain *domain)
{
    struct flash *flash = &domain->flash;

    flash->chip = (struct nor_flash){.bytes = flash->chip.bytes};
    if (atomic_load(&flash->hidden)) {
        set_hidden(domain, false);
    }
}

/* True if guest-physical address `ipa` is in the flash; `*offset` is then its position there. */
static bool holds(const struct flash *flash, uint64_t ipa, uint64_t *offset)
{
    if (flash->segment == NULL) {
        return false;
    }
    *offset = ipa - flash->segment->ipa;
    return *offset < flash->segment->bytes;
}

/* True if all of the flash was mapped when the domain was set up, so that a first access does not fault. */
static bool is_mapped_from_the_start(const struct domain *domain)
{
    return manifest_color_space(system_manifest()).bits == 0 ||
           domain_has_flag(domain, BH_DOMAIN_FLAG_PREMAP);
}

bool flash_answers(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    /* A fault of hidden flash: another VCPU may have made it visible since. */
    return holds(&domain->flash, page, offset) &&
           (atomic_load(&domain->flash.hidden) || is_mapped_from_the_start(domain));
}

bool flash_keeps(const struct domain *domain, uint64_t ipa)
{
    uint64_t offset;

    return holds(&domain->flash, ipa, &offset);
}

/* Translates the address instead of using HPFAR_EL2, because the core need not set that register for a
 * permission fault (DDI 0487, D24.2). */
enum flash_write flash_write_at(const struct domain *domain, uint64_t address, uint64_t *offset)
{
    const struct manifest_segment *segment = domain->flash.segment;
    struct color_range range;
    uint64_t par;
    paddr_t pa;

    if (segment == NULL) {
        return FLASH_WRITE_IGNORED;
    }
    par = guest_translation(address);
    if ((par & PAR_FAILED) != 0) {
        return FLASH_WRITE_AGAIN;
    }
    pa = par_address(par, address);
    range = manifest_segment_range(system_manifest(), segment);
    if (pa.value < range.first.value ||
        (range.space.bits != 0 && !color_set_has(range.set, color_of(range.space, pa)))) {
        return FLASH_WRITE_IGNORED;
    }
    *offset = color_offset(&range, pa);
    return *offset < segment->bytes ? FLASH_WRITE_COMMAND : FLASH_WRITE_IGNORED;
}

/* Changes the content as `work` says. The guest cannot write the flash, so no cache has a dirty line of
 * it. */
static void change(const struct domain *domain, const struct nor_flash_work *work)
{
    uint64_t ipa = domain->flash.segment->ipa + work->offset;
    struct placement place;

    if (work->change == NOR_FLASH_NOTHING) {
        return;
    }
    place = placement_of(system_manifest(), domain->config, ipa, work->bytes);
    if (work->change == NOR_FLASH_ERASE) {
        loader_erase(place.pa, work->bytes);
    } else {
        loader_clear_bits(place.pa, work->bytes, work->value);
    }
}

/* Charges for invalidating translations on other cores, which counts as maintenance (T5). */
static void charge_broadcast(struct cpu *cpu)
{
    if (cpu->vcpu->domain->spread) {
        charge_events(cpu, system_manifest()->platform.broadcast_events);
    }
}

/* True if the flash is hidden, but a device of the domain may still read it. */
static bool is_read_by_devices(const struct domain *domain)
{
    return atomic_load(&domain->flash.hidden) && !smmu_domain_is_unmapped(domain);
}

/* Carries out an access, which may show the flash again. Returns as flash_access(). */
static bool carry_out(struct domain *domain, struct mmio_access *access)
{
    struct nor_flash *chip = &domain->flash.chip;
    uint32_t offset = (uint32_t)access->offset;
    struct nor_flash_work work = nor_flash_go_on(chip);
    bool done;

    change(domain, &work);
    done = access->write || chip->mode != NOR_FLASH_ARRAY;
    if (access->write) {
        work = nor_flash_write(chip, offset, access->bytes, access->value);
        change(domain, &work);
    } else if (done) {
        access->value = nor_flash_read(chip, offset, access->bytes);
    }
    if (chip->mode == NOR_FLASH_ARRAY && atomic_load(&domain->flash.hidden)) {
        set_hidden(domain, false);
    }
    return done;
}

/* True if the write is a command after which reads do not return the content. */
static bool ends_reading(const struct nor_flash *chip, const struct mmio_access *access)
{
    struct nor_flash next = *chip;

    (void)nor_flash_write(&next, (uint32_t)access->offset, access->bytes, access->value);
    return next.mode != NOR_FLASH_ARRAY;
}

/* The flash is hidden before the command that demands it is carried out. While a device may still read the
 * flash, the guest repeats each access to it, so no command takes effect meanwhile, and the flash is not
 * shown and hidden again: a domain has one unmapping under way at most. */
bool flash_access(struct cpu *cpu, struct mmio_access *access)
{
    struct domain *domain = cpu->vcpu->domain;
    struct flash *flash = &domain->flash;
    bool done = false;
    bool hide;

    cpu_count_exit(cpu, BH_EXIT_REASON_FLASH_ACCESS);
    spin_lock(&flash->lock);
    hide = access->write && !atomic_load(&flash->hidden) && ends_reading(&flash->chip, access);
    if (hide) {
        set_hidden(domain, true);
    }
    access->again = is_read_by_devices(domain);
    if (!access->again) {
        done = carry_out(domain, access);
    }
    spin_unlock(&flash->lock);
    if (hide) {
        charge_broadcast(cpu);
    }
    return done;
}
