/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks the board data in a manifest: device windows, interrupt numbers, cores, RAM, color sets. Part of
 * manifest_check().
 */
#include "core/manifest_internal.h"

#define MOST_COLOR_BITS          8u
#define LAST_EVENT               0xFFFFu
#define MOST_BACKUP_EVENTS       1024u
#define LOWEST_COLOR_BIT         12u
/* Size for BH_MAX_CORES cores with redistributors of the larger kind. */
#define MOST_REDISTRIBUTOR_BYTES (2ull * BH_MAX_CORES * BH_REDISTRIBUTOR_BYTES)

static bool is_private_peripheral(uint32_t intid)
{
    return intid >= BH_FIRST_PERIPHERAL_INTID && intid < BH_FIRST_SHARED_INTID;
}

/* Guests' virtual UARTs use the interrupt number of the board's UART. */
static bool is_guest_interrupt(uint32_t intid)
{
    return intid >= BH_FIRST_SHARED_INTID && intid < BH_MAX_INTID;
}

/* Valid are 0, a private interrupt that EL2 does not use otherwise, and a shared interrupt. */
static bool is_pmu_interrupt(const struct manifest_platform *platform, uint32_t intid)
{
    if (intid == 0) {
        return true;
    }
    return intid >= BH_FIRST_PERIPHERAL_INTID && intid < BH_FIRST_SPECIAL_INTID &&
           intid != platform->cntv_irq && intid != platform->cntp_irq && intid != platform->cnthp_irq &&
           intid != platform->maintenance_irq && intid != platform->uart_irq;
}

/* EL2 tells its private interrupts apart by their numbers, and the guests' timers use their architectural
 * numbers. */
static bool private_interrupts_fit(const struct manifest_platform *platform)
{
    const uint32_t intids[] = {platform->cntv_irq, platform->cntp_irq, platform->cnthp_irq,
                               platform->maintenance_irq};
    uint32_t seen = 0;

    for (uint32_t i = 0; i < sizeof intids / sizeof intids[0]; i++) {
        if (!is_private_peripheral(intids[i]) || (seen & 1u << intids[i]) != 0) {
            return false;
        }
        seen |= 1u << intids[i];
    }
    return platform->cntv_irq == BH_VIRTUAL_TIMER_INTID && platform->cntp_irq == BH_PHYSICAL_TIMER_INTID;
}

static bool is_register_offset(uint32_t offset)
{
    return offset % 4 == 0 && offset < BH_PAGE_BYTES;
}

/* The memory controller's counters: one page of registers, or all fields zero. */
static bool utilization_fits(const struct manifest_platform *platform)
{
    if (platform->utilization_pa == 0) {
        return (platform->utilization_busy | platform->utilization_cycles | platform->utilization_bits |
                platform->utilization_control | platform->utilization_clear | platform->utilization_enable) ==
               0;
    }
    return is_register_offset(platform->utilization_busy) &&
           is_register_offset(platform->utilization_cycles) &&
           is_register_offset(platform->utilization_control) && platform->utilization_bits >= 16 &&
           platform->utilization_bits <= 32;
}

/* The controller has all of its frames, and no more redistributors than EL2 has table entries for. */
static bool controller_fits(const struct manifest_header *manifest)
{
    const struct manifest_platform *platform = &manifest->platform;

    switch (platform->gic_version) {
    case BH_GIC_VERSION_GICV3:
        return platform->gicd_pa != 0 && platform->gicr_pa != 0 &&
               platform->gicr_bytes >= (uint64_t)manifest->cpus.count * BH_REDISTRIBUTOR_BYTES &&
               platform->gicr_bytes <= MOST_REDISTRIBUTOR_BYTES &&
               platform->gicr_bytes % BH_REDISTRIBUTOR_BYTES == 0;
    case BH_GIC_VERSION_GICV2:
        return platform->gicd_pa != 0 && platform->gicc_pa != 0 && platform->gich_pa != 0 &&
               platform->gicv_pa != 0;
    default:
        return false;
    }
}

/* Valid event numbers. If the first event's counter has a backup counter, no counter is left for a second
 * event. */
static bool events_fit(const struct manifest_platform *platform)
{
    bool second = (platform->writeback_event | platform->access_event) != 0;

    return platform->traffic_event <= LAST_EVENT && platform->writeback_event <= LAST_EVENT &&
           platform->access_event <= LAST_EVENT && platform->overflow_backup_events <= MOST_BACKUP_EVENTS &&
           (!second || (platform->traffic_event != 0 && platform->overflow_backup_events == 0));
}

static bool uart_fits(const struct manifest_platform *platform)
{
    bool known = platform->uart_type == BH_UART_TYPE_PL011 || platform->uart_type == BH_UART_TYPE_CADENCE ||
                 platform->uart_type == BH_UART_TYPE_IMX;

    return platform->uart_pa != 0 && is_guest_interrupt(platform->uart_irq) && known;
}

static bool check_board(struct manifest_check *check)
{
    const struct manifest_platform *platform = &check->manifest->platform;

    if (!controller_fits(check->manifest)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->gic_version);
    }
    if (!uart_fits(platform)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->uart_type);
    }
    if (!private_interrupts_fit(platform)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->cnthp_irq);
    }
    if (!events_fit(platform)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->traffic_event);
    }
    if (platform->s2fwb > 1) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->s2fwb);
    }
    if (!utilization_fits(platform)) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->utilization_pa);
    }
    if (platform->psci_method != BH_PSCI_METHOD_SMC && platform->psci_method != BH_PSCI_METHOD_NONE) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_PLATFORM, &platform->psci_method);
    }
    return true;
}

static bool check_color_bits(struct manifest_check *check)
{
    const struct manifest_platform *platform = &check->manifest->platform;
    uint64_t allowed = (MANIFEST_PA_LIMIT - 1) & ~((1ull << LOWEST_COLOR_BIT) - 1);
    uint32_t count = 0;

    for (uint64_t bits = platform->color_bits; bits != 0; bits &= bits - 1) {
        count++;
    }
    if ((platform->color_bits & ~allowed) != 0 || count > MOST_COLOR_BITS) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_COLOR_BITS, &platform->color_bits);
    }
    return true;
}

static bool check_cpus(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_cpu *cpus = manifest_cpus(manifest);

    if (manifest->cpus.count == 0) {
        return manifest_refuse(check, BH_MANIFEST_ERROR_CPU, &manifest->cpus);
    }
    for (uint32_t i = 0; i < manifest->cpus.count; i++) {
        if ((cpus[i].mpidr & ~0xFF00FFFFFFull) != 0 ||
            !is_pmu_interrupt(&manifest->platform, cpus[i].pmu_irq)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_CPU, &cpus[i]);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (cpus[j].mpidr == cpus[i].mpidr ||
                (cpus[j].pmu_irq == cpus[i].pmu_irq && cpus[i].pmu_irq >= BH_FIRST_SHARED_INTID)) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_CPU, &cpus[i]);
            }
        }
    }
    return true;
}

static bool check_ram(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_ram *ram = manifest_ram_ranges(manifest);

    for (uint32_t i = 0; i < manifest->ram.count; i++) {
        if (!is_page_aligned(ram[i].pa) || !is_page_aligned(ram[i].bytes) || ram[i].bytes == 0 ||
            !range_within(ram[i].pa, ram[i].bytes, 0, MANIFEST_PA_LIMIT)) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_RAM, &ram[i]);
        }
        for (uint32_t j = 0; j < i; j++) {
            if (ranges_overlap(ram[i].pa, ram[i].bytes, ram[j].pa, ram[j].bytes)) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_RAM, &ram[i]);
            }
        }
    }
    return true;
}

static bool check_color_sets(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;
    uint32_t colors = color_count(manifest_color_space(manifest));

    for (uint32_t i = 0; i < manifest->color_sets.count; i++) {
        const struct color_set *set = manifest_color_set(manifest, i);
        bool any = false;

        for (uint32_t color = 0; color < 64 * BH_COLOR_SET_WORDS; color++) {
            if (!color_set_has(set, color)) {
                continue;
            }
            if (color >= colors) {
                return manifest_refuse(check, BH_MANIFEST_ERROR_COLOR_SET, set);
            }
            any = true;
        }
        if (!any) {
            return manifest_refuse(check, BH_MANIFEST_ERROR_COLOR_SET, set);
        }
    }
    return true;
}

bool manifest_check_platform(struct manifest_check *check)
{
    return check_board(check) && check_color_bits(check) && check_cpus(check) && check_ram(check) &&
           manifest_check_regions(check) && check_color_sets(check);
}
