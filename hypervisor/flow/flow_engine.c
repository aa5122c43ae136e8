/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the copy engines, on top of the driver of their registers (zdma.h).
 */
#include "flow/flow_engine.h"
#include "base/qos400.h"
#include "flow/zdma.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/gic.h>
#include <stdatomic.h>

static struct flow_engine {
    _Atomic uint32_t state; /* enum flow_engine_state */
    _Atomic uint64_t since; /* counter value at the start of the last transfer */
    bool routed;            /* its interrupt is routed to a core */
} engines[BH_MAX_BROKERS];

static const struct manifest_broker *config(uint32_t broker)
{
    return manifest_broker_at(system_manifest(), broker);
}

static paddr_t channel(uint32_t broker)
{
    return paddr(config(broker)->engine_pa);
}

bool flow_engine_exists(uint32_t broker)
{
    return config(broker)->engine == BH_BROKER_ENGINE_ZDMA;
}

void flow_engine_init(uint32_t broker)
{
    const struct manifest_broker *stated = config(broker);

    engines[broker].routed = false;
    atomic_store(&engines[broker].state, (uint32_t)FLOW_ENGINE_IDLE);
    if (flow_engine_exists(broker)) {
        zdma_init(channel(broker));
    }
    if (stated->qos_pa != 0) { /* if it does not hold the rate, transfers are late enough without it */
        (void)qos400_limit(paddr(stated->qos_pa), stated->qos_rate, stated->qos_rate);
    }
}

void flow_engine_start(uint32_t broker, const struct cpu *cpu, const struct engine_transfer *transfer)
{
    if (!engines[broker].routed) { /* a GICv2 can route to a core only when that core is up */
        engines[broker].routed = true;
        gic_enable(config(broker)->engine_irq, cpu->mpidr);
    }
    atomic_store(&engines[broker].since, clock_now());
    atomic_store(&engines[broker].state, (uint32_t)FLOW_ENGINE_RUNS);
    zdma_start(channel(broker), paddr(transfer->from), paddr(transfer->to), transfer->bytes);
}

enum flow_engine_state flow_engine_look(uint32_t broker)
{
    enum zdma_outcome outcome;

    if (!flow_engine_runs(broker)) {
        return (enum flow_engine_state)atomic_load(&engines[broker].state);
    }
    outcome = zdma_outcome(channel(broker));
    if (outcome == ZDMA_UNDER_WAY) {
        return FLOW_ENGINE_RUNS;
    }
    system_status()->failed_transfers[broker] += outcome == ZDMA_FAILED;
    atomic_store(&engines[broker].state,
                 (uint32_t)(outcome == ZDMA_DONE ? FLOW_ENGINE_ENDED : FLOW_ENGINE_FAILED));
    return (enum flow_engine_state)atomic_load(&engines[broker].state);
}

void flow_engine_forget(uint32_t broker)
{
    atomic_store(&engines[broker].state, (uint32_t)FLOW_ENGINE_IDLE);
}

bool flow_engine_runs(uint32_t broker)
{
    return atomic_load(&engines[broker].state) == FLOW_ENGINE_RUNS;
}

uint64_t flow_engine_runs_since(uint32_t broker)
{
    return flow_engine_runs(broker) ? atomic_load(&engines[broker].since) : 0;
}

bool flow_engine_has(uint32_t broker, uint32_t intid)
{
    return flow_engine_exists(broker) && intid == config(broker)->engine_irq;
}
