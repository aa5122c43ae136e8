/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the copy engine, on top of the driver of its registers (zdma.h).
 */
#include "flow/flow_engine.h"
#include "base/qos400.h"
#include "flow/zdma.h"
#include "vm/clock.h"
#include "vm/system.h"
#include <arch/gic.h>
#include <stdatomic.h>

static struct {
    _Atomic uint32_t state; /* enum flow_engine_state */
    _Atomic uint64_t since; /* counter value at the start of the last transfer */
    bool routed;            /* its interrupt is routed to a core */
} engine;

static const struct manifest_broker *broker_of_manifest(void)
{
    return &system_manifest()->broker;
}

static paddr_t channel(void)
{
    return paddr(broker_of_manifest()->engine_pa);
}

bool flow_engine_exists(void)
{
    return broker_of_manifest()->engine == BH_BROKER_ENGINE_ZDMA;
}

void flow_engine_init(void)
{
    const struct manifest_broker *broker = broker_of_manifest();

    engine.routed = false;
    atomic_store(&engine.state, (uint32_t)FLOW_ENGINE_IDLE);
    if (flow_engine_exists()) {
        zdma_init(channel());
    }
    if (broker->qos_pa != 0) { /* if it does not hold the rate, transfers are late enough without it */
        (void)qos400_limit(paddr(broker->qos_pa), broker->qos_rate, broker->qos_rate);
    }
}

void flow_engine_start(const struct cpu *cpu, const struct engine_transfer *transfer)
{
    if (!engine.routed) { /* a GICv2 can route to a core only when that core is up */
        engine.routed = true;
        gic_enable(broker_of_manifest()->engine_irq, cpu->mpidr);
    }
    atomic_store(&engine.since, clock_now());
    atomic_store(&engine.state, (uint32_t)FLOW_ENGINE_RUNS);
    zdma_start(channel(), paddr(transfer->from), paddr(transfer->to), transfer->bytes);
}

enum flow_engine_state flow_engine_look(void)
{
    enum zdma_outcome outcome;

    if (!flow_engine_runs()) {
        return (enum flow_engine_state)atomic_load(&engine.state);
    }
    outcome = zdma_outcome(channel());
    if (outcome == ZDMA_UNDER_WAY) {
        return FLOW_ENGINE_RUNS;
    }
    system_status()->failed_transfers += outcome == ZDMA_FAILED;
    atomic_store(&engine.state, (uint32_t)(outcome == ZDMA_DONE ? FLOW_ENGINE_ENDED : FLOW_ENGINE_FAILED));
    return (enum flow_engine_state)atomic_load(&engine.state);
}

void flow_engine_forget(void)
{
    atomic_store(&engine.state, (uint32_t)FLOW_ENGINE_IDLE);
}

bool flow_engine_runs(void)
{
    return atomic_load(&engine.state) == FLOW_ENGINE_RUNS;
}

uint64_t flow_engine_runs_since(void)
{
    return flow_engine_runs() ? atomic_load(&engine.since) : 0;
}

bool flow_engine_has(uint32_t intid)
{
    return flow_engine_exists() && intid == broker_of_manifest()->engine_irq;
}
