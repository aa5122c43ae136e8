/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Checks flows between domains: their ends, the sockets of the ends, and their brokers. Part of
 * manifest_check(); runs after domains, memory and devices have been checked.
 */
#include "core/flow.h"
#include "core/manifest_internal.h"
#include "core/manifest_regions.h"
#include "core/socket_reach.h"

_Static_assert(offsetof(struct manifest_flow_costs, model) == offsetof(struct flow_costs, model) &&
                   sizeof(struct manifest_flow_costs) == sizeof(struct flow_costs) &&
                   BH_FLOW_MODEL_PUBLISHED == (int)FLOW_MODEL_PUBLISHED &&
                   BH_FLOW_MODEL_SINGLE_THREAD == (int)FLOW_MODEL_SINGLE_THREAD,
               "both structures must agree");

#define LEAST_CHUNK_BYTES 64u
#define MOST_PACKET_BYTES 65536u
#define MOST_NS           FLOW_MAX_NS
#define MOST_TRANSFERS    (1u << 20)
#define LEAST_BYTES_PER_S 1000u
#define MOST_BYTES_PER_S  FLOW_MAX_BYTES_PER_S
#define LEAST_CID         3u /* CIDs 0 to 2 are reserved */
#define MOST_CID          0xFFFFFFFEu
#define ANY_PORT          0xFFFFFFFFu
#define MOST_QOS_RATE     4095u

static bool refuse(struct manifest_check *check, const void *place)
{
    return manifest_refuse(check, BH_MANIFEST_ERROR_FLOW, place);
}

/* The interrupt is an emulated one: neither a device of the domain nor its console uses it. */
static bool irq_is_sound(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_irq *irqs = manifest_irqs(manifest) + domain->first_irq;

    if (domain->socket_irq < BH_FIRST_SHARED_INTID || domain->socket_irq >= BH_MAX_INTID ||
        domain->socket_irq == manifest->platform.uart_irq) {
        return false;
    }
    for (uint32_t i = 0; i < domain->irq_count; i++) {
        if (irqs[i].intid == domain->socket_irq) {
            return false;
        }
    }
    return true;
}

/* A range of the device overlaps nothing else in the guest's address space. */
static bool is_free(const struct manifest_header *manifest, const struct manifest_domain *domain, uint64_t at,
                    uint64_t bytes)
{
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;
    const struct manifest_device *devices = manifest_devices(manifest) + domain->first_device;

    if (!range_within(at, bytes, 0, MANIFEST_IPA_LIMIT) || manifest_is_guest_region(manifest, at, bytes)) {
        return false;
    }
    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (ranges_overlap(at, bytes, segments[i].ipa, segments[i].bytes)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < domain->device_count; i++) {
        if (ranges_overlap(at, bytes, devices[i].ipa, devices[i].bytes)) {
            return false;
        }
    }
    return true;
}

static bool place_is_sound(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    return is_page_aligned(domain->socket_ipa) &&
           is_free(manifest, domain, domain->socket_ipa, BH_PAGE_BYTES);
}

/* The configuration space of the device's PCI root, if it is on one. */
static bool root_is_sound(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    uint64_t at = domain->socket_root_ipa;

    return at == 0 || (at % BH_PCI_BUS_BYTES == 0 && is_free(manifest, domain, at, BH_PCI_BUS_BYTES) &&
                       !ranges_overlap(at, BH_PCI_BUS_BYTES, domain->socket_ipa, BH_PAGE_BYTES));
}

/* The pool is writable memory in consecutive segments, of a domain that has a socket. Without a pool the
 * writable segments are consecutive. */
static bool reach_is_sound(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    const struct manifest_segment *segments = manifest_segments(manifest);
    struct socket_reach reach = socket_reach_of(manifest, domain);

    for (uint32_t i = domain->first_segment; i < domain->first_segment + domain->segment_count; i++) {
        bool is_inside = i - reach.first_segment < reach.segment_count;
        bool is_writable = (segments[i].flags & BH_SEGMENT_FLAG_READ_ONLY) == 0;
        bool is_marked = (segments[i].flags & BH_SEGMENT_FLAG_SOCKET_POOL) != 0;

        if (is_marked != (reach.is_pool && is_inside) || (is_inside && !is_writable) ||
            (domain->socket_cid != 0 && !reach.is_pool && is_writable && !is_inside)) {
            return false;
        }
    }
    return domain->socket_cid != 0 ? reach.segment_count != 0 : !reach.is_pool;
}

/* A broker's window covers all memory that it reaches of a domain with a socket. */
static bool memory_is_in_window(const struct manifest_header *manifest, const struct manifest_domain *domain)
{
    struct socket_reach reach = socket_reach_of(manifest, domain);
    const struct manifest_segment *segments = manifest_segments(manifest) + reach.first_segment;

    for (uint32_t i = 0; i < reach.segment_count; i++) {
        struct color_range range = manifest_segment_range(manifest, &segments[i]);

        if (color_at(&range, segments[i].bytes - 1).value >= MANIFEST_IPA_LIMIT - BH_BROKER_WINDOW) {
            return false;
        }
    }
    return true;
}

static bool check_socket(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;

    if (!reach_is_sound(manifest, domain)) {
        return refuse(check, &domain->segment_count);
    }
    if (domain->socket_cid == 0) {
        return (domain->socket_ipa == 0 && domain->socket_root_ipa == 0 && domain->socket_irq == 0 &&
                domain->socket_broker == 0) ||
               refuse(check, &domain->socket_ipa);
    }
    if (!manifest_has_broker(manifest, domain->socket_broker)) {
        return refuse(check, &domain->socket_broker);
    }
    if (domain->interrupted_ns >
        manifest_costs(manifest_broker_at(manifest, domain->socket_broker))->end_interrupts_max) {
        return refuse(check, &domain->interrupted_ns);
    }
    if (domain->socket_cid < LEAST_CID || domain->socket_cid > MOST_CID ||
        domain->socket_cid - BH_FIRST_GROUP_CID < BH_MAX_FLOW_GROUPS) {
        return refuse(check, &domain->socket_cid);
    }
    for (const struct manifest_domain *other = manifest_domains(manifest); other < domain; other++) {
        if (other->socket_cid == domain->socket_cid) {
            return refuse(check, &domain->socket_cid);
        }
    }
    if (!place_is_sound(manifest, domain)) {
        return refuse(check, &domain->socket_ipa);
    }
    if (!root_is_sound(manifest, domain)) {
        return refuse(check, &domain->socket_root_ipa);
    }
    if (!irq_is_sound(manifest, domain)) {
        return refuse(check, &domain->socket_irq);
    }
    return memory_is_in_window(manifest, domain) || refuse(check, &domain->first_segment);
}

/* A broker has no memory of its own in its window. */
static bool check_broker_domain(struct manifest_check *check, const struct manifest_domain *domain)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_segment *segments = manifest_segments(manifest) + domain->first_segment;
    const struct manifest_device *devices = manifest_devices(manifest) + domain->first_device;

    if (domain->socket_cid != 0 || (domain->socket_ipa | domain->socket_root_ipa) != 0 ||
        !irq_is_sound(manifest, domain)) {
        return refuse(check, &domain->socket_ipa);
    }
    if (domain->vcpu_count != 1) { /* its one core is the last that can access memory of others */
        return refuse(check, &domain->vcpu_count);
    }
    if (!reach_is_sound(manifest, domain)) {
        return refuse(check, &domain->segment_count);
    }
    for (uint32_t i = 0; i < domain->segment_count; i++) {
        if (segments[i].ipa + segments[i].bytes > BH_BROKER_WINDOW) {
            return refuse(check, &segments[i]);
        }
    }
    for (uint32_t i = 0; i < domain->device_count; i++) {
        if (devices[i].ipa + devices[i].bytes > BH_BROKER_WINDOW) {
            return refuse(check, &devices[i]);
        }
    }
    return true;
}

static bool check_engine(struct manifest_check *check, const struct manifest_broker *broker)
{
    const struct manifest_header *manifest = check->manifest;

    switch (broker->engine) {
    case BH_BROKER_ENGINE_CPU_COPY:
        return (broker->run_bytes == 0 && broker->engine_irq == 0 && broker->engine_pa == 0 &&
                broker->qos_pa == 0 && broker->qos_rate == 0) ||
               refuse(check, &broker->engine);
    case BH_BROKER_ENGINE_ZDMA:
        if (!manifest_is_own_irq(manifest, broker->engine_irq)) {
            return refuse(check, &broker->engine_irq);
        }
        if (broker->engine_pa == 0) {
            return refuse(check, &broker->engine_pa);
        }
        break;
    case BH_BROKER_ENGINE_OWN:
        if (manifest_domains(manifest)[broker->domain].device_count == 0 ||
            (broker->engine_irq | broker->engine_pa) != 0) {
            return refuse(check, &broker->engine);
        }
        break;
    default:
        return refuse(check, &broker->engine);
    }
    if (broker->qos_pa == 0) {
        return broker->qos_rate == 0 || refuse(check, &broker->qos_rate);
    }
    return (broker->qos_rate != 0 && broker->qos_rate <= MOST_QOS_RATE) || refuse(check, &broker->qos_rate);
}

static bool check_broker(struct manifest_check *check, uint32_t number)
{
    const struct manifest_header *manifest = check->manifest;
    const struct manifest_broker *broker = manifest_broker_at(manifest, number);
    const struct flow_costs *costs = manifest_costs(broker);

    if (broker->domain >= manifest->domains.count ||
        manifest_domains(manifest)[broker->domain].socket_broker != number ||
        broker->chunk_bytes < LEAST_CHUNK_BYTES || broker->chunk_bytes > BH_MOST_CHUNK_BYTES ||
        broker->bytes_per_s > MOST_BYTES_PER_S ||
        (broker->bytes_per_s != 0 && broker->bytes_per_s < LEAST_BYTES_PER_S) ||
        broker->patience_ns > MOST_NS || broker->stamps > 1 || broker->run_bytes % BH_PAGE_BYTES != 0 ||
        broker->reserved != 0) {
        return refuse(check, broker);
    }
    if (!flow_costs_fit(costs) || costs->copied_bytes > broker->chunk_bytes ||
        (broker->engine == BH_BROKER_ENGINE_CPU_COPY && costs->copied_bytes != 0)) {
        return refuse(check, &broker->costs);
    }
    return check_engine(check, broker);
}

/* Two brokers share neither a core nor an engine's interrupt. manifest_check() keeps their registers
 * apart. */
static bool are_apart(const struct manifest_header *manifest)
{
    const struct manifest_domain *domains = manifest_domains(manifest);
    const struct manifest_vcpu *vcpus = manifest_vcpus(manifest);
    const struct manifest_broker *one = &manifest->broker;
    const struct manifest_broker *other = &manifest->second_broker;

    return vcpus[domains[one->domain].first_vcpu].core != vcpus[domains[other->domain].first_vcpu].core &&
           (one->engine_irq != other->engine_irq || one->engine_irq == 0);
}

static bool check_brokers(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (!check_broker(check, 0)) {
        return false;
    }
    if (!manifest_has_broker(manifest, 1)) {
        return manifest_has_nothing_of(&manifest->second_broker) || refuse(check, &manifest->second_broker);
    }
    return check_broker(check, 1) && (are_apart(manifest) || refuse(check, &manifest->second_broker));
}

static bool is_end(const struct manifest_header *manifest, uint64_t domain)
{
    return domain < manifest->domains.count && manifest_domains(manifest)[domain].socket_cid != 0;
}

static bool is_time(uint64_t ns)
{
    return ns != 0 && ns <= MOST_NS;
}

bool manifest_flow_is_sound(const struct manifest_header *manifest, const struct manifest_flow *flow)
{
    const struct manifest_domain *domains = manifest_domains(manifest);

    return is_end(manifest, flow->source) && is_end(manifest, flow->destination) &&
           domains[flow->source].socket_broker == domains[flow->destination].socket_broker &&
           flow->source != flow->destination && flow->port != ANY_PORT && flow->packet_bytes != 0 &&
           flow->packet_bytes <= MOST_PACKET_BYTES && is_time(flow->period_ns) &&
           is_time(flow->deadline_ns) && flow->transfers <= MOST_TRANSFERS &&
           flow->group <= BH_MAX_FLOW_GROUPS &&
           (flow->answers != 0 ? flow->connections == 0
                               : flow->connections != 0 && flow->connections <= BH_MOST_FLOW_CONNECTIONS);
}

/* A flow that carries replies follows the flow that it answers in the table, has the opposite direction, and
 * is the only answer to that flow. */
static bool answers_one(const struct manifest_header *manifest, const struct manifest_flow *flow)
{
    const struct manifest_flow *flows = manifest_flows(manifest);
    const struct manifest_flow *there;

    if (flow->answers > (uint64_t)(flow - flows)) {
        return false;
    }
    there = &flows[flow->answers - 1];
    for (const struct manifest_flow *other = there; other < flow; other++) {
        if (other->answers == flow->answers) {
            return false;
        }
    }
    return there->answers == 0 && there->group == 0 && there->source == flow->destination &&
           there->destination == flow->source && there->port == flow->port;
}

/* All receivers of a multicast flow have the same sender, port and declaration, and one connection. */
static bool is_leg_of(const struct manifest_flow *leg, const struct manifest_flow *other)
{
    return leg->answers == 0 && leg->connections == 1 && leg->source == other->source &&
           leg->port == other->port && leg->packet_bytes == other->packet_bytes &&
           leg->period_ns == other->period_ns && leg->deadline_ns == other->deadline_ns &&
           leg->transfers == other->transfers;
}

/* A multicast flow has several receivers, and one entry for each. */
static bool is_multicast(const struct manifest_header *manifest, const struct manifest_flow *flow)
{
    const struct manifest_flow *flows = manifest_flows(manifest);
    uint32_t legs = 0;

    for (uint32_t i = 0; i < manifest->flows.count; i++) {
        if (flows[i].group == flow->group) {
            if (!is_leg_of(&flows[i], flow)) {
                return false;
            }
            legs++;
        }
    }
    return legs > 1;
}

static bool check_flow(struct manifest_check *check, const struct manifest_flow *flow)
{
    const struct manifest_header *manifest = check->manifest;

    if (!manifest_flow_is_sound(manifest, flow)) {
        return refuse(check, flow);
    }
    if (flow->answers != 0) {
        return (flow->group == 0 && answers_one(manifest, flow)) || refuse(check, &flow->answers);
    }
    if (flow->group != 0 && !is_multicast(manifest, flow)) {
        return refuse(check, &flow->group);
    }
    for (const struct manifest_flow *other = manifest_flows(manifest); other < flow; other++) {
        if (other->answers == 0 && other->source == flow->source && other->destination == flow->destination &&
            other->port == flow->port) {
            return refuse(check, flow);
        }
    }
    return true;
}

bool manifest_check_flows(struct manifest_check *check)
{
    const struct manifest_header *manifest = check->manifest;

    if (manifest->flows.count == 0) {
        return manifest_has_no_flows(manifest) || refuse(check, &manifest->broker);
    }
    if (!check_brokers(check)) {
        return false;
    }
    for (uint32_t i = 0; i < manifest->domains.count; i++) {
        const struct manifest_domain *domain = &manifest_domains(manifest)[i];

        if (domain->socket_cid == 0 && domain->interrupted_ns != 0) {
            return refuse(check, &domain->interrupted_ns);
        }
        if (manifest_is_broker(manifest, i) ? !check_broker_domain(check, domain)
                                            : !check_socket(check, domain)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < manifest->flows.count; i++) {
        if (!check_flow(check, &manifest_flows(manifest)[i])) {
            return false;
        }
    }
    return true;
}
