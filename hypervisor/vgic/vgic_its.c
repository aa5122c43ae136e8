/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual ITS: its frame of registers, the queue of commands, and messages that arrive (Arm IHI 0069,
 * chapters 5.3, 12.19). An exit executes a few commands; if more are in the queue, the guest repeats its
 * write to GITS_CWRITER, and takes interrupts in between. A command is copied from the guest's memory and
 * then read in the copy only.
 */
#include "vgic/vgic_its.h"
#include "base/its_registers.h"
#include "core/manifest.h"
#include "memory/placement.h"
#include "memory/window.h"
#include "vgic/vgic_its_internal.h"
#include "vgic/vgic_model.h"
#include "vm/system.h"

#include <arch/vgic_frames.h>
#include <stddef.h>
#include <string.h>

#define TYPER_PHYSICAL   (1ull << 0)
#define TYPER_ENTRY_8    (7ull << 4)
#define TYPER_EVENT_BITS ((VIRTUAL_ITS_EVENT_BITS - 1ull) << 8)
#define TYPER_DEVICES    ((VIRTUAL_ITS_DEVICE_BITS - 1ull) << 13)
#define TYPER_COLLECTION ((uint64_t)(__builtin_ctz(VIRTUAL_ITS_COLLECTIONS) - 1) << 32 | 1ull << 36)
#define TYPER            (TYPER_PHYSICAL | TYPER_ENTRY_8 | TYPER_EVENT_BITS | TYPER_DEVICES | TYPER_COLLECTION)

#define BASE_VALID      (1ull << 63)
#define BASE_ADDRESS    0x000FFFFFFFFFF000ull
#define BASE_PAGES(v)   (((uint32_t)(v)&0xFFu) + 1)
#define CBASER_WRITABLE 0x800FFFFFFFFFF0FFull
#define CBASER_CACHED   (7ull << 59 | 1ull << 10) /* write-back, inner shareable: as EL2 reads the queue */
#define QUEUE_OFFSET    0xFFFE0u

/* Types of the tables: devices, collections; entries of 8 bytes. All other fields are kept for the guest. */
#define BASER_FIXED(type) ((uint64_t)(type) << 56 | 7ull << 48)
#define BASER_WRITABLE    0xF8E0FFFFFFFFFFFFull
#define BASER_PAGES_64K   (2ull << 8) /* after a reset, as the emulator's; kvm-unit-tests need it */

/* Steps of an exit: one for each command and for each LPI that it changes. The command that uses them up is
 * the last one. */
#define STEPS_OF_AN_EXIT 8u

static const uint64_t fixed_fields[VGIC_ITS_TABLES] = {BASER_FIXED(1), BASER_FIXED(4)};

static uint32_t device_id(const struct manifest_function *function)
{
    return function->guest_slot << 3;
}

bool vgic_its_init(struct domain *domain)
{
    const struct manifest_header *manifest = system_manifest();
    uint64_t page = manifest->its.pa + BH_ITS_FRAME_BYTES;
    struct vgic_its *its = NULL;

    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *function = &manifest_functions(manifest)[i];

        if (function->domain != domain->index || function->messages == 0) {
            continue;
        }
        if (its == NULL) {
            its = pool_allocate_bytes(system_pool(), sizeof *its);
            if (its == NULL || !stage2_map_device(&domain->stage2, page, paddr(page), BH_PAGE_BYTES)) {
                return false;
            }
            its->policy.vcpu_count = domain->vcpu_count;
        }
        its->policy.devices[its->policy.device_count].id = device_id(function);
        its->policy.device_count++;
    }
    domain->vgic.its = its;
    return true;
}

void vgic_its_reset(struct domain *domain)
{
    struct vgic_its *its = domain->vgic.its;

    if (its != NULL) {
        virtual_its_reset(&its->policy);
        memset(&its->enabled, 0, sizeof *its - offsetof(struct vgic_its, enabled));
        for (uint32_t i = 0; i < VGIC_ITS_TABLES; i++) {
            its->tables[i] = BASER_PAGES_64K;
        }
    }
}

bool vgic_its_copy(const struct domain *domain, uint64_t ipa, void *to, uint32_t bytes)
{
    struct placement place = placement_of(system_manifest(), domain->config, ipa, bytes);
    uint32_t core = this_cpu()->index;
    uint64_t in_page = place.pa.value % BH_PAGE_BYTES;
    const char *page;

    if (place.bytes < bytes || in_page + bytes > BH_PAGE_BYTES) {
        return false;
    }
    page = window_open(core, WINDOW_DESTINATION, paddr(place.pa.value - in_page));
    memcpy(to, page + in_page, bytes);
    window_close(core, WINDOW_DESTINATION);
    return true;
}

static uint32_t queue_bytes(const struct vgic_its *its)
{
    return BASE_PAGES(its->queue) * BH_PAGE_BYTES;
}

static bool has_commands(const struct vgic_its *its)
{
    return its->enabled && (its->queue & BASE_VALID) != 0 && its->read != its->written &&
           its->written < queue_bytes(its);
}

static uint32_t count_of(uint64_t lpis)
{
    uint32_t count = 0;

    for (; lpis != 0; lpis &= lpis - 1) {
        count++;
    }
    return count;
}

/* Executes some commands of the queue. A command that is not in the guest's memory does nothing. */
static uint32_t execute(struct domain *domain)
{
    struct vgic_its *its = domain->vgic.its;
    uint32_t kick = 0;

    for (uint32_t steps = 0; steps < STEPS_OF_AN_EXIT && has_commands(its); steps++) {
        uint64_t command[VIRTUAL_ITS_COMMAND_WORDS];
        struct virtual_its_change change;

        if (vgic_its_copy(domain, (its->queue & BASE_ADDRESS) + its->read, command, sizeof command)) {
            change = virtual_its_execute(&its->policy, command);
            kick |= vgic_lpi_apply(domain, &change);
            steps += count_of(change.cleared | change.configured | change.routed);
        }
        its->read = (its->read + VIRTUAL_ITS_COMMAND_BYTES) % queue_bytes(its);
    }
    return kick;
}

bool vgic_its_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    *offset = page - system_manifest()->its.pa;
    return *offset < BH_ITS_FRAME_BYTES && domain->vgic.its != NULL;
}

/* Registers of 64 bits; 0 for all others, which read as zero. */
static uint64_t read_wide(const struct vgic_its *its, uint32_t offset)
{
    switch (offset) {
    case GITS_TYPER:
        return TYPER;
    case GITS_CBASER:
        return its->queue | CBASER_CACHED;
    case GITS_CWRITER:
        return its->written;
    case GITS_CREADR:
        return its->read;
    case GITS_BASER:
        return its->tables[0] | fixed_fields[0];
    case GITS_BASER + 8:
        return its->tables[1] | fixed_fields[1];
    default:
        return 0;
    }
}

static void write_wide(struct vgic_its *its, uint32_t offset, uint64_t value)
{
    switch (offset) {
    case GITS_CBASER:
        if (!its->enabled) {
            its->queue = value & CBASER_WRITABLE;
            its->read = 0;
        }
        break;
    case GITS_CWRITER:
        its->written = (uint32_t)value & QUEUE_OFFSET;
        break;
    case GITS_BASER:
        its->tables[0] = value & BASER_WRITABLE;
        break;
    case GITS_BASER + 8:
        its->tables[1] = value & BASER_WRITABLE;
        break;
    default:
        break;
    }
}

static uint32_t read_narrow(const struct vgic_its *its, uint32_t offset)
{
    switch (offset) {
    case GITS_CTLR:
        return GITS_CTLR_QUIESCENT | (its->enabled ? GITS_CTLR_ENABLED : 0);
    case GITS_IIDR:
        return VGIC_IIDR;
    default:
        return vgic_identification(offset);
    }
}

static bool is_narrow(uint32_t offset)
{
    return offset < GITS_TYPER || offset >= BH_ITS_FRAME_BYTES - 0x30;
}

/* One half of a register of 64 bits, or all of it. */
static void access_wide(struct vgic_its *its, struct mmio_access *access)
{
    uint32_t offset = (uint32_t)access->offset & ~7u;
    uint32_t shift = 8 * ((uint32_t)access->offset & 4);
    uint64_t mask = access->bytes == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX << shift;
    uint64_t value = read_wide(its, offset);

    if (access->write) {
        write_wide(its, offset, (value & ~mask) | (access->value << shift & mask));
    } else {
        access->value = (value & mask) >> shift;
    }
}

bool vgic_its_access(struct vcpu *vcpu, struct mmio_access *access)
{
    struct domain *domain = vcpu->domain;
    struct vgic_its *its = domain->vgic.its;
    uint32_t offset = (uint32_t)access->offset;
    uint32_t kick = 0;

    if (access->bytes < 4 || (access->bytes == 8 && is_narrow(offset))) {
        return false;
    }
    spin_lock(&domain->vgic.lock);
    if (!is_narrow(offset)) {
        access_wide(its, access);
    } else if (!access->write) {
        access->value = read_narrow(its, offset);
    } else if (offset == GITS_CTLR) {
        its->enabled = (access->value & GITS_CTLR_ENABLED) != 0;
    }
    if (access->write) {
        kick = execute(domain);
        access->again = has_commands(its);
    }
    vgic_finish(domain, vcpu, kick);
    return true;
}

bool vgic_its_message(uint32_t intid)
{
    const struct manifest_header *manifest = system_manifest();
    uint32_t index = (intid - BH_FIRST_LPI) / BH_MAX_MESSAGES;
    const struct manifest_function *function = &manifest_functions(manifest)[index];
    struct domain *domain;
    uint32_t lpi;

    if (intid < BH_FIRST_LPI || index >= manifest->functions.count || function->messages == 0) {
        return false;
    }
    domain = domain_at(function->domain);
    spin_lock(&domain->vgic.lock);
    lpi = virtual_its_translate(&domain->vgic.its->policy, device_id(function),
                                (intid - BH_FIRST_LPI) % BH_MAX_MESSAGES);
    if (lpi == VIRTUAL_ITS_NONE || !domain->vgic.its->enabled || !vgic_domain_runs(domain)) {
        spin_unlock(&domain->vgic.lock);
        return true;
    }
    this_cpu()->status->injected++;
    vgic_finish(domain, vgic_here(domain),
                vgic_lpi_apply(domain, &(struct virtual_its_change){.pended = 1ull << lpi}));
    return true;
}
