/* SPDX-License-Identifier: Apache-2.0
 *
 * Start and stop of domains' functions, and accesses of guests to configuration space.
 */
#include "pci/pci.h"
#include "console/console.h"
#include "pci/pci_bridge.h"
#include "pci/pci_function.h"
#include "vm/clock.h"
#include "vm/domain.h"
#include <string.h>

static struct {
    struct pci_function functions[BH_MAX_FUNCTIONS]; /* in the order of the manifest */
    bool has_functions[BH_MAX_DOMAINS];
} driver;

void pci_log(const struct pci_function *function, const char *what, const char *difference)
{
    const struct manifest_function *config = function->config.function;
    uint32_t id = config->requester;

    console_log("PCI: function %02x:%02x.%x of '%s'%s: %s", PCI_BUS(id), PCI_SLOT(id), PCI_NUMBER(id),
                domain_at(config->domain)->config->name, what, difference);
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

const char *pci_check_and_enable(struct pci_function *function, uint32_t command)
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
                                 ? pci_check_and_enable(function, command)
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

/* Reads slot 0, which answers at once or is empty, as pci_silence() does. */
void pci_wait_until(uint64_t time)
{
    do {
        (void)pci_read_at(pci_place(system_manifest(), 0), PCI_ID);
    } while (clock_now() < time);
}

/* Begins the reset of the functions on bus 0 that can be reset. Otherwise a function would use what a boot
 * loader has left in its own registers, rings for example, as soon as its guest lets it master memory.
 * Functions behind bridges have been reset with their bus. Returns the function that is not the one in the
 * manifest; NULL: all are. */
static const struct pci_function *begin_resets(const char **difference)
{
    for (uint32_t i = 0; i < system_manifest()->functions.count; i++) {
        struct pci_function *function = &driver.functions[i];

        if (PCI_BUS(function->config.function->requester) != 0) {
            continue;
        }
        *difference = pci_function_check(function);
        if (*difference != NULL) {
            return function;
        }
        if (pci_has_reset(function)) {
            pci_begin_reset(function);
        }
    }
    return NULL;
}

/* Those that do not answer at the end are reported when they are compared with the manifest. */
static void wait_for_functions(void)
{
    const struct manifest_header *manifest = system_manifest();
    uint64_t begun = clock_now();

    pci_wait_until(begun + clock_ticks(PCI_RESET_NS));
    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *function = &manifest_functions(manifest)[i];

        while (!pci_answers(pci_read(function, PCI_ID)) &&
               clock_now() < begun + clock_ticks(PCI_GIVE_UP_NS)) {
            pci_wait_until(clock_now() + clock_ticks(PCI_RETRY_NS));
        }
    }
}

/* Enables the registers of all domains' functions. Returns as begin_resets(). */
static const struct pci_function *enable_functions(const char **difference)
{
    for (uint32_t i = 0; i < system_manifest()->functions.count; i++) {
        *difference = pci_check_and_enable(&driver.functions[i], PCI_COMMAND_READY);
        if (*difference != NULL) {
            return &driver.functions[i];
        }
    }
    return NULL;
}

enum bh_manifest_error pci_init(void)
{
    const struct manifest_header *manifest = system_manifest();
    const struct pci_function *wrong;
    const char *difference = NULL;

    memset(&driver, 0, sizeof driver);
    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        driver.functions[i].config.function = &manifest_functions(manifest)[i];
        driver.has_functions[manifest_functions(manifest)[i].domain] = true;
    }
    if (!pci_bridges_init()) {
        return BH_MANIFEST_ERROR_PCI;
    }
    wrong = begin_resets(&difference);
    if (wrong == NULL && manifest->functions.count != 0) {
        wait_for_functions();
        wrong = enable_functions(&difference);
    }
    if (wrong != NULL) {
        pci_log(wrong, "", difference);
        return BH_MANIFEST_ERROR_PCI;
    }
    if (manifest->pci.config_pa != 0) {
        console_log("PCI: %u function%s of domains, all others are off", manifest->functions.count,
                    manifest->functions.count == 1 ? "" : "s");
    }
    return BH_MANIFEST_ERROR_NONE;
}

struct pci_function *pci_next_of(const struct domain *domain, struct pci_function *function)
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
    for (struct pci_function *one = pci_next_of(domain, NULL); one != NULL; one = pci_next_of(domain, one)) {
        spin_lock(&one->lock);
        pci_config_reset(&one->config);
        one->wait_until = 0;
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
    for (struct pci_function *one = pci_next_of(domain, NULL); one != NULL; one = pci_next_of(domain, one)) {
        one->step_at = clock_now();
        one->give_up_at = one->step_at + clock_ticks(PCI_GIVE_UP_NS);
        atomic_store(&one->reset, (uint32_t)PCI_RESET_DUE);
    }
}

/* A function that is not ready has just been reset by its guest, so it masters no memory. It is asked only
 * where the answer does not wait for it, because this may be another domain's core. A core may be late and
 * find that EL2's reset has begun, or that the domain runs again. */
void pci_domain_off(const struct domain *domain)
{
    for (struct pci_function *one = pci_next_of(domain, NULL); one != NULL; one = pci_next_of(domain, one)) {
        spin_lock(&one->lock);
        if (atomic_load(&one->reset) == PCI_RESET_DUE) {
            if (!pci_bridge_tells(one->config.function) || pci_is_ready(one)) {
                pci_write(one->config.function, PCI_COMMAND, PCI_COMMAND_OFF);
            }
            one->runs = false;
        }
        spin_unlock(&one->lock);
    }
}

bool pci_config_at(const struct domain *domain, uint64_t page, uint64_t *offset)
{
    *offset = page - system_manifest()->pci.config_pa;
    return *offset < BH_PCI_BUS_BYTES && driver.has_functions[domain->index];
}

/* The domain's function whose configuration space has `offset`; NULL: it has none there. */
static struct pci_function *function_at(const struct domain *domain, uint64_t offset)
{
    struct pci_function *one = pci_next_of(domain, NULL);

    while (one != NULL && one->config.function->guest_slot != offset >> PCI_SLOT_SHIFT) {
        one = pci_next_of(domain, one);
    }
    return (offset & ((1u << PCI_SLOT_SHIFT) - PCI_CONFIG_BYTES)) == 0 ? one : NULL;
}

static bool is_reachable(struct pci_function *function)
{
    return function->runs && atomic_load(&function->reset) == PCI_RESET_DONE;
}

/* Whether the function is ready for the rest of a guest's write. Otherwise the guest must repeat its write
 * (`*again`), or the function, which was not ready in time, is lost. */
static bool is_ready_in_time(struct pci_function *function, bool *again)
{
    uint64_t now = clock_now();

    if (pci_is_ready(function)) {
        function->wait_until = 0;
        return true;
    }
    if (function->wait_until == 0) {
        function->wait_until = now + clock_ticks(PCI_GIVE_UP_NS);
    }
    *again = now < function->wait_until;
    function->runs = *again;
    return false;
}

/* Carries out a guest's write. `*again`: the guest must repeat it, which has the same effect. Returns why the
 * function is lost, or NULL. */
static const char *write_config(struct pci_function *function, uint32_t offset, uint32_t mask, uint32_t value,
                                bool *again)
{
    enum pci_config_effect effect = PCI_CONFIG_NOTHING;
    const char *difference = NULL;

    spin_lock(&function->lock);
    if (is_reachable(function)) {
        effect = pci_config_write(&function->config, offset, mask, value);
    }
    if (effect == PCI_CONFIG_NOTHING) {
        /* It is done. */
    } else if (!is_ready_in_time(function, again)) {
        difference = *again ? NULL : "it was not ready in time";
    } else if (effect == PCI_CONFIG_COMMAND) {
        difference = enable_again(function);
    } else {
        set_messages(function);
    }
    spin_unlock(&function->lock);
    return difference;
}

/* Reads take no lock, because a write may hold it while the function is slow to answer: each register is one
 * word of `config`. */
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
    if (function != NULL && access->write) {
        difference = write_config(function, offset, mask, (uint32_t)access->value << shift, &access->again);
    } else if (function != NULL && is_reachable(function)) {
        value = pci_config_read(&function->config, offset);
    }
    if (difference != NULL) {
        pci_log_lost(function, difference);
    }
    if (!access->write) {
        access->value = (value & mask) >> shift;
    }
    return true;
}
