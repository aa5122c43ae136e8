// SPDX-License-Identifier: Apache-2.0
// The manifest's check: a valid manifest is accepted, and each possible error is refused with its own error
// code. The hypervisor relies on an accepted manifest without further checks, so each row here is a
// guarantee.
#include "core/socket_reach.h"
#include "sample_manifest.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

extern "C" {
#include "core/manifest_calls.h"
}

namespace manifest_test {
namespace {

TEST(Manifest, AcceptsASoundOne)
{
    auto sample = make_sample_manifest();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

// Domain 0's VCPUs share 1000 events in each millisecond.
void give_budget(SampleManifest &m)
{
    m.header.platform.traffic_event = 0x17;
    for (manifest_cpu &cpu : m.cpus) {
        cpu.pmu_irq = 23;
    }
    m.domains[0].flags |= BH_DOMAIN_FLAG_BUDGET;
    m.domains[0].budget_events = 1000;
    m.domains[0].budget_period_ns = 1000000;
    m.domains[0].budget_chunk_events = 100;
}

// Adds 500 accesses past its caches.
void give_accesses(SampleManifest &m)
{
    give_budget(m);
    m.header.platform.access_event = 0x19;
    m.domains[0].budget_chunk_events = 0;
    m.domains[0].budget_counts = BH_BUDGET_COUNTS_ACCESSES;
    m.domains[0].budget_second_events = 500;
}

// Memory for samples, between the devices and the RAM.
void give_sram(SampleManifest &m)
{
    give_budget(m);
    m.header.platform.sram_pa = 0x20000000;
    m.header.platform.sram_bytes = 0x40000;
}

// Domain 1, best effort, is regulated on its cores in intervals of 1 ms.
void regulate(SampleManifest &m)
{
    give_budget(m);
    m.header.platform.writeback_event = 0x18;
    m.header.platform.utilization_pa = 0x0B000000;
    m.header.platform.utilization_busy = 0x41C;
    m.header.platform.utilization_cycles = 0x418;
    m.header.platform.utilization_control = 0x410;
    m.header.platform.utilization_bits = 32;
    manifest_domain &domain = m.domains[1];
    domain.flags = (domain.flags & ~uint32_t{BH_DOMAIN_FLAG_REALTIME}) | BH_DOMAIN_FLAG_BUDGET;
    domain.budget_events = 500;
    domain.budget_period_ns = 1000000;
    domain.budget_counts = BH_BUDGET_COUNTS_SUM;
    domain.budget_slack_events = 15;
    manifest_regulation &regulation = m.header.regulation;
    regulation.policy = BH_REGULATION_POLICY_DYNAMIC;
    regulation.threshold = 52429;
    regulation.interval_ns = 1000000;
    regulation.floor_events = 10;
    regulation.ceiling_events = 1 << 20;
    for (uint32_t i = 0; i < domain.vcpu_count; i++) {
        regulation.members |= 1u << m.vcpus[domain.first_vcpu + i].core;
        regulation.budget_events[m.vcpus[domain.first_vcpu + i].core] = 500;
    }
    regulation.regulated = regulation.members;
}

TEST(Manifest, B5_AcceptsARegulationAndItsKindsOfBudgets)
{
    auto sample = make_sample_manifest();
    regulate(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);

    sample->domains[1].budget_events = BH_UNLIMITED_EVENTS; // only counted
    sample->domains[1].budget_slack_events = 0;
    sample->header.regulation.regulated = 0;
    sample->header.regulation.policy = BH_REGULATION_POLICY_FIXED;
    for (uint64_t &events : sample->header.regulation.budget_events) {
        events = events != 0 ? BH_UNLIMITED_EVENTS : 0;
    }
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(Manifest, B3_B4_AcceptsTwoBudgetsAndReclaim)
{
    auto sample = make_sample_manifest();
    give_budget(*sample);
    sample->header.platform.writeback_event = 0x18;
    sample->domains[0].flags &= ~uint32_t{BH_DOMAIN_FLAG_REALTIME};
    sample->domains[0].flags |= BH_DOMAIN_FLAG_RECLAIM;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    sample->domains[0].flags &= ~uint32_t{BH_DOMAIN_FLAG_RECLAIM};
    sample->domains[0].budget_chunk_events = 0;
    sample->domains[0].budget_counts = BH_BUDGET_COUNTS_EACH;
    sample->domains[0].budget_second_events = 7;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(Manifest, T5_AcceptsABudgetOfAccessesAndForcedWriteBack)
{
    auto sample = make_sample_manifest();
    give_accesses(*sample);
    sample->header.platform.s2fwb = 1;
    sample->domains[1].flags |= BH_DOMAIN_FLAG_OWN_ATTRIBUTES;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    sample->domains[0].budget_second_events = 0; // no events at all is a valid budget
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(Manifest, AcceptsABudget)
{
    auto sample = make_sample_manifest();
    give_budget(*sample);
    for (const uint64_t events : {uint64_t{1000}, uint64_t{100}, (uint64_t{1} << 40) - 1}) {
        sample->domains[0].budget_events = events;
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << events;
    }
    sample->domains[0].budget_events = 0; // no accesses at all is a valid budget
    sample->domains[0].budget_chunk_events = 0;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(Manifest, B8_AcceptsMemoryForSamples)
{
    auto sample = make_sample_manifest();
    give_sram(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

TEST(Manifest, B2_DomainsMayShareACore)
{
    auto sample = make_sample_manifest();
    sample->vcpus[2].core = sample->vcpus[0].core;
    sample->domains[1].priority = 255;
    sample->header.hypervisor.scheduler = BH_SCHEDULER_ROUND_ROBIN;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
}

struct BadField {
    const char *what;
    bh_manifest_error error;
    void (*spoil)(SampleManifest &);
};

class BadManifest : public testing::TestWithParam<BadField> {};

TEST_P(BadManifest, IsRefusedWithItsReason)
{
    auto sample = make_sample_manifest();
    GetParam().spoil(*sample);
    sample->seal();
    manifest_verdict verdict = sample->check();
    EXPECT_EQ(verdict.error, GetParam().error) << GetParam().what << " at " << verdict.offset;
    EXPECT_LT(verdict.offset, sizeof(SampleManifest));
}

#define BAD(what, error, change)                                                                             \
    BadField                                                                                                 \
    {                                                                                                        \
        what, BH_MANIFEST_ERROR_##error, [](SampleManifest &m) { change; }                                   \
    }

INSTANTIATE_TEST_SUITE_P(
    Fields, BadManifest,
    testing::Values(
        BAD("wrong magic", MAGIC, m.header.magic ^= 1), BAD("other version", VERSION, m.header.version++),
        BAD("other layout", LAYOUT, m.header.layout_hash ^= 1),
        BAD("table outside", TABLE, m.header.ram.offset = 0xFFFFFFF8),
        BAD("misaligned table", TABLE, m.header.vcpus.offset += 4),
        BAD("table over the header", TABLE, m.header.vcpus.offset = 8),
        BAD("too many records", TABLE, m.header.domains.count = BH_MAX_DOMAINS + 1),
        BAD("unknown GIC", PLATFORM, m.header.platform.gic_version = 7),
        BAD("UART where EL2 has its own memory", PLATFORM, m.header.platform.uart_pa = BH_MAPPED_LIMIT),
        BAD("UART that is a part of the distributor", PLATFORM, m.header.platform.uart_pa = 0x08001000),
        BAD("unknown UART", PLATFORM, m.header.platform.uart_type = BH_UART_TYPE_COUNT),
        BAD("UART in RAM", PLATFORM, m.header.platform.uart_pa = m.ram[0].pa),
        BAD("fewer redistributors than cores", PLATFORM,
            m.header.platform.gicr_bytes = 3 * BH_REDISTRIBUTOR_BYTES),
        BAD("half a redistributor", PLATFORM, m.header.platform.gicr_bytes += BH_REDISTRIBUTOR_BYTES / 2),
        BAD("more redistributors than EL2 maps", PLATFORM,
            m.header.platform.gicr_bytes = 17 * BH_REDISTRIBUTOR_BYTES),
        BAD("an ITS of no bytes", PLATFORM, m.header.platform.messages_bytes = 0),
        BAD("bytes of an ITS that is nowhere", PLATFORM, m.header.platform.messages_pa = 0),
        BAD("unaligned UART", PLATFORM, m.header.platform.uart_pa += 4),
        BAD("timer interrupt that is an SPI", PLATFORM, m.header.platform.cntv_irq = 40),
        BAD("two private interrupts with one number", PLATFORM,
            m.header.platform.maintenance_irq = m.header.platform.cnthp_irq),
        BAD("a software-generated interrupt for the timer", PLATFORM, m.header.platform.cnthp_irq = 10),
        BAD("a guest's timer under another number", PLATFORM, m.header.platform.cntv_irq = 28),
        BAD("a console interrupt that no guest can have", PLATFORM,
            m.header.platform.uart_irq = BH_MAX_INTID),
        BAD("a performance monitor with the timer's interrupt", CPU, m.cpus[1].pmu_irq = 26),
        BAD("two cores' monitors on one line", CPU, m.cpus[0].pmu_irq = m.cpus[1].pmu_irq = 175),
        BAD("an event that no counter has", PLATFORM, m.header.platform.traffic_event = 0x10000),
        BAD("a backup that comes late", PLATFORM, m.header.platform.overflow_backup_events = 1025),
        BAD("a budget of a domain that has none", BUDGET, m.domains[1].budget_events = 1),
        BAD("a period of a domain that has no budget", BUDGET, m.domains[1].budget_period_ns = 1000000),
        BAD("a budget without an event", BUDGET, give_budget(m); m.header.platform.traffic_event = 0),
        BAD("a budget on a core without the interrupt", BUDGET, give_budget(m);
            m.cpus[m.vcpus[0].core].pmu_irq = 0),
        BAD("a budget that no pool holds", BUDGET, give_budget(m); m.domains[0].budget_events = 1ull << 40),
        BAD("a period of a moment", BUDGET, give_budget(m); m.domains[0].budget_period_ns = 999),
        BAD("a period without an end", BUDGET, give_budget(m); m.domains[0].budget_period_ns = ~0ull),
        BAD("write-backs that are not counted", BUDGET, give_budget(m);
            m.domains[0].budget_counts = BH_BUDGET_COUNTS_SUM),
        BAD("an unknown kind", BUDGET, regulate(m); m.domains[0].budget_counts = BH_BUDGET_COUNTS_COUNT),
        BAD("accesses that are not counted", BUDGET, give_accesses(m); m.header.platform.access_event = 0),
        BAD("a budget of accesses that is shared", BUDGET, give_accesses(m);
            m.domains[0].budget_chunk_events = 1),
        BAD("slack beside accesses", BUDGET, give_accesses(m); m.domains[0].budget_slack_events = 1),
        BAD("accesses that no counter reaches", BUDGET, give_accesses(m);
            m.domains[0].budget_second_events = 1ull << 40),
        BAD("accesses, and no limit of refills", BUDGET, give_accesses(m);
            m.domains[0].budget_events = BH_UNLIMITED_EVENTS),
        BAD("a member with a budget of accesses", REGULATION, regulate(m);
            m.header.platform.access_event = 0x19; m.domains[1].budget_counts = BH_BUDGET_COUNTS_ACCESSES;
            m.domains[1].budget_slack_events = 0),
        BAD("an event of accesses that no counter has", PLATFORM, give_accesses(m);
            m.header.platform.access_event = 0x10000),
        BAD("accesses, and no refills", PLATFORM, m.header.platform.access_event = 0x19),
        BAD("accesses on the counter that is a backup", PLATFORM, give_accesses(m);
            m.header.platform.overflow_backup_events = 8),
        BAD("neither with S2FWB nor without", PLATFORM, m.header.platform.s2fwb = 2),
        BAD("two budgets that are shared", BUDGET, regulate(m);
            m.domains[0].budget_counts = BH_BUDGET_COUNTS_EACH),
        BAD("a second budget of one counter", BUDGET, regulate(m); m.domains[0].budget_second_events = 1),
        BAD("more slack than 1/32 of the budget", BUDGET, regulate(m); m.domains[1].budget_slack_events = 16),
        BAD("more slack than 1/32 of a chunk", BUDGET, give_budget(m);
            m.header.platform.writeback_event = 0x18; m.domains[0].budget_counts = BH_BUDGET_COUNTS_SUM;
            m.domains[0].budget_chunk_events = 64; m.domains[0].budget_slack_events = 3),
        BAD("slack without a limit", BUDGET, regulate(m); m.domains[1].budget_events = BH_UNLIMITED_EVENTS),
        BAD("slack without a sum", BUDGET, regulate(m); m.domains[0].budget_slack_events = 1),
        BAD("no limit, and nobody who counts", BUDGET, give_budget(m);
            m.domains[0].budget_events = BH_UNLIMITED_EVENTS; m.domains[0].budget_chunk_events = 0),
        BAD("reclaim of a real-time domain", BUDGET, give_budget(m);
            m.domains[0].flags |= BH_DOMAIN_FLAG_RECLAIM | BH_DOMAIN_FLAG_REALTIME),
        BAD("reclaim in other periods", BUDGET, regulate(m);
            m.domains[0].flags = BH_DOMAIN_FLAG_BUDGET | BH_DOMAIN_FLAG_RECLAIM;
            m.domains[1].flags |= BH_DOMAIN_FLAG_RECLAIM; m.domains[1].budget_chunk_events = 1;
            m.domains[1].budget_period_ns = 2000000),
        BAD("reclaim without a budget", BUDGET, m.domains[1].flags |= BH_DOMAIN_FLAG_RECLAIM),
        BAD("parameters of no regulation", REGULATION, m.header.regulation.step = 1),
        BAD("a horizon of no regulation", REGULATION, m.header.regulation.horizon_intervals = 1),
        BAD("a core that is not there", REGULATION, regulate(m); m.header.regulation.members |= 1u << 7),
        BAD("a regulated core that is no member", REGULATION, regulate(m);
            m.header.regulation.regulated = ~m.header.regulation.members & 0xF),
        BAD("a member without a VCPU", REGULATION, regulate(m); m.header.regulation.members |= 1u << 2),
        BAD("a member in other periods", REGULATION, regulate(m); m.domains[1].budget_period_ns = 2000000),
        BAD("a member that shares its budget", REGULATION, regulate(m); m.domains[1].budget_chunk_events = 1;
            m.domains[1].budget_slack_events = 1),
        BAD("a member with another first budget", REGULATION, regulate(m); m.domains[1].budget_events = 501),
        BAD("a regulated real-time domain", REGULATION, regulate(m);
            m.domains[1].flags |= BH_DOMAIN_FLAG_REALTIME),
        BAD("utilization that is not counted", REGULATION, regulate(m); m.header.platform.utilization_pa = 0;
            m.header.platform.utilization_busy = 0; m.header.platform.utilization_cycles = 0;
            m.header.platform.utilization_control = 0; m.header.platform.utilization_bits = 0),
        BAD("an interval of a moment", REGULATION, regulate(m); m.header.regulation.interval_ns = 9999),
        BAD("an interval without an end", REGULATION, regulate(m);
            m.header.regulation.interval_ns = 1000000001),
        BAD("a threshold of nothing", REGULATION, regulate(m); m.header.regulation.threshold = 0),
        BAD("a step of all", REGULATION, regulate(m); m.header.regulation.step = 1 << 16),
        BAD("no floor", REGULATION, regulate(m); m.header.regulation.floor_events = 0),
        BAD("an unknown policy", REGULATION, regulate(m); m.header.regulation.policy = 3),
        BAD("an unknown hold", REGULATION, regulate(m); m.header.regulation.hold = 2),
        BAD("counters of memory in memory", PLATFORM, regulate(m);
            m.header.platform.utilization_pa = 0x0B000001),
        BAD("a register outside of its page", PLATFORM, regulate(m);
            m.header.platform.utilization_busy = 0x1000),
        BAD("a control of no counters", PLATFORM, m.header.platform.utilization_enable = 1),
        BAD("memory for samples of no bytes", PLATFORM, give_sram(m); m.header.platform.sram_bytes = 0),
        BAD("half a page for samples", PLATFORM, give_sram(m); m.header.platform.sram_bytes = 0x800),
        BAD("samples beside a page", PLATFORM, give_sram(m); m.header.platform.sram_pa += 8),
        BAD("memory for samples that wraps", PLATFORM, give_sram(m);
            m.header.platform.sram_bytes = ~0xFFFull),
        BAD("samples in RAM", PLATFORM, give_sram(m); m.header.platform.sram_pa = 0x3FFFF000),
        BAD("samples over the distributor", PLATFORM, give_sram(m); m.header.platform.sram_pa = 0x07FFF000),
        BAD("samples over counters of memory", PLATFORM, regulate(m); m.header.platform.sram_pa = 0x0B000000;
            m.header.platform.sram_bytes = 0x1000),
        BAD("samples in a guest's device", DEVICE, give_sram(m);
            m.header.platform.sram_pa = m.devices[0].pa - 0x1000),
        BAD("chunks larger than the budget", BUDGET, give_budget(m); m.domains[0].budget_chunk_events = 1001),
        BAD("a device's interrupt that is a monitor's", IRQ, m.cpus[1].pmu_irq = m.irqs[0].intid),
        BAD("color bit inside a page", COLOR_BITS, m.header.platform.color_bits = 0x1800),
        BAD("nine color bits", COLOR_BITS, m.header.platform.color_bits = 0x1FF000),
        BAD("no core", CPU, m.header.cpus.count = 0), BAD("a core twice", CPU, m.cpus[2].mpidr = 1),
        BAD("flags in MPIDR", CPU, m.cpus[2].mpidr = 0x80000002),
        BAD("RAM wraps", RAM, m.ram[0].bytes = ~0xFFFull),
        BAD("RAM over the UART", PLATFORM, m.ram[0].pa = 0x08FFF000),
        BAD("empty color set", COLOR_SET, m.color_sets[2].word[0] = 0),
        BAD("color that the bits cannot make", COLOR_SET, m.color_sets[2].word[0] |= 0x100),
        BAD("pool of another color", POOL, m.header.hypervisor.pool_pa = 0x48002000),
        BAD("pool out of RAM", POOL, m.header.hypervisor.pool_bytes = 0x20000000),
        BAD("pool where EL2 has its virtual addresses", POOL, m.ram[0].bytes = 1ull << 40;
            m.header.hypervisor.pool_pa = (1ull << 38) + 0xE000),
        BAD("pool larger than EL2's address space", POOL, m.ram[0].bytes = 1ull << 44;
            m.header.hypervisor.pool_bytes = (1ull << 37) + 0x1000),
        BAD("tiny pool", POOL, m.header.hypervisor.pool_bytes = 0x1000),
        BAD("console core that does not exist", CONSOLE, m.header.hypervisor.console_core = 4),
        BAD("console domain that does not exist", CONSOLE, m.header.hypervisor.console_domain = 2),
        BAD("terminal of a domain without a console", CONSOLE,
            m.domains[0].flags = BH_DOMAIN_FLAG_CONSOLE_RAW),
        BAD("terminal for itself beside another console", CONSOLE,
            m.domains[0].flags = BH_DOMAIN_FLAG_CONSOLE | BH_DOMAIN_FLAG_CONSOLE_RAW;
            m.domains[1].flags = BH_DOMAIN_FLAG_CONSOLE),
        BAD("no domain", SEGMENT, m.header.domains.count = 0; m.segments[0].bytes = 0),
        BAD("unnamed domain", DOMAIN, m.domains[0].name[0] = 0),
        BAD("name without an end", DOMAIN, std::memset(m.domains[0].name, 'a', sizeof m.domains[0].name)),
        BAD("control character in a name", DOMAIN, m.domains[0].name[1] = '\n'),
        BAD("unknown flag", DOMAIN, m.domains[0].flags |= 0x80000000),
        BAD("no VCPU", DOMAIN, m.domains[0].vcpu_count = 0),
        BAD("VCPUs beyond the table", DOMAIN, m.domains[1].vcpu_count = 3),
        BAD("rows that overflow", DOMAIN, m.domains[1].first_vcpu = 0xFFFFFFFF),
        BAD("a row with two owners", DOMAIN, m.domains[1].first_image = 0),
        BAD("a row without an owner", DOMAIN, m.domains[1].segment_count = 1),
        BAD("two VCPUs of a domain on a core", VCPU, m.vcpus[2].core = m.vcpus[1].core),
        BAD("unknown scheduler", SCHEDULER, m.header.hypervisor.scheduler = 2),
        BAD("no slice", SCHEDULER, m.header.hypervisor.slice_ns = 0),
        BAD("endless slice", SCHEDULER, m.header.hypervisor.slice_ns = 1 + 10'000'000'000),
        BAD("unknown core", VCPU, m.vcpus[2].core = 4),
        BAD("VCPU of another domain", VCPU, m.vcpus[2].domain = 0),
        BAD("empty segment", SEGMENT, m.segments[0].bytes = 0),
        BAD("segment that is not pages", SEGMENT, m.segments[0].bytes = 0x1800),
        BAD("segment in half a granule", SEGMENT, m.segments[0].pa += 0x1000),
        BAD("segment of another color", SEGMENT, m.segments[0].pa = 0x48006000),
        BAD("segment beyond the guest's addresses", SEGMENT, m.segments[0].ipa = 1ull << 39),
        BAD("segment that wraps", SEGMENT, m.segments[0].bytes = ~0xFFFull),
        BAD("segment over the guest's UART", SEGMENT, m.segments[0].ipa = 0x08F00000),
        BAD("segment out of RAM", SEGMENT, m.segments[0].pa = 0x7FFF0000),
        BAD("frames shared by two domains", FRAME_SHARED, m.color_sets[2].word[0] |= 1),
        BAD("a frame of the hypervisor", FRAME_SHARED, m.color_sets[1].word[0] |= 0x80),
        BAD("two segments at one guest address", SEGMENT_OVERLAP, m.segments[2].ipa = 0x407FF000),
        BAD("image beyond the package", IMAGE, m.images[0].offset = 0x100000),
        BAD("image that overflows", IMAGE, m.images[0].bytes = ~0xFull),
        BAD("image beside the domain's memory", IMAGE, m.images[0].ipa = 0x3FFFF000),
        BAD("image over the end of memory", IMAGE, m.images[1].ipa = 0x408F0000),
        BAD("unknown image flag", IMAGE, m.images[0].flags = 2),
        BAD("private interrupt", IRQ, m.irqs[0].intid = 27),
        BAD("the console's interrupt", IRQ, m.irqs[0].intid = 33),
        BAD("interrupt that guests cannot have", IRQ, m.irqs[0].intid = BH_MAX_INTID),
        BAD("interrupt of a VCPU that does not exist", IRQ, m.irqs[0].vcpu = 2),
        BAD("device in RAM", DEVICE, m.devices[0].pa = 0x50000000),
        BAD("device over the distributor", DEVICE, m.devices[0].pa = 0x08000000),
        BAD("device over the UART", DEVICE, m.devices[0].pa = 0x09000000),
        BAD("device over the redistributor of a core that is not used", DEVICE,
            m.devices[0].pa = m.header.platform.gicr_pa + 4 * BH_REDISTRIBUTOR_BYTES),
        BAD("device over the last redistributor", DEVICE,
            m.devices[0].pa = m.header.platform.gicr_pa + m.header.platform.gicr_bytes - 0x1000),
        BAD("device over the ITS", DEVICE, m.devices[0].pa = m.header.platform.messages_pa + 0x10000),
        BAD("device beyond the guest's addresses", DEVICE, m.devices[0].ipa = 1ull << 39),
        BAD("device over the domain's memory", DEVICE, m.devices[0].ipa = 0x40000000),
        BAD("device that wraps", DEVICE, m.devices[0].bytes = ~0xFFFull)));

#define BAD_FLOW(what, change) BAD(what, FLOW, give_flows(m); change)

INSTANTIATE_TEST_SUITE_P(
    Flows, BadManifest,
    testing::Values(
        BAD("a broker without flows", FLOW, m.header.broker.chunk_bytes = 4096),
        BAD("a socket without flows", FLOW, m.domains[0].socket_cid = 3),
        BAD("a PCI root without flows", FLOW, m.domains[0].socket_root_ipa = 0x0C000000),
        BAD_FLOW("a broker that is no domain", m.header.broker.domain = 3),
        BAD_FLOW("a broker with a socket", m.domains[2].socket_cid = 9),
        BAD_FLOW("a broker without a line", m.domains[2].socket_irq = 0),
        BAD_FLOW("a broker with memory behind its window", m.segments[3].ipa = BH_BROKER_WINDOW),
        BAD_FLOW("a core that copies beside itself", m.header.broker.costs.copied_bytes = 1),
        BAD_FLOW("no chunk", m.header.broker.chunk_bytes = 63),
        BAD_FLOW("an endless chunk", m.header.broker.chunk_bytes = BH_MOST_CHUNK_BYTES + 1),
        BAD_FLOW("a rate of all", m.header.broker.bytes_per_s = ~0ull),
        BAD_FLOW("a rate of next to nothing", m.header.broker.bytes_per_s = 999),
        BAD_FLOW("endless patience", m.header.broker.patience_ns = ~0ull),
        BAD_FLOW("stamps of another kind", m.header.broker.stamps = 2),
        BAD_FLOW("a flow to nowhere", m.flows[0].destination = 3),
        BAD_FLOW("a flow to the broker", m.flows[0].destination = 2),
        BAD_FLOW("a flow to itself", m.flows[0].destination = 0),
        BAD_FLOW("any port", m.flows[0].port = 0xFFFFFFFF),
        BAD_FLOW("two flows to one port", m.flows[1] = m.flows[0]),
        BAD_FLOW("empty packets", m.flows[0].packet_bytes = 0),
        BAD_FLOW("packets that no driver sends", m.flows[0].packet_bytes = 65537),
        BAD_FLOW("no period", m.flows[0].period_ns = 0),
        BAD_FLOW("an endless deadline", m.flows[0].deadline_ns = ~0ull),
        BAD_FLOW("endless transfers", m.flows[0].transfers = (1u << 20) + 1),
        BAD_FLOW("no connection", m.flows[0].connections = 0),
        BAD_FLOW("more connections than there can be", m.flows[0].connections = BH_MOST_FLOW_CONNECTIONS + 1),
        BAD_FLOW("a way back with connections of its own", m.flows[1].answers = 1),
        BAD_FLOW("a way back of itself", (m.flows[1].answers = 2, m.flows[1].connections = 0)),
        BAD_FLOW("a way back of a later flow", (m.flows[0].answers = 2, m.flows[0].connections = 0)),
        BAD_FLOW("a way back to another port",
                 (m.flows[1].answers = 1, m.flows[1].connections = 0, m.flows[1].port = 5001)),
        BAD_FLOW("a way back that goes the same way",
                 (m.flows[1] = m.flows[0], m.flows[1].answers = 1, m.flows[1].connections = 0)),
        BAD_FLOW("a group that cannot be",
                 (m.flows[0].group = BH_MAX_FLOW_GROUPS + 1, m.flows[0].connections = 1)),
        BAD_FLOW("a group with one receiver", (m.flows[0].group = 1, m.flows[0].connections = 1)),
        BAD_FLOW("a group with two senders", (m.flows[0].group = m.flows[1].group = 1,
                                              m.flows[0].connections = m.flows[1].connections = 1)),
        BAD_FLOW("a group with several connections",
                 (m.flows[1] = m.flows[0], m.flows[0].group = m.flows[1].group = 1)),
        BAD_FLOW("a receiver twice",
                 (m.flows[0].connections = 1, m.flows[0].group = 1, m.flows[1] = m.flows[0])),
        BAD_FLOW("receivers with different periods", (m.flows[0].connections = 1, m.flows[0].group = 1,
                                                      m.flows[1] = m.flows[0], m.flows[1].period_ns++)),
        BAD_FLOW("the CID of a group", m.domains[0].socket_cid = BH_FIRST_GROUP_CID),
        BAD_FLOW("an endless cost", m.header.broker.costs.finalize_max = FLOW_MAX_COST_NS + 1),
        BAD_FLOW("a smallest cost above the largest", m.header.broker.costs.transport_min = 1),
        BAD_FLOW("an analysis that is none", m.header.broker.costs.model = BH_FLOW_MODEL_COUNT),
        BAD_FLOW("a reserved word of the broker", m.header.broker.reserved = 1),
        BAD_FLOW("a reserved word of its costs", m.header.broker.costs.reserved = 1),
        BAD_FLOW("interrupts of EL2 that take longer at a domain than at any",
                 m.domains[0].interrupted_ns = 1),
        BAD_FLOW("interrupts of EL2 at a domain without a socket", m.domains[2].interrupted_ns = 1),
        BAD_FLOW("a socket at a broker that is none", m.domains[0].socket_broker = 1),
        BAD_FLOW("a socket at a number that no broker has", m.domains[0].socket_broker = BH_MAX_BROKERS),
        BAD_FLOW("a broker with another one's number", m.domains[2].socket_broker = 1),
        BAD_FLOW("a rest of a second broker", m.header.second_broker.patience_ns = 1),
        BAD_FLOW("a second broker that is the first", m.header.second_broker = m.header.broker),
        BAD_FLOW("a host's CID", m.domains[0].socket_cid = 2),
        BAD_FLOW("a CID twice", m.domains[0].socket_cid = m.domains[1].socket_cid),
        BAD_FLOW("a socket in half a page", m.domains[0].socket_ipa += 8),
        BAD_FLOW("a socket over memory", m.domains[0].socket_ipa = 0x40001000),
        BAD_FLOW("a socket over a device", m.domains[1].socket_ipa = 0x0A000000),
        BAD_FLOW("a socket over the distributor", m.domains[0].socket_ipa = 0x08000000),
        BAD_FLOW("a PCI root at half a bus", m.domains[0].socket_root_ipa = 0x0B180000),
        BAD_FLOW("a PCI root over its own socket", m.domains[0].socket_root_ipa = 0x0B000000),
        BAD_FLOW("a PCI root over memory", m.domains[0].socket_root_ipa = 0x40000000),
        BAD_FLOW("a PCI root over a device", m.domains[1].socket_root_ipa = 0x0A000000),
        BAD_FLOW("a PCI root over the distributor", m.domains[0].socket_root_ipa = 0x08000000),
        BAD_FLOW("a PCI root past the end", m.domains[0].socket_root_ipa = 0xFFFFFFFFFFF00000),
        BAD_FLOW("a PCI root of the broker", m.domains[2].socket_root_ipa = 0x0C000000),
        BAD_FLOW("a socket with the console's line", m.domains[0].socket_irq = 33),
        BAD_FLOW("a socket with a device's line", m.domains[1].socket_irq = 48),
        BAD_FLOW("a socket with a private line", m.domains[1].socket_irq = 27),
        BAD_FLOW("an end without a CID", m.domains[1].socket_cid = 0)));

#define BAD_POOL(what, change) BAD(what, FLOW, give_pool(m); change)

INSTANTIATE_TEST_SUITE_P(
    Pools, BadManifest,
    testing::Values(
        BAD("a pool without flows", FLOW, m.segments[0].flags = BH_SEGMENT_FLAG_SOCKET_POOL),
        BAD_POOL("a pool of the broker", m.segments[4].flags = BH_SEGMENT_FLAG_SOCKET_POOL),
        BAD_POOL("a pool that the guest cannot write", m.segments[1].flags |= BH_SEGMENT_FLAG_READ_ONLY),
        BAD_POOL("a socket of a domain that cannot write",
                 m.segments[2].flags = m.segments[3].flags = BH_SEGMENT_FLAG_READ_ONLY),
        BAD_POOL(
            "flash between what a socket reaches",
            (m.domains[0].segment_count = 3, m.domains[1].first_segment = 3, m.domains[1].segment_count = 1,
             m.images[1].ipa = m.domains[1].entry_ipa = m.segments[3].ipa, m.segments[2].ipa = 0x50000000,
             m.segments[0].flags = m.segments[2].flags = 0, m.segments[1].flags = BH_SEGMENT_FLAG_READ_ONLY)),
        BAD_POOL("a pool in two places",
                 (m.domains[0].segment_count = 3, m.domains[1].first_segment = 3,
                  m.domains[1].segment_count = 1,
                  m.images[1].ipa = m.domains[1].entry_ipa = m.segments[3].ipa,
                  m.segments[2].ipa = 0x50000000, std::swap(m.segments[1].flags, m.segments[0].flags),
                  m.segments[2].flags = BH_SEGMENT_FLAG_SOCKET_POOL))));

// The first of two segments is flash, and then the second.
TEST(Manifest, F8_TheReachIsWhatTheDomainCanWrite)
{
    for (const uint32_t flash : {2U, 3U}) {
        auto sample = make_sample_manifest();
        give_pool(*sample);
        sample->segments[flash].flags = BH_SEGMENT_FLAG_READ_ONLY;
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
        const socket_reach reach = socket_reach_of(&sample->header, &sample->domains[1]);
        EXPECT_EQ(reach.first_segment, 5U - flash);
        EXPECT_EQ(reach.segment_count, 1U);
        EXPECT_FALSE(reach.is_pool);
    }
}

TEST(Manifest, F8_TheReachIsThePoolOrAllMemory)
{
    auto sample = make_sample_manifest();
    give_pool(*sample);
    ASSERT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    const socket_reach pool = socket_reach_of(&sample->header, &sample->domains[0]);
    EXPECT_TRUE(pool.is_pool);
    EXPECT_EQ(pool.first_segment, 1U);
    EXPECT_EQ(pool.segment_count, 1U);
    const socket_reach all = socket_reach_of(&sample->header, &sample->domains[1]);
    EXPECT_FALSE(all.is_pool);
    EXPECT_EQ(all.first_segment, 2U);
    EXPECT_EQ(all.segment_count, 2U);
    sample->segments[3].flags = BH_SEGMENT_FLAG_SOCKET_POOL;
    sample->segments[2].flags = BH_SEGMENT_FLAG_SOCKET_POOL;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "a pool may be two segments";
    EXPECT_EQ(socket_reach_of(&sample->header, &sample->domains[1]).segment_count, 2U);
}

// Color 6 of bits 15..13, and a part of a chip's memory.
static void give_tables(SampleManifest &m)
{
    m.header.tables = {0xFFFC0000, 0x8000, 0x4800C000, 0x4000, 3, 0};
    m.domains[0].table_memory = BH_TABLE_MEMORY_COLORED;
    m.domains[1].table_memory = BH_TABLE_MEMORY_ON_CHIP;
    m.segments[0].flags = BH_SEGMENT_FLAG_TABLES_PLACED;
}

TEST(Manifest, ASegmentHasKnownFlagsAlone)
{
    for (uint32_t flag : {0u, 1u, 2u, 3u, 4u, 0x80000000u}) {
        auto sample = make_sample_manifest();
        sample->segments[0].flags = flag;
        sample->seal();
        const auto expected = flag < 4 ? BH_MANIFEST_ERROR_NONE : BH_MANIFEST_ERROR_SEGMENT;
        EXPECT_EQ(sample->check().error, expected) << flag;
    }
}

TEST(Manifest, D7_OnlyFunctionsThatAreNobodyElsesCanBeCalled)
{
    const struct {
        uint32_t first;
        uint32_t last;
        bool good;
    } cases[] = {
        {0x82000000, 0x8200FFFF, true},  {0xC3000001, 0xC3000001, true},  {0xB2000000, 0xB2000004, true},
        {0x32000000, 0x32000004, true},  {0xFF00FFFF, 0xFF00FFFF, true},  {0x84000040, 0x84000040, true},
        {0xC4000040, 0xC400FFFF, true},  {0x84000000, 0x84000000, false}, {0xC4000021, 0xC4000021, false},
        {0x8400003F, 0x84000040, false}, {0xC400001F, 0xC4000020, false}, {0x80000000, 0x80000000, false},
        {0x81000000, 0x81000000, false}, {0x86000000, 0x86000001, false}, {0xC5000020, 0xC5000020, false},
        {0x82000001, 0x82000000, false}, {0x82000000, 0x83000000, false}, {0x82010000, 0x82010000, false},
        {0x00000000, 0xFFFFFFFF, false}, {0xAF000000, 0xAF000000, false},
    };
    for (const auto &[first, last, good] : cases) {
        auto sample = make_sample_manifest();
        give_calls(*sample);
        sample->calls[1] = {first, last};
        sample->seal();
        EXPECT_EQ(sample->check().error, good ? BH_MANIFEST_ERROR_NONE : BH_MANIFEST_ERROR_CALL)
            << std::hex << first;
    }
}

TEST(Manifest, D7_WhatADomainMayCallIsInItsOwnRows)
{
    const auto sample = make_sample_manifest();
    give_calls(*sample);
    sample->seal();
    ASSERT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    const manifest_header *manifest = &sample->header;

    for (uint32_t function : {0xC2000010u, 0xC2000013u, 0x84000050u, 0x84000053u}) {
        EXPECT_TRUE(manifest_may_call(manifest, &sample->domains[0], function)) << function;
        EXPECT_FALSE(manifest_may_call(manifest, &sample->domains[1], function)) << function;
    }
    for (uint32_t function : {0xC200000Fu, 0xC2000014u, 0x82000010u, 0x84000054u, 0u, 0xFFFFFFFFu}) {
        EXPECT_FALSE(manifest_may_call(manifest, &sample->domains[0], function)) << function;
    }
}

TEST(Manifest, D7_WhoCallsFirmwareSharesNoCore)
{
    auto sample = make_sample_manifest();
    give_calls(*sample);
    sample->vcpus[1].core = sample->vcpus[0].core;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_CALL);
}

TEST(Manifest, D7_RowsOfCallsHaveOneOwner)
{
    for (uint32_t first : {0u, 1u, 3u}) {
        auto sample = make_sample_manifest();
        give_calls(*sample);
        sample->domains[1].first_call = first;
        sample->seal();
        EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_DOMAIN) << first;
    }
}

TEST(Manifest, D7_FlashThatTakesCommandsIsAloneInItsEntriesOfLevel2)
{
    constexpr uint32_t both = BH_SEGMENT_FLAG_READ_ONLY | BH_SEGMENT_FLAG_PROGRAMMABLE;
    const std::vector<std::pair<bool, std::function<void(SampleManifest &)>>> cases = {
        {true, [](SampleManifest &) {}},
        {true, [](SampleManifest &m) { m.segments[2].bytes = 0x40000; }},
        {true, [](SampleManifest &m) { m.segments[2].ipa = 0xC0000000; }},
        {false, [](SampleManifest &m) { m.segments[2].flags = BH_SEGMENT_FLAG_PROGRAMMABLE; }},
        {false, [](SampleManifest &m) { m.segments[2].bytes = 0x20000; }},
        {false, [](SampleManifest &m) { m.segments[2].bytes = 0xC0000; }},
        {false, [](SampleManifest &m) { m.segments[2].ipa = 0x40900000; }},
        {false, [](SampleManifest &m) { m.segments[1].ipa = 0x40900000; }},
        {false,
         [](SampleManifest &m) {
             m.segments[2].ipa = 0x0A000000 - 0x100000 * 2, m.devices[0].ipa -= 0x1000;
         }},
        {false, [](SampleManifest &m) { m.segments[1].flags = both, m.segments[2].flags = both; }},
    };
    for (size_t i = 0; i < cases.size(); i++) {
        const auto &[good, change] = cases[i];
        auto sample = make_sample_manifest();
        sample->images[1].ipa = 0x40700000; // in the first segment alone
        sample->segments[2].flags = both;
        change(*sample);
        if (sample->segments[1].ipa != 0x40000000) {
            sample->images[1].ipa = sample->segments[1].ipa;
            sample->domains[1].entry_ipa = sample->segments[1].ipa;
        }
        sample->seal();
        EXPECT_EQ(sample->check().error, good ? BH_MANIFEST_ERROR_NONE : BH_MANIFEST_ERROR_SEGMENT) << i;
    }
}

TEST(Manifest, X5_MemoryForTablesIsAccepted)
{
    auto sample = make_sample_manifest();
    give_tables(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    EXPECT_EQ(manifest_owner_of(&sample->header, 0x4800C000, BH_PAGE_BYTES),
              &sample->header.tables.colored_pa);
    EXPECT_EQ(manifest_owner_of(&sample->header, 0xFFFC7000, BH_PAGE_BYTES),
              &sample->header.tables.on_chip_pa);
}

#define BAD_TABLES(what, error, change) BAD(what, error, give_tables(m); change)

INSTANTIATE_TEST_SUITE_P(
    Tables, BadManifest,
    testing::Values(
        BAD("tables in colors that nobody has", TABLES, m.domains[0].table_memory = BH_TABLE_MEMORY_COLORED),
        BAD("tables on a chip without memory", TABLES, m.domains[0].table_memory = BH_TABLE_MEMORY_ON_CHIP),
        BAD_TABLES("a place of no kind", TABLES, m.domains[0].table_memory = BH_TABLE_MEMORY_COUNT),
        BAD_TABLES("more frames than EL2 maps", TABLES,
                   m.header.tables.colored_bytes = BH_MAX_TABLE_FRAMES * BH_PAGE_BYTES - 0x7000),
        BAD_TABLES("half a page of them", TABLES, m.header.tables.colored_bytes = 0x4800),
        BAD_TABLES("colors that there are not", TABLES, m.header.tables.colored_set = 4),
        BAD_TABLES("a first frame of another color", TABLES, m.header.tables.colored_pa = 0x4800A000),
        BAD_TABLES("tables behind the end of RAM", TABLES, m.header.tables.colored_pa = 0x7FFFC000),
        BAD_TABLES("colored tables where nothing is colored", TABLES, m.header.tables.colored_bytes = 0),
        BAD_TABLES("tables in the pool", FRAME_SHARED, m.header.tables.colored_pa = 0x4800E000;
                   m.header.tables.colored_set = 0),
        BAD_TABLES("tables in a domain's memory", FRAME_SHARED, m.header.tables.colored_pa = 0x48006000;
                   m.header.tables.colored_set = 2),
        BAD_TABLES("tables on the chip that are in RAM", PLATFORM, m.header.tables.on_chip_pa = 0x60000000),
        BAD_TABLES("tables on the console", PLATFORM, m.header.tables.on_chip_pa = 0x08FF9000),
        BAD_TABLES("walks that are cached in a third way", TABLES, m.header.tables.on_chip_cached = 2),
        BAD_TABLES("a device that is the memory for tables", DEVICE, m.devices[0].pa = 0xFFFC7000)));

#define BAD_ENGINE(what, change)     BAD(what, FLOW, give_engine(m); change)
#define BAD_ENGINE_AT(what, change)  BAD(what, PLATFORM, give_engine(m); change)
#define BAD_OWN_ENGINE(what, change) BAD(what, FLOW, give_own_engine(m); change)

INSTANTIATE_TEST_SUITE_P(
    Engine, BadManifest,
    testing::Values(
        BAD_FLOW("registers without an engine", m.header.broker.engine_pa = sample_engine_pa),
        BAD_FLOW("an interrupt without an engine", m.header.broker.engine_irq = sample_engine_irq),
        BAD_FLOW("a rate without an engine", m.header.broker.qos_rate = 1),
        BAD_ENGINE("a core that copies more than a chunk", m.header.broker.costs.copied_bytes = 4097),
        BAD_ENGINE("an engine of no kind", m.header.broker.engine = 3),
        BAD_FLOW("pieces of memory without an engine", m.header.broker.run_bytes = 4096),
        BAD_ENGINE("pieces of memory that are no pages", m.header.broker.run_bytes = 4097),
        BAD_ENGINE("a private interrupt", m.header.broker.engine_irq = 27),
        BAD_ENGINE("the console's interrupt", m.header.broker.engine_irq = 33),
        BAD_ENGINE("an interrupt that a domain has", m.header.broker.engine_irq = 48),
        BAD_ENGINE("an interrupt that is none", m.header.broker.engine_irq = BH_MAX_INTID),
        BAD_ENGINE("no registers", m.header.broker.engine_pa = 0),
        BAD_ENGINE_AT("registers in half a page", m.header.broker.engine_pa += 8),
        BAD_ENGINE_AT("registers in memory", m.header.broker.engine_pa = 0x48000000),
        BAD("registers that a domain has", DEVICE, give_engine(m); m.header.broker.engine_pa = 0x0A000000),
        BAD_ENGINE_AT("the distributor", m.header.broker.engine_pa = 0x08000000),
        BAD_ENGINE_AT("a regulator in memory", m.header.broker.qos_pa = 0x48000000),
        BAD_ENGINE_AT("a regulator that is the engine", m.header.broker.qos_pa = sample_engine_pa),
        BAD_ENGINE_AT("registers where EL2 has its own memory", m.header.broker.engine_pa = BH_MAPPED_LIMIT),
        BAD_ENGINE_AT("registers beyond EL2's addresses", m.header.broker.engine_pa = 1ull << 39),
        BAD_ENGINE_AT("registers at an address that wraps", m.header.broker.engine_pa = ~0xFFFull),
        BAD_ENGINE_AT("a regulator over EL2's own memory", m.header.broker.qos_pa = BH_MAPPED_LIMIT + 0x1000),
        BAD_ENGINE_AT("a regulator beyond EL2's addresses", m.header.broker.qos_pa = 1ull << 40),
        BAD_ENGINE("a regulator at no rate", m.header.broker.qos_rate = 0),
        BAD_ENGINE("a rate of 13 bits", m.header.broker.qos_rate = 4096),
        BAD_ENGINE("a rate without a regulator", m.header.broker.qos_pa = 0),
        BAD_OWN_ENGINE("an engine that the broker does not have", m.header.devices.count = 1;
                       m.header.streams.count = m.domains[2].device_count = 0),
        BAD_OWN_ENGINE("registers that EL2 keeps", m.header.broker.engine_pa = sample_engine_pa + 0x1000),
        BAD_OWN_ENGINE("an interrupt that EL2 takes", m.header.broker.engine_irq = sample_engine_irq),
        BAD_OWN_ENGINE("a regulator at no rate", m.header.broker.qos_pa = sample_qos_pa)));

TEST(Manifest, F2_AcceptsAnEngineOfTheBrokersOwn)
{
    auto sample = make_sample_manifest();
    give_own_engine(*sample);
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE);
    sample->header.broker.qos_pa = sample_qos_pa;
    sample->header.broker.qos_rate = 100;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "behind a regulator";
    sample->header.streams.count = 0;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "the broker is trusted with it";
}

TEST(Manifest, F2_AcceptsAnEngine)
{
    auto sample = make_sample_manifest();
    give_engine(*sample);
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
    sample->header.broker.qos_pa = 0;
    sample->header.broker.qos_rate = 0;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "without a regulator";
}

#define BAD_SECOND(what, change) BAD(what, FLOW, give_two_brokers(m); change)

INSTANTIATE_TEST_SUITE_P(
    TwoBrokers, BadManifest,
    testing::Values(
        BAD_SECOND("a flow whose ends have two brokers", m.flows[0].destination = sample_second_domain),
        BAD_SECOND("a flow from one broker's domain to another's", m.flows[1].source = sample_second_domain),
        BAD_SECOND("a broker without the other's number", m.domains[sample_second_broker].socket_broker = 0),
        BAD_SECOND("a number that no broker has", m.domains[sample_second_domain].socket_broker = 2),
        BAD_SECOND("a second broker with a socket", m.domains[sample_second_broker].socket_cid = 10),
        BAD_SECOND("a second broker without a line", m.domains[sample_second_broker].socket_irq = 0),
        BAD_SECOND("a second broker that is no domain", m.header.second_broker.domain = 5),
        BAD_SECOND("a second broker at no possible rate", m.header.second_broker.bytes_per_s = 999),
        BAD_SECOND("a second broker's endless cost",
                   m.header.second_broker.costs.finalize_max = FLOW_MAX_COST_NS + 1),
        BAD_SECOND("two brokers on one core", m.vcpus[4].core = 2),
        BAD_SECOND("two brokers with one engine's interrupt", give_engine_alone(m);
                   m.header.second_broker.engine = BH_BROKER_ENGINE_ZDMA;
                   m.header.second_broker.engine_irq = sample_engine_irq;
                   m.header.second_broker.engine_pa = sample_engine_pa + 0x1000),
        BAD("two brokers with one engine", PLATFORM, give_two_brokers(m); give_engine_alone(m);
            m.header.second_broker.engine = BH_BROKER_ENGINE_ZDMA;
            m.header.second_broker.engine_irq = sample_engine_irq + 1;
            m.header.second_broker.engine_pa = sample_engine_pa)));

TEST(Manifest, F8_AcceptsTwoBrokers)
{
    auto sample = make_sample_manifest();
    give_two_brokers(*sample);
    const manifest_verdict verdict = sample->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << "at " << verdict.offset;
    EXPECT_TRUE(manifest_is_broker(&sample->header, 2));
    EXPECT_TRUE(manifest_is_broker(&sample->header, sample_second_broker));
    EXPECT_FALSE(manifest_is_broker(&sample->header, sample_second_domain));
}

TEST(Manifest, F1_AcceptsFlows)
{
    auto sample = make_sample_manifest();
    give_flows(*sample);
    const manifest_verdict verdict = sample->check();
    EXPECT_EQ(verdict.error, BH_MANIFEST_ERROR_NONE) << "at " << verdict.offset;
}

void measure(SampleManifest &m, uint32_t cores, uint32_t refills, uint64_t bytes_per_s)
{
    m.header.bandwidth_table.count = 1;
    m.measured[0] = {cores, refills, bytes_per_s};
}

void go_on_to(SampleManifest &m, uint64_t bytes_per_s, uint64_t utilization)
{
    m.header.bandwidth_curve.count = 2;
    m.curve[1] = {bytes_per_s, utilization};
}

#define BAD_BANDWIDTH(what, change) BAD(what, BANDWIDTH, give_bandwidth(m); change)

INSTANTIATE_TEST_SUITE_P(
    Bandwidth, BadManifest,
    testing::Values(
        BAD("a limit of nothing that is counted", BANDWIDTH, m.header.bandwidth.limit_bytes_per_s = 1),
        BAD("a curve of nothing that is counted", BANDWIDTH, m.header.bandwidth_curve.count = 1),
        BAD("too many points", TABLE, m.header.bandwidth_curve.count = BH_MAX_BANDWIDTH_POINTS + 1),
        BAD("too many rows", TABLE, m.header.bandwidth_table.count = BH_MAX_BANDWIDTH_ROWS + 1),
        BAD_BANDWIDTH("nothing that is counted", m.header.bandwidth.event_bytes = 0),
        BAD_BANDWIDTH("a limit that wraps", m.header.bandwidth.limit_bytes_per_s = UINT64_MAX),
        BAD_BANDWIDTH("budgets above the limit", m.header.bandwidth.limit_bytes_per_s = 191'999'999),
        BAD_BANDWIDTH("a table without a curve", m.header.bandwidth_curve.count = 0;
                      m.header.bandwidth_table.count = 1),
        BAD_BANDWIDTH("a broker without a curve", m.header.bandwidth_curve.count = 0),
        BAD_BANDWIDTH("no broker's rate", m.header.bandwidth.broker_bytes_per_s = 0),
        BAD_BANDWIDTH("a broker that is never busy", m.header.bandwidth.broker_full_bytes_per_s = 0),
        BAD_BANDWIDTH("budgets beside which the broker does not get its rate",
                      m.header.bandwidth.broker_bytes_per_s = 1'600'000'001),
        BAD_BANDWIDTH("no shortest period", m.header.bandwidth.shortest_period_ns = 0),
        BAD_BANDWIDTH("a shortest period of hours", m.header.bandwidth.shortest_period_ns = UINT64_MAX),
        BAD_BANDWIDTH("a period below the shortest", m.domains[0].budget_period_ns = 29'999;
                      m.domains[0].budget_events = 1),
        BAD_BANDWIDTH("a smallest budget that none is", m.header.bandwidth.smallest_events = UINT32_MAX),
        BAD_BANDWIDTH("a point at no rate", m.curve[0].bytes_per_s = 0),
        BAD_BANDWIDTH("a point at any rate", m.curve[0].bytes_per_s = UINT64_MAX),
        BAD_BANDWIDTH("a point of no utilization", m.curve[0].utilization = 0),
        BAD_BANDWIDTH("a point of more than all", m.curve[0].utilization++),
        BAD_BANDWIDTH("the same rate twice", go_on_to(m, m.curve[0].bytes_per_s, m.curve[0].utilization)),
        BAD_BANDWIDTH("a curve that falls", go_on_to(m, 500'000'000, m.curve[0].utilization - 1)),
        BAD_BANDWIDTH("a row of no refills", measure(m, 1, 0, 1)),
        BAD_BANDWIDTH("a row of any refills", measure(m, 1, UINT32_MAX, 1)),
        BAD_BANDWIDTH("a row of any cores", measure(m, UINT32_MAX, 1, 1)),
        BAD_BANDWIDTH("a row at no rate", measure(m, 1, 1, 0)),
        BAD_BANDWIDTH("a table without a row that is good", measure(m, 1, 1, 1'000'000'000)),
        BAD_BANDWIDTH("a domain that nothing bounds", m.domains[0].flags &= ~uint32_t{BH_DOMAIN_FLAG_BUDGET};
                      m.domains[0].budget_events = m.domains[0].budget_period_ns = 0;
                      m.domains[0].budget_counts = 0),
        BAD_BANDWIDTH("a domain that may fetch anything",
                      m.domains[0].budget_counts = BH_BUDGET_COUNTS_WRITEBACKS)));

TEST(Manifest, B10_AcceptsWhatTheMemorySustains)
{
    auto sample = make_sample_manifest();
    give_bandwidth(*sample);
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
    sample->header.bandwidth.limit_bytes_per_s = 192'000'000; // all of it
    sample->header.bandwidth.broker_bytes_per_s = 1'600'000'000;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
    keep_limit_alone(*sample);
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "a limit alone";
}

#define BAD_REGULATOR(what, error, change) BAD(what, error, give_device_regulators(m); change)

INSTANTIATE_TEST_SUITE_P(
    DeviceRegulators, BadManifest,
    testing::Values(BAD_REGULATOR("no rate of reads", BANDWIDTH, m.header.device_regulators.reads[1] = 0),
                    BAD_REGULATOR("no rate of writes", BANDWIDTH, m.header.device_regulators.writes[0] = 0),
                    BAD_REGULATOR("a rate that the register does not hold", BANDWIDTH,
                                  m.header.device_regulators.reads[0] = 4096),
                    BAD_REGULATOR("a rate that wraps in the register", BANDWIDTH,
                                  m.header.device_regulators.writes[1] = 1U << 31U),
                    BAD_REGULATOR("a rate without a regulator", BANDWIDTH,
                                  m.header.device_regulators.reads[3] = 1),
                    BAD_REGULATOR("part of a page", PLATFORM, m.header.device_regulators.page_0 += 0x100),
                    BAD_REGULATOR("two in one page", PLATFORM,
                                  m.header.device_regulators.page_1 = m.header.device_regulators.page_0),
                    BAD_REGULATOR("a page of the interrupt controller", PLATFORM,
                                  m.header.device_regulators.page_1 = m.header.platform.gicd_pa),
                    BAD_REGULATOR("beyond what EL2 maps", PLATFORM,
                                  m.header.device_regulators.page_1 = BH_MAPPED_LIMIT)));

#define BAD_RESET(what, error, change) BAD(what, error, give_resets(m); change)

INSTANTIATE_TEST_SUITE_P(
    Resets, BadManifest,
    testing::Values(
        BAD_RESET("a register between registers", DEVICE, m.resets[0].offset++),
        BAD_RESET("a register behind its page", DEVICE, m.resets[0].offset = BH_PAGE_BYTES),
        BAD_RESET("a page that is none", DEVICE, m.resets[0].page = BH_MAX_RESET_PAGES),
        BAD_RESET("a page that is not there", DEVICE, m.header.reset_pages.page_1 = 0),
        BAD_RESET("no bits", DEVICE, m.resets[0].mask = m.resets[0].held = 0),
        BAD_RESET("bits of others", DEVICE, m.resets[0].held = 3),
        BAD_RESET("some of its bits", DEVICE, m.resets[1].held = 0x10),
        BAD_RESET("bits of an earlier device", DEVICE, m.resets[2].mask = m.resets[2].held = 6),
        BAD_RESET("no time", DEVICE, m.resets[0].hold_ns = 0),
        BAD_RESET("too long a time", DEVICE, m.resets[0].hold_ns = BH_MAX_RESET_HOLD_NS + 1),
        BAD_RESET("a domain that is none", DEVICE, m.resets[2].domain = 2),
        BAD_RESET("a page of the UART", PLATFORM, m.header.reset_pages.page_1 = m.header.platform.uart_pa),
        BAD_RESET("a page of memory", PLATFORM, m.header.reset_pages.page_0 = 0x40000000),
        BAD_RESET("a domain's device there", DEVICE, m.header.reset_pages.page_0 = m.devices[0].pa)));

TEST(Manifest, D2_AcceptsResetsOfDevices)
{
    auto sample = make_sample_manifest();
    give_resets(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
}

TEST(Manifest, D5_AcceptsRegulatorsOfDevices)
{
    auto sample = make_sample_manifest();
    give_device_regulators(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
}

#define BAD_REGULATED(what, change) BAD(what, REGULATION, regulate(m); give_regulated_device(m); change)

INSTANTIATE_TEST_SUITE_P(
    RegulatedDevices, BadManifest,
    testing::Values(
        BAD_REGULATED("a rate other than that of the budget",
                      m.header.device_regulators.reads[0] = m.header.device_regulators.writes[0] = 9),
        BAD_REGULATED("two rates", m.header.device_regulators.writes[0] = 9),
        BAD_REGULATED("a device without registers", m.header.device_regulators.page_0 = 0;
                      m.header.device_regulators.reads[0] = m.header.device_regulators.writes[0] = 0),
        BAD_REGULATED("a rate that the register does not hold", m.header.device_regulators.most[0] = 4096),
        BAD_REGULATED("less than the rate at the start", m.header.device_regulators.most[0] = 9),
        BAD_REGULATED("a largest rate without a unit", m.header.device_regulators.most[1] = 1),
        BAD_REGULATED("a place without a device", m.header.regulation.regulated |= 1U << 5U),
        BAD_REGULATED("a device that is no device", m.header.device_regulators.unit_events[0] = 0),
        BAD_REGULATED("a floor that the register does not hold",
                      m.header.regulation.floor_events = sample_device_unit - 1),
        BAD_REGULATED("a device without a limit", m.header.regulation.regulated &= 0xFU;
                      m.header.regulation.budget_events[sample_device_place] = BH_UNLIMITED_EVENTS),
        BAD_REGULATED("a policy that does not know the device's delay",
                      m.header.regulation.policy = BH_REGULATION_POLICY_DYNAMIC_DELAY;
                      m.header.regulation.members = 0b1010;
                      m.header.regulation.bandwidth_threshold_events = 1;
                      m.header.regulation.horizon_intervals = 1),
        BAD_REGULATED("a device that nothing regulates", m.header.regulation = {})));

TEST(Manifest, B11_AcceptsADeviceThatIsRegulatedLikeACore)
{
    auto sample = make_sample_manifest();
    regulate(*sample);
    give_regulated_device(*sample);
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
    sample->header.regulation.policy = BH_REGULATION_POLICY_FIXED; // then its rate is constant
    sample->header.regulation.floor_events = 1;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_NONE) << "at " << sample->check().offset;
}

TEST(Manifest, B5_MembersAreWholeDomains)
{
    auto sample = make_sample_manifest();
    regulate(*sample);
    sample->header.regulation.members = sample->header.regulation.regulated = 0b0010;
    sample->header.regulation.budget_events[3] = 0;
    sample->seal();
    EXPECT_EQ(sample->check().error, BH_MANIFEST_ERROR_REGULATION);
}

TEST(Manifest, RefusesAFlippedBitAnywhere)
{
    auto sample = make_sample_manifest();
    auto *bytes = reinterpret_cast<unsigned char *>(sample.get());
    for (size_t at = 0; at < sizeof *sample; at++) {
        bytes[at] ^= 0x10;
        EXPECT_NE(sample->check().error, BH_MANIFEST_ERROR_NONE) << "byte " << at;
        bytes[at] ^= 0x10;
    }
}

TEST(Manifest, RefusesEveryTruncation)
{
    auto sample = make_sample_manifest();
    for (size_t bytes = 0; bytes < sizeof *sample; bytes++) {
        // A copy of exactly that size, so that the address sanitizer detects a read past it.
        std::unique_ptr<char[]> copy(new char[bytes + 8]);
        std::memcpy(copy.get(), sample.get(), bytes);
        EXPECT_EQ(manifest_check(copy.get(), bytes, SampleManifest::package_bytes).error,
                  BH_MANIFEST_ERROR_TRUNCATED);
    }
}

// Property: for any manifest, the check terminates, reads nothing outside (sanitizers), and an accepted
// manifest has no frame with two owners.
TEST(Manifest, PropertyWildFieldsNeverBreakTheCheck)
{
    std::mt19937_64 random(5);
    unsigned accepted = 0;
    for (int round = 0; round < 20000; round++) {
        auto sample = make_sample_manifest();
        auto *words = reinterpret_cast<uint32_t *>(sample.get());
        for (uint64_t changes = 1 + random() % 3; changes > 0; changes--) {
            const uint64_t kind = random() % 3;
            uint32_t &word = words[random() % (sizeof *sample / 4)];
            word = kind == 0 ? static_cast<uint32_t>(random()) : kind == 1 ? word + 0x1000 : ~word;
        }
        sample->seal();
        accepted += sample->check().error == BH_MANIFEST_ERROR_NONE;
    }
    EXPECT_GT(accepted, 0u); // addresses that change but remain valid
    EXPECT_LT(accepted, 20000u);
}

} // namespace
} // namespace manifest_test
