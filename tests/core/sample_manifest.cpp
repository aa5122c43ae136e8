// SPDX-License-Identifier: Apache-2.0
// The sample manifest, field by field; see the header.
#include "sample_manifest.h"
#include "core/crc32.h"
#include "core/mpam_settings.h"
#include <algorithm>
#include <cstring>

namespace {

manifest_domain domain(const char *name, uint32_t color_set)
{
    manifest_domain result{};
    std::strncpy(result.name, name, sizeof result.name - 1);
    result.entry_ipa = 0x40000000;
    result.color_set = color_set;
    result.flags = BH_DOMAIN_FLAG_CONSOLE;
    return result;
}

} // namespace

void SampleManifest::seal()
{
    header.crc32 = 0;
    header.crc32 = crc32_update(0, this, std::min<size_t>(header.total_bytes, sizeof *this));
}

manifest_verdict SampleManifest::check() const
{
    return manifest_check(this, sizeof *this, package_bytes);
}

std::unique_ptr<SampleManifest> make_sample_manifest()
{
    auto sample = std::make_unique<SampleManifest>();
    SampleManifest &m = *sample;
    std::memset(static_cast<void *>(&m), 0, sizeof m);
    m.header.magic = BH_MANIFEST_MAGIC;
    m.header.version = BH_LAYOUT_VERSION;
    m.header.layout_hash = BH_LAYOUT_HASH;
    m.header.total_bytes = sizeof m;
    manifest_platform &p = m.header.platform;
    p.gic_version = BH_GIC_VERSION_GICV3;
    p.uart_type = BH_UART_TYPE_PL011;
    p.psci_method = BH_PSCI_METHOD_SMC;
    p.uart_irq = 33;
    p.gicd_pa = 0x08000000;
    p.gicr_pa = 0x080A0000;
    p.gicr_bytes = 8 * BH_REDISTRIBUTOR_BYTES;
    p.messages_pa = 0x08080000;
    p.messages_bytes = 0x20000;
    p.uart_pa = 0x09000000;
    p.uart_clock_hz = 24000000;
    p.cnthp_irq = 26;
    p.cntv_irq = 27;
    p.cntp_irq = 30;
    p.maintenance_irq = 25;
    p.color_bits = 0xE000;
    m.header.hypervisor.pool_pa = 0x4800E000; // color 7
    m.header.hypervisor.pool_bytes = 0x100000;
    m.header.hypervisor.pool_color_set = 0;
    m.header.hypervisor.console_core = 1;
    m.header.hypervisor.console_domain = BH_ALL_DOMAINS;
    m.header.hypervisor.slice_ns = 1000000;
    m.header.cpus = table(m, m.cpus);
    m.header.ram = table(m, m.ram);
    m.header.color_sets = table(m, m.color_sets);
    m.header.domains = table(m, m.domains);
    m.header.vcpus = table(m, m.vcpus);
    m.header.segments = table(m, m.segments);
    m.header.images = table(m, m.images);
    m.header.irqs = table(m, m.irqs);
    m.header.devices = table(m, m.devices);
    m.header.devices.count = 1;
    m.header.calls = table(m, m.calls);
    m.header.calls.count = 0;
    m.header.flows = table(m, m.flows);
    m.header.bandwidth_curve = table(m, m.curve);
    m.header.bandwidth_table = table(m, m.measured);
    m.header.mpam_components = table(m, m.mpam_components);
    m.header.mpam_instances = table(m, m.mpam_instances);
    m.header.mpam_settings = table(m, m.mpam_settings);
    m.header.mpam_words = table(m, m.mpam_words);
    m.header.mpam_components.count = 0;
    m.header.mpam_instances.count = 0;
    m.header.mpam_settings.count = 0;
    m.header.mpam_words.count = 0;
    m.header.streams = table(m, m.streams);
    m.header.streams.count = 0;
    m.header.functions = table(m, m.functions);
    m.header.functions.count = 0;
    m.header.bridges = table(m, m.bridges);
    m.header.bridges.count = 0;
    m.header.resets = table(m, m.resets);
    m.header.resets.count = 0;
    m.header.domains.count = 2; // without a broker
    m.header.vcpus.count = 3;
    m.header.segments.count = 3;
    m.header.flows.count = 0;
    m.header.bandwidth_curve.count = 0;
    m.header.bandwidth_table.count = 0;
    for (uint32_t i = 0; i < 4; i++) {
        m.cpus[i].mpidr = i;
        m.cpus[i].pmu_irq = 23;
    }
    m.ram[0] = {0x40000000, 0x40000000};
    m.color_sets[0].word[0] = 0x80;
    m.color_sets[1].word[0] = 0x07;
    m.color_sets[2].word[0] = 0x38;
    m.color_sets[3].word[0] = 0x40;
    m.domains[0] = domain("control", 1);
    m.domains[0].flags |= BH_DOMAIN_FLAG_REALTIME | BH_DOMAIN_FLAG_PREMAP;
    m.domains[0].vcpu_count = 1;
    m.domains[0].segment_count = 1;
    m.domains[0].image_count = 1;
    m.domains[1] = domain("linux", 2);
    m.domains[1].first_vcpu = 1;
    m.domains[1].vcpu_count = 2;
    m.domains[1].first_segment = 1;
    m.domains[1].segment_count = 2;
    m.domains[1].first_image = 1;
    m.domains[1].image_count = 1;
    m.domains[1].irq_count = 1;
    m.domains[1].device_count = 1;
    m.vcpus[0] = {0, 0};
    m.vcpus[1] = {1, 1};
    m.vcpus[2] = {1, 3};
    m.segments[0] = {0x40000000, 0x400000, 0x48000000, 1, 0};
    m.segments[1] = {0x40000000, 0x800000, 0x48006000, 2, 0};
    m.segments[2] = {0x40800000, 0x100000, 0x50006000, 2, 0};
    m.images[0] = {0x1000, 0x2000, 0x40000000, 0, 0};
    m.images[1] = {0x3000, 0x20000, 0x407F0000, 0, 0}; // across two segments
    m.irqs[0] = {48, 1};
    m.devices[0] = {0x0A000000, 0x0A000000, 0x1000};
    m.seal();
    return sample;
}

void give_calls(SampleManifest &m)
{
    m.header.calls.count = 2;
    m.calls[0] = {0xC2000010, 0xC2000013};
    m.calls[1] = {0x84000050, 0x84000053};
    m.domains[0].call_count = 2;
    m.domains[1].first_call = 2;
}

void give_smmu(SampleManifest &m)
{
    m.header.smmu = {.pa = sample_smmu_pa,
                     .stream_bits = 16,
                     .event_irq = sample_smmu_event_irq,
                     .error_irq = sample_smmu_error_irq,
                     .version = BH_SMMU_VERSION_SMMUV3};
    m.header.streams.count = 3;
    m.streams[0] = {.domain = 0, .stream = 8};
    m.streams[1] = {.domain = 0, .stream = 0x100};
    m.streams[2] = {.domain = 1, .stream = 9};
    m.domains[1].flags |= BH_DOMAIN_FLAG_PREMAP;
}

void give_smmuv2(SampleManifest &m)
{
    give_smmu(m);
    m.header.smmu.version = BH_SMMU_VERSION_SMMUV2;
    m.header.smmu.stream_bits = 15;
    m.header.smmu.error_irq = sample_smmu_event_irq;
    manifest_platform &p = m.header.platform;
    p.gic_version = BH_GIC_VERSION_GICV2;
    p.gicr_pa = p.gicr_bytes = p.messages_pa = p.messages_bytes = 0;
    p.gicc_pa = 0xF9020000;
    p.gich_pa = 0xF9040000;
    p.gicv_pa = 0xF9060000;
}

void give_pci(SampleManifest &m)
{
    give_smmu(m);
    m.header.pci = {.config_pa = sample_config_pa,
                    .config_bytes = BH_PCI_BUS_BYTES,
                    .others_pa = sample_config_pa + BH_PCI_BUS_BYTES,
                    .others_bytes = 15 * BH_PCI_BUS_BYTES};
    m.streams[2].stream = 2 << 3;
    m.header.devices.count = 3;
    m.devices[1] = m.devices[0];
    m.devices[0] = {sample_bar_pa, sample_bar_pa, 0x100000};
    m.devices[2] = {sample_wide_bar_pa, sample_wide_bar_pa, 0x4000};
    m.domains[0].device_count = 1;
    m.domains[1].first_device = 1;
    m.domains[1].device_count = 2;
    m.header.functions.count = 2;
    m.functions[0] = {.domain = 0,
                      .requester = 1 << 3,
                      .guest_slot = 1,
                      .id = 0x11E81234,
                      .pin = 1,
                      .bar_kinds = 0,
                      .messages = 0,
                      .flags = 0,
                      .bar_pa = {sample_bar_pa},
                      .bar_bytes = {0x100000}};
    m.functions[1] = {.domain = 1,
                      .requester = 2 << 3,
                      .guest_slot = 2,
                      .id = 0x00101B36,
                      .pin = 1,
                      .bar_kinds = 4,
                      .messages = 0,
                      .flags = 0,
                      .bar_pa = {sample_wide_bar_pa},
                      .bar_bytes = {0x4000}};
}

void give_bridges(SampleManifest &m)
{
    give_pci(m);
    put_behind_bridges(m);
}

void put_behind_bridges(SampleManifest &m)
{
    m.header.pci.config_bytes = 3 * BH_PCI_BUS_BYTES;
    m.header.pci.others_pa = sample_config_pa + m.header.pci.config_bytes;
    m.header.pci.others_bytes = 13 * BH_PCI_BUS_BYTES;
    m.header.bridges.count = 2;
    m.bridges[0] = {.requester = 8 << 3,
                    .id = sample_bridge_id,
                    .bus = 1,
                    .reserved = 0,
                    .memory_pa = sample_bar_pa,
                    .memory_bytes = BH_PCI_WINDOW_BYTES};
    m.bridges[1] = {.requester = 9 << 3 | 1,
                    .id = sample_bridge_id,
                    .bus = 2,
                    .reserved = 0,
                    .memory_pa = sample_wide_bar_pa,
                    .memory_bytes = BH_PCI_WINDOW_BYTES};
    m.streams[1].stream = 3 << 8;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t before = m.functions[i].requester;
        m.functions[i].requester = (i + 1) << 8;
        for (manifest_stream &stream : m.streams) {
            stream.stream = stream.stream == before ? m.functions[i].requester : stream.stream;
        }
    }
}

void give_its(SampleManifest &m)
{
    give_pci(m);
    m.header.platform.messages_pa = m.header.platform.messages_bytes = 0;
    m.header.its = {.pa = sample_its_pa,
                    .pending_pa = sample_lpi_pending_pa,
                    .pending_bytes = uint64_t{4} * BH_LPI_PENDING_BYTES};
    m.functions[0].messages = 1;
    m.functions[1].messages = BH_MAX_MESSAGES;
}

void give_device_regulators(SampleManifest &m)
{
    m.header.device_regulators.page_0 = sample_regulators_pa;
    m.header.device_regulators.page_1 = sample_regulators_pa + BH_PAGE_BYTES;
    m.header.device_regulators.reads[0] = 1;
    m.header.device_regulators.writes[0] = 4095;
    m.header.device_regulators.reads[1] = 20;
    m.header.device_regulators.writes[1] = 40;
}

void give_resets(SampleManifest &m)
{
    m.header.reset_pages = {sample_resets_pa, sample_resets_pa + BH_PAGE_BYTES};
    m.header.resets.count = 3;
    m.resets[0] = {.domain = 0, .page = 0, .offset = 0x100, .mask = 2, .held = 2, .hold_ns = 1000};
    m.resets[1] = {.domain = 0,
                   .page = 1,
                   .offset = BH_PAGE_BYTES - 4,
                   .mask = 0x30,
                   .held = 0,
                   .hold_ns = BH_MAX_RESET_HOLD_NS};
    m.resets[2] = {
        .domain = BH_ALL_DOMAINS, .page = 0, .offset = 0x100, .mask = 4, .held = 4, .hold_ns = 1000};
}

void give_regulated_device(SampleManifest &m)
{
    m.header.device_regulators.page_0 = sample_regulators_pa;
    m.header.device_regulators.reads[0] = m.header.device_regulators.writes[0] = sample_device_rate;
    m.header.device_regulators.unit_events[0] = 488282;
    m.header.device_regulators.most[0] = 546;
    m.header.regulation.regulated |= 1U << sample_device_place;
    m.header.regulation.budget_events[sample_device_place] = sample_device_events;
    m.header.regulation.floor_events = sample_device_unit;
}

void give_flows(SampleManifest &m)
{
    m.header.domains.count = 3;
    m.header.vcpus.count = 4;
    m.header.segments.count = 4;
    m.header.flows.count = 2;
    m.color_sets[1].word[0] = 0x03;
    m.domains[2] = domain("broker", 1);
    m.domains[2].flags = 0;
    m.domains[2].first_vcpu = 3;
    m.domains[2].vcpu_count = 1;
    m.domains[2].first_segment = 3;
    m.domains[2].segment_count = 1;
    m.domains[2].first_image = 2;
    m.domains[2].first_irq = 1;
    m.domains[2].first_device = 1;
    m.vcpus[3] = {2, 2};
    m.segments[3] = {0x40000000, 0x100000, 0x60000000, 1, 0};
    for (uint32_t i = 0; i < 3; i++) {
        m.domains[i].socket_irq = 60;
        if (i != 2) {
            m.domains[i].socket_ipa = 0x0B000000;
            m.domains[i].socket_cid = 3 + i;
        }
    }
    m.header.broker = {2, 4096, 0, 1'000'000'000, BH_BROKER_ENGINE_CPU_COPY, 0, 0, 0, 0, 0, 0, 0, {}};
    m.flows[0] = {0, 1, 5000, 65536, 1'000'000, 2'000'000, 0, 16, 0, 0};
    m.flows[1] = {1, 0, 5000, 64, 1'000'000, 2'000'000, 0, 16, 0, 0};
    m.seal();
}

void give_two_brokers(SampleManifest &m)
{
    give_flows(m);
    m.header.domains.count = 5;
    m.header.vcpus.count = 5;
    m.header.segments.count = 6;
    for (const uint32_t i : {sample_second_domain, sample_second_broker}) {
        m.domains[i] = m.domains[2];
        m.domains[i].name[0] = static_cast<char>('0' + i);
        m.domains[i].first_segment = i + 1;
        m.domains[i].first_vcpu = i;
        m.domains[i].socket_broker = 1;
    }
    m.domains[1].vcpu_count = 1;
    m.irqs[0].vcpu = 0;
    m.domains[2].first_vcpu = 2;
    m.vcpus[2] = {2, 2};
    m.vcpus[3] = {sample_second_domain, 1};
    m.vcpus[4] = {sample_second_broker, 3};
    m.domains[sample_second_domain].socket_ipa = 0x0B000000;
    m.domains[sample_second_domain].socket_cid = 9;
    m.segments[4] = {0x40000000, 0x100000, 0x64000000, 1, 0};
    m.segments[5] = {0x40000000, 0x100000, 0x68000000, 1, 0};
    m.header.second_broker = m.header.broker;
    m.header.second_broker.domain = sample_second_broker;
    m.seal();
}

void give_pool(SampleManifest &m)
{
    give_flows(m);
    std::copy_backward(m.segments + 1, m.segments + 4, m.segments + 5);
    m.header.segments.count = 5;
    m.segments[1] = m.segments[0];
    m.segments[0].bytes -= sample_pool_bytes;
    m.segments[1].ipa = sample_pool_ipa;
    m.segments[1].bytes = sample_pool_bytes;
    m.segments[1].pa = 0x48FC0000; // two of the eight granules of each 64 KiB are its colors'
    m.segments[1].flags = BH_SEGMENT_FLAG_SOCKET_POOL;
    m.domains[0].segment_count = 2;
    m.domains[1].first_segment = 2;
    m.domains[2].first_segment = 4;
    m.seal();
}

void give_engine(SampleManifest &m)
{
    give_flows(m);
    give_engine_alone(m);
}

void give_engine_alone(SampleManifest &m)
{
    m.header.broker.engine = BH_BROKER_ENGINE_ZDMA;
    m.header.broker.costs.copied_bytes = 48;
    m.header.broker.engine_irq = sample_engine_irq;
    m.header.broker.engine_pa = sample_engine_pa;
    m.header.broker.qos_pa = sample_qos_pa;
    m.header.broker.qos_rate = 100;
    m.seal();
}

void give_own_engine(SampleManifest &m)
{
    give_flows(m);
    give_smmu(m);
    m.header.broker.engine = BH_BROKER_ENGINE_OWN;
    m.header.streams.count = 1;
    m.streams[0] = {.domain = m.header.broker.domain, .stream = sample_engine_stream};
    m.header.devices.count = 2;
    m.devices[1] = {sample_engine_pa, sample_engine_pa, 0x1000};
    m.domains[2].device_count = 1;
    m.domains[2].flags |= BH_DOMAIN_FLAG_PREMAP;
    m.seal();
}

void give_bandwidth(SampleManifest &m)
{
    give_flows(m);
    m.header.platform.traffic_event = 0x17;
    m.header.platform.writeback_event = 0x18;
    for (uint32_t i = 0; i < 2; i++) {
        m.domains[i].flags |= BH_DOMAIN_FLAG_BUDGET;
        m.domains[i].budget_events = 1000 * (i + 1); // 64 and 128 MB/s
        m.domains[i].budget_period_ns = 1'000'000;
        m.domains[i].budget_counts = BH_BUDGET_COUNTS_SUM;
    }
    m.domains[1].budget_chunk_events = 60; // its two cores share it
    m.header.bandwidth = {.event_bytes = 64,
                          .smallest_events = 50,
                          .access_bytes = 0,
                          .accesses_are_all = 0,
                          .limit_bytes_per_s = sample_limit,
                          .shortest_period_ns = 30'000,
                          .broker_bytes_per_s = 500'000'000,
                          .broker_full_bytes_per_s = 2'000'000'000};
    m.header.bandwidth_curve.count = 1;
    m.curve[0] = {480'000'000, BH_MEMORY_UTILIZATION_ONE};
    m.seal();
}

void give_mpam(SampleManifest &m)
{
    constexpr uint32_t cache_controls = MPAM_CACHE_PORTIONS | MPAM_CMAX;

    m.header.mpam = {.page_0 = sample_mpam_page,
                     .page_1 = sample_mpam_other_page,
                     .page_2 = 0,
                     .page_3 = 0,
                     .partid_max = sample_mpam_partids - 1,
                     .pmg_max = 3,
                     .virtual_partids = 8,
                     .firmware_allows = 1,
                     .partid = 1,
                     .pmg = 0};
    m.domains[0].mpam_partid = 2;
    m.domains[0].mpam_pmg = 1;
    m.domains[1].mpam_partid = 4;
    m.domains[1].mpam_virtual = 4;
    m.header.mpam_components.count = 2;
    m.header.mpam_instances.count = 3;
    m.header.mpam_settings.count = 6;
    m.header.mpam_words.count = 6;
    m.mpam_components[0] = {0x11, 2, sample_mpam_irq, sample_mpam_irq + 1, 1000, 0, 0};
    m.mpam_components[1] = {0x10, 1, 0, 0, 1000, 7, 0};
    m.mpam_instances[0] = {.resource = BH_MPAM_RESOURCE_CACHE,
                           .offers = BH_MPAM_OFFER_CMAX | BH_MPAM_OFFER_CMAX_SOFT | BH_MPAM_OFFER_CMIN,
                           .cache_portions = 40,
                           .capacity_bits = 8,
                           .associativity_bits = 5,
                           .bandwidth_bits = 0,
                           .bandwidth_portions = 0,
                           .internal_bits = 0,
                           .downstream_bits = 0,
                           .storage_monitors = 4,
                           .bandwidth_monitors = 0,
                           .bandwidth_value_bits = 0};
    m.mpam_instances[1] = {.resource = BH_MPAM_RESOURCE_MEMORY,
                           .offers = BH_MPAM_OFFER_MBW_MIN | BH_MPAM_OFFER_MBW_MAX |
                                     BH_MPAM_OFFER_PROPORTIONAL | BH_MPAM_OFFER_WINDOW |
                                     BH_MPAM_OFFER_INTERNAL_ZERO_IS_LOW,
                           .cache_portions = 0,
                           .capacity_bits = 0,
                           .associativity_bits = 0,
                           .bandwidth_bits = 8,
                           .bandwidth_portions = 32,
                           .internal_bits = 3,
                           .downstream_bits = 0,
                           .storage_monitors = 0,
                           .bandwidth_monitors = 8,
                           .bandwidth_value_bits = 44};
    m.mpam_instances[2] = {.resource = BH_MPAM_RESOURCE_CACHE,
                           .offers = BH_MPAM_OFFER_NARROWING,
                           .cache_portions = 16,
                           .capacity_bits = 0,
                           .associativity_bits = 0,
                           .bandwidth_bits = 0,
                           .bandwidth_portions = 0,
                           .internal_bits = 0,
                           .downstream_bits = 0,
                           .storage_monitors = 2,
                           .bandwidth_monitors = 4,
                           .bandwidth_value_bits = 31};
    for (uint32_t i = 0; i < 3; i++) { // of the first cache: 8, 16 and 16 portions
        const uint32_t partids[] = {1, 2, 4};
        m.mpam_settings[i] = {};
        m.mpam_settings[i].partid = partids[i];
        m.mpam_settings[i].asked = MPAM_CACHE_PORTIONS;
        m.mpam_settings[i].first_word = i == 0 ? 0 : 2 * i - 1;
        m.mpam_settings[i].cache_words = i == 0 ? 1 : 2;
    }
    m.mpam_settings[1].asked = cache_controls;
    m.mpam_settings[1].cmax_part = 1;
    m.mpam_settings[1].cmax_of = 4;
    m.mpam_words[0].bits = 0xFF;
    m.mpam_words[1].bits = 0xFFFF00;
    m.mpam_words[2].bits = 0;
    m.mpam_words[3].bits = 0xFF000000;
    m.mpam_words[4].bits = 0xFF;
    m.mpam_settings[3] = {};
    m.mpam_settings[3].instance = 1;
    m.mpam_settings[3].partid = 2;
    m.mpam_settings[3].asked = MPAM_MBW_MIN | MPAM_INTERNAL_PRIORITY;
    m.mpam_settings[3].mbw_min_part = 1;
    m.mpam_settings[3].mbw_min_of = 5;
    m.mpam_settings[3].internal_priority = 7;
    m.mpam_settings[3].first_word = 5;
    m.mpam_settings[4] = {};
    m.mpam_settings[4].instance = 1;
    m.mpam_settings[4].partid = 4;
    m.mpam_settings[4].asked = MPAM_MBW_MAX | MPAM_MBW_MAX_HARD;
    m.mpam_settings[4].mbw_max_part = 1;
    m.mpam_settings[4].mbw_max_of = 2;
    m.mpam_settings[4].first_word = 5;
    m.mpam_settings[5] = {};
    m.mpam_settings[5].component = 1;
    m.mpam_settings[5].partid = 1;
    m.mpam_settings[5].asked = MPAM_CACHE_PORTIONS;
    m.mpam_settings[5].first_word = 5;
    m.mpam_settings[5].cache_words = 1;
    m.mpam_words[5].bits = 0xF;
    m.seal();
}

void keep_limit_alone(SampleManifest &m)
{
    m.header.bandwidth_curve.count = 0;
    m.header.bandwidth = {};
    m.header.bandwidth.event_bytes = 64;
    m.header.bandwidth.limit_bytes_per_s = sample_limit;
    m.seal();
}
