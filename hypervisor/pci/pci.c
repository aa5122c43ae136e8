/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, stop and reset of domains' functions, and accesses of guests to configuration space.
 */
#include "pci/pci.h"
#include "console/console.h"
#include "pci/pci_function.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"
#include <string.h>

#define RESET_NS 100000000ull /* PCI Express Base 6.6.2: until a function has been reset */

static struct {
    struct pci_function functions[BH_MAX_FUNCTIONS]; /* in the order of the manifest */
    bool has_functions[BH_MAX_DOMAINS];
} driver;

static void log_lost(const struct pci_function *function, const char *difference)
{
    const struct manifest_function *config = function->config.function;

    console_log("PCI: function 00:%02x.0 of '%s' is off until its domain's next start: %s", config->slot,
                domain_at(config->domain)->config->name, difference);
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

/* Writes the command register, and then reads the BARs: so the write has arrived, and the function answers
 * where the manifest says. If it does not, it is off until its domain's next start. */
static const char *enable(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;

    pci_write(config, PCI_COMMAND, pci_config_command(&function->config));
    function->runs = pci_bars_are_placed(config);
    if (function->runs) {
        return NULL;
    }
    pci_write(config, PCI_COMMAND, PCI_COMMAND_OFF);
    return "its BARs are not where they have been written";
}

/* As enable(), for a function that its guest may have reset through the function's own registers. After such
 * a reset the function's registers are off, and its BARs are 0. */
static const char *enable_again(struct pci_function *function)
{
    uint32_t command = pci_read(function->config.function, PCI_COMMAND);

    if (command == PCI_NO_FUNCTION || (command & PCI_COMMAND_MEMORY) == 0) {
        const char *difference = pci_function_check(function);

        if (difference != NULL) {
            function->runs = false;
            return difference;
        }
        pci_place_bars(function->config.function);
    }
    return enable(function);
}

void pci_domain_start(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        const char *difference = NULL;

        spin_lock(&one->lock);
        pci_config_reset(&one->config);
        if (!one->lost) {
            difference = enable(one);
        }
        spin_unlock(&one->lock);
        if (difference != NULL) {
            log_lost(one, difference);
        }
    }
}

/* Only writes, which do not wait for the function: the core may be another domain's. The BARs are written
 * because the guest may have reset the function. The function still answers at them, since VCPUs of the
 * domain may still run. */
void pci_domain_stop(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        spin_lock(&one->lock);
        if (one->runs) {
            pci_place_bars(one->config.function);
            pci_write(one->config.function, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF);
        } else {
            pci_write(one->config.function, PCI_COMMAND,
                      PCI_COMMAND_OFF); /* a lost function may answer again */
        }
        one->runs = false;
        one->reset = PCI_RESET_DUE;
        spin_unlock(&one->lock);
    }
}

/* The function has been reset, as far as it can be. Checks that it is still the one in the manifest. */
static void end_reset(struct pci_function *function)
{
    const char *difference = pci_function_check(function);

    function->reset = PCI_RESET_DONE;
    function->lost = difference != NULL;
    if (function->lost) {
        log_lost(function, difference);
    } else {
        pci_place_bars(function->config.function);
    }
}

static void begin_reset(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t control = function->config.express + PCI_EXPRESS_CONTROL;

    pci_write(config, PCI_COMMAND, PCI_COMMAND_OFF);
    if (pci_read(config, PCI_ID) == config->id && function->has_reset) {
        pci_write(config, control, (pci_read(config, control) & 0xFFFF) | PCI_EXPRESS_RESET);
        function->reset = PCI_RESET_WAITS;
        function->reset_until = clock_now() + clock_ticks(RESET_NS);
    } else {
        end_reset(function);
    }
}

/* The domain's first function whose reset is in this step; NULL: there is none. */
static struct pci_function *first_in(const struct domain *domain, enum pci_reset step)
{
    struct pci_function *one = next_of(domain, NULL);

    while (one != NULL && one->reset != step) {
        one = next_of(domain, one);
    }
    return one;
}

/* Other domains whose first VCPU is on this core may wait for a reset, too. */
static void ask_again(uint64_t when)
{
    uint64_t earlier = this_cpu()->rare_alarms[RARE_ALARM_RESET];

    if (earlier == 0 || earlier > when) {
        rare_alarm_set(RARE_ALARM_RESET, when);
    }
}

bool pci_domain_is_reset(const struct domain *domain)
{
    struct pci_function *one = first_in(domain, PCI_RESET_DUE);

    if (one != NULL) {
        begin_reset(one);
    } else {
        one = first_in(domain, PCI_RESET_WAITS);
        if (one != NULL && clock_now() >= one->reset_until) {
            end_reset(one);
        }
    }
    if (first_in(domain, PCI_RESET_DUE) != NULL) {
        ask_again(clock_now());
        return false;
    }
    one = first_in(domain, PCI_RESET_WAITS);
    if (one != NULL) {
        ask_again(one->reset_until);
    }
    return one == NULL;
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

bool pci_config_access(const struct domain *domain, struct mmio_access *access)
{
    struct pci_function *function = function_at(domain, access->offset);
    uint32_t offset = (uint32_t)access->offset & (PCI_CONFIG_BYTES - 4);
    uint32_t shift = 8 * ((uint32_t)access->offset & 3);
    const char *difference = NULL;
    uint32_t value = PCI_NO_FUNCTION;
    uint32_t mask;

    if (access->bytes > 4) {
        return false;
    }
    mask = UINT32_MAX >> (32 - 8 * access->bytes) << shift;
    if (function != NULL) {
        spin_lock(&function->lock);
        if (function->runs && !access->write) {
            value = pci_config_read(&function->config, offset);
        } else if (function->runs &&
                   pci_config_write(&function->config, offset, mask, (uint32_t)access->value << shift)) {
            difference = enable_again(function);
        }
        spin_unlock(&function->lock);
    }
    if (difference != NULL) {
        log_lost(function, difference);
    }
    if (!access->write) {
        access->value = (value & mask) >> shift;
    }
    return true;
}
