/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, stop and reset of domains' functions, and accesses of guests to configuration space.
 */
#include "pci/pci.h"
#include "console/console.h"
#include "pci/pci_function.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include <string.h>

#define MULTI_FUNCTION      0x00800000u /* in the word of the header's type */
#define FUNCTIONS_OF_A_SLOT 8u
#define CLASS_SHIFT         16u
#define CLASS_HOST_BRIDGE   0x0600u
#define RESET_NS            100000000ull /* PCI Express Base 6.6.2: until a function has been reset */

static struct {
    struct pci_function functions[BH_MAX_FUNCTIONS]; /* in the order of the manifest */
    bool has_functions[BH_MAX_DOMAINS];
    bool reset_due[BH_MAX_DOMAINS];       /* the domain has stopped */
    uint64_t reset_until[BH_MAX_DOMAINS]; /* a reset is under way until then; 0: none */
} driver;

static paddr_t place_of(const struct manifest_header *manifest, uint32_t slot, uint32_t number)
{
    return paddr(manifest->pci.config_pa + ((uint64_t)slot << PCI_SLOT_SHIFT) +
                 ((uint64_t)number << PCI_FUNCTION_SHIFT));
}

/* The host bridge stays as it is: it is no master itself. */
static void silence_function(paddr_t place)
{
    if (mmio_read32(paddr(place.value + PCI_ID)) != PCI_NO_FUNCTION &&
        mmio_read32(paddr(place.value + PCI_CLASS)) >> CLASS_SHIFT != CLASS_HOST_BRIDGE) {
        mmio_write32(paddr(place.value + PCI_COMMAND), PCI_COMMAND_INTX_OFF);
        (void)mmio_read32(paddr(place.value + PCI_COMMAND)); /* the write has arrived */
    }
}

void pci_silence(const struct manifest_header *manifest)
{
    if (manifest->pci.config_pa == 0) {
        return;
    }
    for (uint32_t slot = 0; slot < PCI_SLOTS; slot++) {
        paddr_t place = place_of(manifest, slot, 0);
        bool several = (mmio_read32(paddr(place.value + PCI_HEADER)) & MULTI_FUNCTION) != 0;

        if (mmio_read32(paddr(place.value + PCI_ID)) == PCI_NO_FUNCTION) {
            continue;
        }
        for (uint32_t number = 0; number < (several ? FUNCTIONS_OF_A_SLOT : 1); number++) {
            silence_function(place_of(manifest, slot, number));
        }
    }
}

static void set_command(const struct pci_function *function)
{
    pci_write(function->config.function, PCI_COMMAND, pci_config_command(&function->config, function->runs));
}

enum bh_manifest_error pci_init(void)
{
    const struct manifest_header *manifest = system_manifest();

    memset(&driver, 0, sizeof driver);
    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *config = &manifest_functions(manifest)[i];
        const char *difference;

        driver.functions[i].config.function = config;
        driver.has_functions[config->domain] = true;
        difference = pci_function_check(&driver.functions[i]);
        if (difference != NULL) {
            console_log("PCI: function 00:%02x.0 of '%s': %s", config->slot,
                        domain_at(config->domain)->config->name, difference);
            return BH_MANIFEST_ERROR_PCI;
        }
        pci_place_bars(config);
    }
    if (manifest->pci.config_pa != 0) {
        console_log("PCI: %u function%s of domains, all others are off", manifest->functions.count,
                    manifest->functions.count == 1 ? "" : "s");
    }
    return BH_MANIFEST_ERROR_NONE;
}

/* The domain's function after `function`, or its first one after NULL; NULL: there is no other. */
static struct pci_function *next_of(const struct domain *domain, struct pci_function *function)
{
    struct pci_function *end = driver.functions + system_manifest()->functions.count;

    for (function = function == NULL ? driver.functions : function + 1; function < end; function++) {
        if (function->config.function->domain == domain->index) {
            return function;
        }
    }
    return NULL;
}

void pci_domain_start(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        spin_lock(&one->lock);
        pci_config_reset(&one->config);
        pci_place_bars(one->config.function);
        one->runs = true;
        set_command(one);
        spin_unlock(&one->lock);
    }
}

void pci_domain_stop(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        spin_lock(&one->lock);
        one->runs = false;
        set_command(one);
        (void)pci_read(one->config.function, PCI_COMMAND); /* the write has arrived */
        spin_unlock(&one->lock);
    }
    driver.reset_due[domain->index] = true;
    driver.reset_until[domain->index] = 0;
}

/* Resets the functions that can be reset. False if there is none. */
static bool begin_reset(const struct domain *domain)
{
    bool begun = false;

    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        const struct manifest_function *config = one->config.function;
        uint32_t place = one->config.express + PCI_EXPRESS_CONTROL;

        if (one->has_reset) {
            pci_write(config, place, (pci_read(config, place) & 0xFFFF) | PCI_EXPRESS_RESET);
            begun = true;
        }
    }
    return begun;
}

static void report_missing(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        if (pci_read(one->config.function, PCI_ID) != one->config.function->id) {
            console_log("PCI: function 00:%02x.0 of '%s' does not answer after its reset",
                        one->config.function->slot, domain->config->name);
        }
    }
}

bool pci_domain_is_reset(const struct domain *domain)
{
    uint64_t *until = &driver.reset_until[domain->index];

    if (!driver.has_functions[domain->index] || !driver.reset_due[domain->index]) {
        return true;
    }
    if (*until == 0 && begin_reset(domain)) {
        *until = clock_now() + clock_ticks(RESET_NS);
    }
    if (*until != 0 && clock_now() < *until) {
        rare_alarm_set(RARE_ALARM_RESET, *until);
        return false;
    }
    if (*until != 0) {
        report_missing(domain);
    }
    driver.reset_due[domain->index] = false;
    return true;
}

bool pci_config_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    *offset = page - system_manifest()->pci.config_pa;
    return *offset < BH_PCI_BUS_BYTES && driver.has_functions[domain->index];
}

/* The domain's function whose configuration space has `offset`; NULL: it has none there. */
static struct pci_function *function_at(const struct domain *domain, uint64_t offset)
{
    struct pci_function *one = next_of(domain, NULL);

    while (one != NULL && one->config.function->slot != offset >> PCI_SLOT_SHIFT) {
        one = next_of(domain, one);
    }
    return (offset & ((1u << PCI_SLOT_SHIFT) - PCI_CONFIG_BYTES)) == 0 ? one : NULL;
}

static uint32_t read_register(const struct pci_function *function, uint32_t offset)
{
    uint32_t shown = pci_config_shown(&function->config, offset);
    uint32_t hardware = shown == 0 ? 0 : pci_read(function->config.function, offset) & shown;

    return hardware | pci_config_own(&function->config, offset);
}

bool pci_config_access(const struct domain *domain, struct mmio_access *access)
{
    struct pci_function *function = function_at(domain, access->offset);
    uint32_t offset = (uint32_t)access->offset & (PCI_CONFIG_BYTES - 4);
    uint32_t shift = 8 * ((uint32_t)access->offset & 3);
    uint32_t mask;

    if (access->bytes > 4) {
        return false;
    }
    mask = UINT32_MAX >> (32 - 8 * access->bytes) << shift;
    if (function == NULL) {
        access->value = PCI_NO_FUNCTION & mask >> shift;
        return true;
    }
    spin_lock(&function->lock);
    if (!access->write) {
        access->value = (read_register(function, offset) & mask) >> shift;
    } else if (pci_config_write(&function->config, offset, mask, (uint32_t)access->value << shift)) {
        set_command(function);
    }
    spin_unlock(&function->lock);
    return true;
}
