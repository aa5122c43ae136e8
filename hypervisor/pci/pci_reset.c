/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset of a domain's functions after the domain has stopped: of the whole bus behind a bridge if all
 * domains' functions there are this domain's, otherwise of each function that has function-level reset.
 */
#include "pci/pci.h"
#include "pci/pci_bridge.h"
#include "pci/pci_function.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/rare_alarm.h"

static uint32_t bus_of(const struct pci_function *function)
{
    return PCI_BUS(function->config.function->requester);
}

/* The bridge whose bus is reset with the function; NULL: it is on bus 0, or another domain has a function on
 * its bus. */
static const struct manifest_bridge *own_bridge(const struct pci_function *function)
{
    const struct manifest_header *manifest = system_manifest();

    for (uint32_t i = 0; i < manifest->functions.count; i++) {
        const struct manifest_function *other = &manifest_functions(manifest)[i];

        if (PCI_BUS(other->requester) == bus_of(function) &&
            other->domain != function->config.function->domain) {
            return NULL;
        }
    }
    return pci_bridge_of(function->config.function);
}

/* The function has been reset, as far as it can be. Checks that it is still the one in the manifest. */
static void end_reset(struct pci_function *function)
{
    const char *difference = pci_check_and_enable(function, PCI_COMMAND_READY);

    atomic_store(&function->reset, (uint32_t)PCI_RESET_DONE);
    function->lost = difference != NULL;
    if (function->lost) {
        pci_log_lost(function, difference);
    }
}

static bool can_be_reset(const struct pci_function *function, uint32_t id)
{
    const struct manifest_function *config = function->config.function;

    return id == config->id && pci_has_reset(function) &&
           (pci_read(config, function->config.express) & 0xFF) == PCI_CAPABILITY_EXPRESS;
}

/* From here on pci_domain_off() does nothing with the function. */
static void take(struct pci_function *function, enum pci_reset state)
{
    spin_lock(&function->lock);
    function->runs = false;
    atomic_store(&function->reset, (uint32_t)state);
    spin_unlock(&function->lock);
}

void pci_begin_reset(const struct pci_function *function)
{
    const struct manifest_function *config = function->config.function;
    uint32_t control = function->config.express + PCI_EXPRESS_CONTROL;

    pci_write(config, control, (pci_read(config, control) & 0xFFFF) | PCI_EXPRESS_RESET);
}

/* `id`: the function's first register. */
static void begin_reset(struct pci_function *function, uint32_t id)
{
    take(function, PCI_RESET_WAITS);
    if (id != PCI_NO_FUNCTION) {
        pci_write(function->config.function, PCI_COMMAND, PCI_COMMAND_OFF);
    }
    if (can_be_reset(function, id)) {
        pci_begin_reset(function);
        function->step_at = clock_now() + clock_ticks(PCI_RESET_NS);
        function->give_up_at = clock_now() + clock_ticks(PCI_GIVE_UP_NS);
    } else {
        end_reset(function);
    }
}

/* All functions on the bus go on to `state`, whose step is after `wait_ns`. */
static void step_bus(const struct domain *domain, uint32_t bus, enum pci_reset state, uint64_t wait_ns)
{
    uint64_t now = clock_now();

    for (struct pci_function *one = pci_next_of(domain, NULL); one != NULL; one = pci_next_of(domain, one)) {
        if (bus_of(one) == bus) {
            take(one, state);
            one->step_at = now + clock_ticks(wait_ns);
            one->give_up_at = now + clock_ticks(PCI_GIVE_UP_NS);
        }
    }
}

/* The reset of a bus needs no answer of a function, and masters no memory from its first write on. */
static void bus_step(const struct domain *domain, struct pci_function *function,
                     const struct manifest_bridge *bridge)
{
    bool begins = atomic_load(&function->reset) == PCI_RESET_DUE;

    if (begins) {
        /* The state first: a core whose VCPU has just gone off accesses no function whose reset has begun. */
        step_bus(domain, bridge->bus, PCI_RESET_BUS, PCI_HOLD_NS);
        pci_bridge_reset(bridge, true);
        step_bus(domain, bridge->bus, PCI_RESET_BUS, PCI_HOLD_NS); /* the time counts from the write on */
    } else {
        pci_bridge_reset(bridge, false);
        step_bus(domain, bridge->bus, PCI_RESET_WAITS, PCI_RESET_NS);
    }
}

/* A function does not answer at once after a reset: its guest may have reset it just before the stop. */
static void function_step(struct pci_function *function)
{
    uint64_t now = clock_now();
    uint32_t id = pci_read(function->config.function, PCI_ID);

    if (!pci_answers(id) && now < function->give_up_at) {
        function->step_at = now + clock_ticks(PCI_RETRY_NS);
    } else if (atomic_load(&function->reset) == PCI_RESET_DUE) {
        begin_reset(function, id);
    } else {
        end_reset(function);
    }
}

static void reset_step(const struct domain *domain, struct pci_function *function)
{
    const struct manifest_bridge *bridge = own_bridge(function);

    if (bridge != NULL && atomic_load(&function->reset) != PCI_RESET_WAITS) {
        bus_step(domain, function, bridge);
    } else {
        function_step(function);
    }
}

/* The domain's function whose reset has the earliest step; NULL: all have been reset. */
static struct pci_function *next_step(const struct domain *domain)
{
    struct pci_function *next = NULL;

    for (struct pci_function *one = pci_next_of(domain, NULL); one != NULL; one = pci_next_of(domain, one)) {
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
        reset_step(domain, one);
        one = next_step(domain);
    }
    if (one != NULL) {
        ask_again(one->step_at > now ? one->step_at : now);
    }
    return one == NULL;
}
