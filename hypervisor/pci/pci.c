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

/* PCI Express Base 6.6.1 and 6.6.2. */
#define RESET_NS   100000000ull  /* until a function has been reset */
#define RETRY_NS   10000000ull   /* until EL2 asks a function again that does not answer */
#define GIVE_UP_NS 1000000000ull /* after its reset a function may not answer yet for so long */

#define COMMAND_READY (PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_OFF) /* until the domain starts */

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

/* Writes the command register, and then reads the BARs: so the write has arrived, and the function answers
 * where the manifest says. Otherwise the function is off. */
static const char *enable(const struct manifest_function *config, uint32_t command)
{
    pci_write(config, PCI_COMMAND, command);
    if (pci_bars_are_placed(config)) {
        return NULL;
    }
    pci_write(config, PCI_COMMAND, PCI_COMMAND_OFF);
    return "its BARs are not where they have been written";
}

/* As enable(), for a function that has been reset. */
static const char *check_and_enable(struct pci_function *function, uint32_t command)
{
    const char *difference = pci_function_check(function);

    if (difference != NULL) {
        return difference;
    }
    pci_place_bars(function->config.function);
    return enable(function->config.function, command);
}

/* As enable(), for a function that its guest may have reset through the function's own registers. After such
 * a reset the function's registers are off, and its BARs are 0. */
static const char *enable_again(struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t before = pci_read(config, PCI_COMMAND);
    uint32_t command = pci_config_command(&function->config);
    const char *difference = before == PCI_NO_FUNCTION || (before & PCI_COMMAND_MEMORY) == 0
                                 ? check_and_enable(function, command)
                                 : enable(config, command);

    function->runs = difference == NULL;
    return difference;
}

/* Enables or masks the function's message interrupts, unless its guest has reset it and it has become another
 * function. */
static void set_messages(const struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;

    if ((pci_read(config, function->config.msix) & 0xFF) == PCI_CAPABILITY_MSIX) {
        pci_write(config, function->config.msix, function->config.msix_control);
    }
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
        difference = check_and_enable(&driver.functions[i], COMMAND_READY);
        if (difference != NULL) {
            console_log("PCI: function 00:%02x.0 of '%s': %s", config->slot,
                        domain_at(config->domain)->config->name, difference);
            return BH_MANIFEST_ERROR_PCI;
        }
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

/* A function that is not lost answers at its BARs already: pci_init() or its reset's last step has enabled
 * it. So one write is left, which does not wait for the function. */
void pci_domain_start(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        spin_lock(&one->lock);
        pci_config_reset(&one->config);
        one->runs = !one->lost;
        if (one->runs) {
            pci_write(one->config.function, PCI_COMMAND, pci_config_command(&one->config));
        }
        spin_unlock(&one->lock);
    }
}

/* Accesses no function: the guest may have reset one and, in an FPGA for example, have changed its BARs. EL2
 * could find that out only by reads, which wait for the function, and the core may be another domain's. */
void pci_domain_stop(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        one->step_at = clock_now();
        one->give_up_at = one->step_at + clock_ticks(GIVE_UP_NS);
        atomic_store(&one->reset, (uint32_t)PCI_RESET_DUE);
    }
}

/* Only writes, which do not wait for the function. A core may be late and find that the reset has begun, or
 * that the domain runs again. */
void pci_domain_off(const struct domain *domain)
{
    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        spin_lock(&one->lock);
        if (atomic_load(&one->reset) == PCI_RESET_DUE) {
            pci_write(one->config.function, PCI_COMMAND, PCI_COMMAND_OFF);
            one->runs = false;
        }
        spin_unlock(&one->lock);
    }
}

/* The function has been reset, as far as it can be. Checks that it is still the one in the manifest. */
static void end_reset(struct pci_function *function)
{
    const char *difference = check_and_enable(function, COMMAND_READY);

    atomic_store(&function->reset, (uint32_t)PCI_RESET_DONE);
    function->lost = difference != NULL;
    if (function->lost) {
        log_lost(function, difference);
    }
}

static bool can_be_reset(const struct pci_function *function, uint32_t id)
{
    const struct manifest_function *config = function->config.function;

    return id == config->id && pci_has_reset(function) &&
           (pci_read(config, function->config.express) & 0xFF) == PCI_CAPABILITY_EXPRESS;
}

/* `id`: the function's first register. */
static void begin_reset(struct pci_function *function, uint32_t id)
{
    const struct manifest_function *config = function->config.function;
    uint32_t control = function->config.express + PCI_EXPRESS_CONTROL;

    /* From here on pci_domain_off() does nothing. */
    spin_lock(&function->lock);
    function->runs = false;
    atomic_store(&function->reset, (uint32_t)PCI_RESET_WAITS);
    spin_unlock(&function->lock);
    if (id != PCI_NO_FUNCTION) {
        pci_write(config, PCI_COMMAND, PCI_COMMAND_OFF);
    }
    if (can_be_reset(function, id)) {
        pci_write(config, control, (pci_read(config, control) & 0xFFFF) | PCI_EXPRESS_RESET);
        function->step_at = clock_now() + clock_ticks(RESET_NS);
        function->give_up_at = clock_now() + clock_ticks(GIVE_UP_NS);
    } else {
        end_reset(function);
    }
}

/* A function does not answer at once after a reset: its guest may have reset it just before the stop. */
static void reset_step(struct pci_function *function)
{
    uint64_t now = clock_now();
    uint32_t id = pci_read(function->config.function, PCI_ID);

    if (!pci_answers(id) && now < function->give_up_at) {
        function->step_at = now + clock_ticks(RETRY_NS);
    } else if (atomic_load(&function->reset) == PCI_RESET_DUE) {
        begin_reset(function, id);
    } else {
        end_reset(function);
    }
}

/* The domain's function whose reset has the earliest step; NULL: all have been reset. */
static struct pci_function *next_step(const struct domain *domain)
{
    struct pci_function *next = NULL;

    for (struct pci_function *one = next_of(domain, NULL); one != NULL; one = next_of(domain, one)) {
        if (atomic_load(&one->reset) != PCI_RESET_DONE && (next == NULL || one->step_at < next->step_at)) {
            next = one;
        }
    }
    return next;
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
    struct pci_function *one = next_step(domain);
    uint64_t now = clock_now();

    if (one != NULL && now >= one->step_at) {
        reset_step(one);
        one = next_step(domain);
    }
    if (one != NULL) {
        ask_again(one->step_at > now ? one->step_at : now);
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
    enum pci_config_effect effect = PCI_CONFIG_NOTHING;
    uint32_t value = PCI_NO_FUNCTION;
    uint32_t mask;

    if (access->bytes > 4) {
        return false;
    }
    mask = UINT32_MAX >> (32 - 8 * access->bytes) << shift;
    if (function != NULL) {
        bool runs;

        spin_lock(&function->lock);
        runs = function->runs && atomic_load(&function->reset) == PCI_RESET_DONE;
        if (runs && !access->write) {
            value = pci_config_read(&function->config, offset);
        } else if (runs) {
            effect = pci_config_write(&function->config, offset, mask, (uint32_t)access->value << shift);
        }
        if (effect == PCI_CONFIG_COMMAND) {
            difference = enable_again(function);
        } else if (effect == PCI_CONFIG_MSIX) {
            set_messages(function);
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
