/* SPDX-License-Identifier: Apache-2.0
 *
 * The broker's calls, what wakes it, and its end. Everything is called with interrupts masked, and does
 * bounded work.
 */
#include "flow/flow_broker.h"
#include "core/path_costs.h"
#include "core/spinlock.h"
#include "flow/flow_engine.h"
#include "flow/flows.h"
#include "flow/path_stamps.h"
#include "memory/ptable.h"
#include "memory/stage2.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/system.h"
#include <arch/barrier.h>
#include <stdatomic.h>

static struct spinlock broker_lock; /* of what the broker has in flight: it calls, and somebody may end it */
static bool abandoned;        /* the broker is gone, and what it asked for is not yet done; under that lock */
static uint64_t sleeps_until; /* what the broker was told when there was nothing to do, */
static bool sleeps;           /* as there was at its latest call; of its core alone */

/* Where the broker looks whether it has been woken: guest-physical address, 0: it waits for its line. */
static _Atomic uint64_t wake_word;

static struct domain *broker_domain(void)
{
    return domain_at(system_manifest()->broker.domain);
}

/* The broker finds a domain's memory where it is physically, behind BH_BROKER_WINDOW. One that has an engine
 * copies nothing itself, and sees nothing. */
static bool show_to_broker(struct domain *broker, const struct domain *domain)
{
    const struct manifest_header *manifest = system_manifest();
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->config->first_segment;

    if (flow_engine_exists()) {
        return true;
    }
    for (uint32_t i = 0; i < domain->config->segment_count; i++) {
        if (!stage2_map_window(&broker->stage2, system_pool(), &segments[i], BH_BROKER_WINDOW)) {
            return false;
        }
    }
    return true;
}

bool flow_broker_init(void)
{
    const struct manifest_broker *config = &system_manifest()->broker;

    flow_engine_init();
    abandoned = false;
    sleeps = false;
    sleeps_until = PACKET_NEVER;
    atomic_store(&wake_word, 0);
    flows.memories[config->domain].domain = broker_domain();
    flows.exchange.chunk_bytes = config->chunk_bytes;
    flows.exchange.patience_ticks = clock_ticks(config->patience_ns);
    if (config->bytes_per_s != 0) {
        flows.exchange.ticks_per_mebibyte =
            ((1ull << 20) * clock_hz() + config->bytes_per_s - 1) / config->bytes_per_s;
    }
    for (uint32_t i = 0; i < domain_count(); i++) {
        if (domain_at(i)->config->socket_cid != 0 && !show_to_broker(broker_domain(), domain_at(i))) {
            return false;
        }
    }
    return true;
}

bool flows_is_unused(uint32_t number)
{
    bool unused;

    spin_lock(&broker_lock);
    unused = flow_exchange_is_unused(&flows.exchange, number);
    spin_unlock(&broker_lock);
    return unused;
}

/* A broker that waits for events sees the word when one ends its waiting; another one sees its line. */
static void tell_broker(struct domain *broker)
{
    const uint32_t woken = 1;
    uint64_t word = atomic_load(&wake_word);

    if (word == 0) {
        vgic_set_spi_level(broker, broker->config->socket_irq, true);
        return;
    }
    (void)guest_memory_write(&flows.memories[broker->index], word, &woken, sizeof(woken));
    arch_sev();
}

/* There is something new for it to look at. While its engine runs it could do nothing about it, and it will
 * look when that has ended: either it sees what came before this, or this sees that the engine has ended. */
void flow_broker_wake(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (!flow_engine_runs()) {
        tell_broker(broker_domain());
    }
}

/* Domains that start again, and drivers that stop their device, wait until nothing touches their memory. */
static void tell_waiting(const struct flow_transfer *transfer)
{
    const uint32_t ends[] = {transfer->source, transfer->destination};

    for (uint32_t i = 0; i < 2; i++) {
        const struct domain *domain = domain_at(ends[i]);
        bool stops = (atomic_load(&flows.stopping) & flow_device_set(ends[i])) != 0;

        if (stops || atomic_load(&domain->state) == BH_DOMAIN_STATE_RESTARTING) {
            domain_tell_cores(domain);
        }
    }
}

/* Of a set of flows, 1 << number. On the broker's core. */
static void publish_statistics(uint64_t numbers)
{
    for (; numbers != 0; numbers &= numbers - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(numbers);
        const struct flow_path_statistics *from = &flows.paths[i].statistics;
        struct status_flow *status = &system_status()->flows[i];

        status->packets = from->packets;
        status->bytes = from->bytes;
        status->control_packets = from->control_packets;
        status->misses = from->misses;
        status->latency_min_ticks =
            from->latency_least < UINT32_MAX ? (uint32_t)from->latency_least : UINT32_MAX;
        status->latency_max_ticks = from->latency_most;
        status->latency_sum_ticks = from->latency_total;
        status->lost = from->lost;
    }
}

/* What the broker had in flight is not done. Under its lock. */
static void drop_inflight(struct flow_effects *effects)
{
    struct flow_transfer before = flows.exchange.inflight.transfer;
    bool transfers = flows.exchange.inflight.transfers;

    flow_exchange_stop(&flows.exchange, effects);
    if (transfers) {
        tell_waiting(&before);
    }
}

/* The engine, as it is now; what it has done for a broker that is gone is nobody's to hear. */
static enum flow_engine_state look_at_engine(struct flow_effects *effects)
{
    enum flow_engine_state state = flow_engine_look();

    if (state != FLOW_ENGINE_RUNS && abandoned) {
        abandoned = false;
        flow_engine_forget();
        drop_inflight(effects);
        state = FLOW_ENGINE_IDLE;
    }
    return state;
}

bool flows_engine_interrupt(uint32_t intid)
{
    struct flow_effects effects = {0};
    enum flow_engine_state state;

    if (!flow_engine_has(intid)) {
        return false;
    }
    spin_lock(&broker_lock);
    state = look_at_engine(&effects);
    spin_unlock(&broker_lock);
    flows_apply_effects(&effects);
    if (state != FLOW_ENGINE_RUNS) {
        tell_broker(broker_domain());
    }
    return true;
}

static void end_transfer(enum flow_engine_state state, struct flow_effects *effects)
{
    if (state == FLOW_ENGINE_FAILED) {
        flow_exchange_fail(&flows.exchange, effects);
    } else {
        flow_exchange_done(&flows.exchange, clock_now(), effects);
    }
    flow_engine_forget();
    publish_statistics(effects->counted);
}

/* The transfer before is done: its ends hear of it before anything else is looked for. False: the engine is
 * still at it. */
static bool finish_transfer(const struct domain *broker)
{
    struct flow_effects effects = {0};
    struct flow_transfer before;
    enum flow_engine_state state;
    bool transfers;

    spin_lock(&broker_lock);
    before = flows.exchange.inflight.transfer;
    transfers = flows.exchange.inflight.transfers;
    state = look_at_engine(&effects);
    if (state != FLOW_ENGINE_RUNS && flows.exchange.inflight.transfers &&
        atomic_load(&broker->state) == BH_DOMAIN_STATE_RUNNING) {
        end_transfer(state, &effects);
    }
    spin_unlock(&broker_lock);
    if (transfers) {
        tell_waiting(&before);
    }
    flows_apply_effects(&effects);
    return state != FLOW_ENGINE_RUNS;
}

/* One that is being ended gets nothing any more. */
static enum flow_next next_of(const struct vcpu *vcpu, struct flow_transfer *transfer, uint64_t *until,
                              struct flow_effects *effects)
{
    enum flow_next answer = FLOW_NEXT_NOTHING;

    *until = PACKET_NEVER;
    spin_lock(&broker_lock);
    if (atomic_load(&vcpu->domain->state) == BH_DOMAIN_STATE_RUNNING) {
        answer = flow_exchange_next(&flows.exchange, clock_now(), transfer, until, effects);
        publish_statistics(effects->counted);
        if (answer == FLOW_NEXT_TRANSFER && flow_engine_exists()) {
            flow_engine_start(vcpu->cpu, transfer);
        }
    }
    spin_unlock(&broker_lock);
    return answer;
}

/* The parts of the path that end with the broker's call. */
static void stamp_answer(enum flow_next answer, uint64_t until)
{
    sleeps = answer == FLOW_NEXT_NOTHING;
    sleeps_until = until;
    if (sleeps) {
        path_drop(BH_PATH_PART_PROGRAM_DMA);
    }
    path_close(BH_PATH_PART_PROGRAM_DMA, 0);
    path_close(BH_PATH_PART_FINALIZE, 0);
    if (answer == FLOW_NEXT_TRANSFER) {
        path_open(BH_PATH_PART_ENGINE);
    }
}

/* Before it looks: what comes afterwards wakes it. False: the word is not of its memory. */
static bool set_waiting(struct domain *broker, uint64_t word)
{
    if (word == 0) {
        vgic_set_spi_level(broker, broker->config->socket_irq, false);
    } else if (word % sizeof(uint32_t) != 0 ||
               !guest_memory_owns(&flows.memories[broker->index], word, sizeof(uint32_t))) {
        return false;
    }
    atomic_store(&wake_word, word);
    return true;
}

static void give_answer(uint64_t x[31], enum flow_next answer, const struct flow_transfer *transfer,
                        uint64_t until)
{
    x[0] = 0;
    switch (answer) {
    case FLOW_NEXT_TRANSFER:
        x[1] = BH_BROKER_ANSWER_TRANSFER;
        x[2] = transfer->from;
        x[3] = transfer->to;
        x[4] = transfer->bytes;
        break;
    case FLOW_NEXT_AGAIN:
        x[1] = BH_BROKER_ANSWER_AGAIN;
        break;
    default:
        x[1] = BH_BROKER_ANSWER_NOTHING;
        x[2] = until;
        break;
    }
}

void flows_broker_next(const struct vcpu *vcpu, uint64_t x[31])
{
    struct flow_effects effects = {0};
    struct flow_transfer transfer;
    enum flow_next answer;
    uint64_t until;

    if (!set_waiting(vcpu->domain, x[1])) {
        x[0] = (uint64_t) - (int64_t)BH_HYPERCALL_ERROR_INVALID_PARAMETERS;
        return;
    }
    give_answer(x, FLOW_NEXT_NOTHING, NULL, PACKET_NEVER);
    if (flows.exchange.inflight.transfers) {
        path_open(BH_PATH_PART_FINALIZE);
    }
    if (!finish_transfer(vcpu->domain)) {
        path_drop(BH_PATH_PART_FINALIZE);
        return; /* its interrupt says when */
    }
    path_close(BH_PATH_PART_FINALIZE, 0);
    path_stamps_look(sleeps, sleeps_until);
    answer = next_of(vcpu, &transfer, &until, &effects);
    if (answer != FLOW_NEXT_TRANSFER || !flow_engine_exists()) {
        give_answer(x, answer, &transfer, until);
    }
    flows_apply_effects(&effects);
    stamp_answer(answer, until);
}

/* Whether what it asked for may still be under way: by the engine, or by its own core, which has not yet
 * heard that it ends. Under its lock. */
static bool still_copies(struct flow_effects *effects)
{
    return look_at_engine(effects) == FLOW_ENGINE_RUNS ||
           (!flow_engine_exists() && flows.exchange.inflight.transfers &&
            this_cpu() != broker_domain()->vcpus[0].cpu);
}

void flow_broker_stop(void)
{
    struct flow_effects effects = {0};

    spin_lock(&broker_lock);
    atomic_store(&wake_word, 0);
    abandoned = still_copies(&effects);
    if (!abandoned) {
        flow_engine_forget();
        drop_inflight(&effects);
    }
    spin_unlock(&broker_lock);
    flows_apply_effects(&effects);
}

void flow_broker_vcpu_off(void)
{
    struct flow_effects effects = {0};

    spin_lock(&broker_lock);
    if (abandoned && !flow_engine_exists()) {
        abandoned = false;
        drop_inflight(&effects);
    }
    spin_unlock(&broker_lock);
    flows_apply_effects(&effects);
}
