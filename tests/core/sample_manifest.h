// SPDX-License-Identifier: Apache-2.0
// A small valid manifest as a starting point: two domains on two cores of a colored board, and room for a
// broker and flows between them. Tests change fields and seal it again.
#pragma once

#include "core/manifest.h"
#include <cstddef>
#include <memory>

struct SampleManifest {
    manifest_header header;
    struct manifest_cpu cpus[4];
    struct manifest_ram ram[1];
    struct color_set_record color_sets[4];
    struct manifest_domain domains[5];
    struct manifest_vcpu vcpus[5];
    struct manifest_segment segments[6];
    struct manifest_image images[2];
    struct manifest_irq irqs[1];
    struct manifest_device devices[3];
    struct manifest_call calls[2];
    struct manifest_flow flows[2];
    struct manifest_bandwidth_point curve[3];
    struct manifest_bandwidth_row measured[3];
    struct manifest_mpam_component mpam_components[2];
    struct manifest_mpam_instance mpam_instances[3];
    struct manifest_mpam_setting mpam_settings[6];
    struct manifest_mpam_word mpam_words[6];
    struct manifest_stream streams[3];
    struct manifest_function functions[2];
    struct manifest_bridge bridges[2];
    struct manifest_reset resets[3];

    static constexpr uint64_t package_bytes = 0x100000;

    // Recomputes the checksum after a change.
    void seal();
    manifest_verdict check() const;
};

// The address of a table in a manifest that is one object, `whole`.
template <typename Manifest, typename Record, size_t N>
table_ref table(const Manifest &whole, const Record (&records)[N])
{
    const auto offset = reinterpret_cast<const char *>(records) - reinterpret_cast<const char *>(&whole);
    return {static_cast<uint32_t>(offset), N};
}

std::unique_ptr<SampleManifest> make_sample_manifest();

// Lets domain 0 call some functions of firmware.
void give_calls(SampleManifest &m);

// Adds a broker on core 2, and flows in both directions between its two domains.
void give_flows(SampleManifest &m);

// The same, and a second broker (domain 4) on core 3 for domain 3, which has a socket and no flow. Domain 1
// has one VCPU, on a core that it shares with domain 3.
constexpr uint32_t sample_second_domain = 3;
constexpr uint32_t sample_second_broker = 4;
void give_two_brokers(SampleManifest &m);

// The same as with flows, with a pool for domain 0's socket device: its last 64 KiB.
constexpr uint64_t sample_pool_ipa = 0x403F0000;
constexpr uint64_t sample_pool_bytes = 0x10000;
void give_pool(SampleManifest &m);

// Flows as above, with a DMA engine that copies in place of the broker.
constexpr uint32_t sample_engine_irq = 109;
constexpr uint64_t sample_engine_pa = 0xA80000;
constexpr uint64_t sample_qos_pa = 0xE44000;
void give_engine(SampleManifest &m);
// The engine, for a sample that has flows.
void give_engine_alone(SampleManifest &m);

// The same with an SMMU, and an engine behind it that the broker programs: a device with the first stream.
constexpr uint32_t sample_engine_stream = 8;
void give_own_engine(SampleManifest &m);

// The same as with flows, and budgets of 64 and 128 MB/s; states what the memory sustains: 960 MB/s of all
// budgets, the rate at which one core keeps it always busy; the broker keeps it busy for a quarter of the
// time.
constexpr uint64_t sample_limit = 960'000'000;
void give_bandwidth(SampleManifest &m);

// Adds MPAM: a cache and a memory in one component, a cache without resource instances in another. The
// hypervisor has PARTID 1, domain 0 has 2, domain 1 has 4 to 7, among which its guest chooses.
constexpr uint64_t sample_mpam_page = 0x2C000000;
constexpr uint64_t sample_mpam_other_page = 0x2D000000;
constexpr uint32_t sample_mpam_irq = 90;
constexpr uint32_t sample_mpam_partids = 16;
void give_mpam(SampleManifest &m);

// Adds an SMMU, and streams of both domains, which are mapped from the start.
constexpr uint64_t sample_smmu_pa = 0x09050000;
constexpr uint32_t sample_smmu_event_irq = 106;
constexpr uint32_t sample_smmu_error_irq = 109;
void give_smmu(SampleManifest &m);
// An SMMUv2 there instead, with one interrupt, and a GICv2 whose registers for guests are above 2 GiB.
void give_smmuv2(SampleManifest &m);

// The same, and a PCI function of each domain: one with a BAR of 1 MiB, and one with a BAR of 64 bits.
constexpr uint64_t sample_config_pa = 0x3F000000;
constexpr uint64_t sample_bar_pa = 0x10000000;
constexpr uint64_t sample_wide_bar_pa = 0x10100000;
void give_pci(SampleManifest &m);

// The same functions, each behind a bridge of its own, as function 0 of the only device there.
constexpr uint32_t sample_bridge_id = 0x000C1B36;
void give_bridges(SampleManifest &m);
// For functions that a manifest has already.
void put_behind_bridges(SampleManifest &m);

// The functions on bus 0 again, and an ITS in place of registers for messages that EL2 does not drive; both
// functions have message interrupts.
constexpr uint64_t sample_its_pa = 0x08080000;
constexpr uint64_t sample_lpi_pending_pa = 0x0C000000; // outside of RAM
void give_its(SampleManifest &m);

// Regulators in front of devices: two of four, with different rates.
constexpr uint64_t sample_regulators_pa = 0xE46000;
void give_device_regulators(SampleManifest &m);

// Registers that reset devices, in two pages: domain 0 has one device that ones hold, and one that zeros hold
// for the longest time; nobody has the third one, in the first one's register.
constexpr uint64_t sample_resets_pa = 0xE48000;
void give_resets(SampleManifest &m);

// A device behind such a regulator, which the manifest's regulator of cores changes, at the place behind the
// four cores: 320 MB/s at the start, in units of 31.25 MB/s. There is a regulator with an interval of 1 ms.
constexpr uint32_t sample_device_place = 4;
constexpr uint32_t sample_device_rate = 10;
constexpr uint64_t sample_device_unit = 489; // events of an interval, rounded up
constexpr uint64_t sample_device_events = 5000;
void give_regulated_device(SampleManifest &m);

// Keeps only its limit.
void keep_limit_alone(SampleManifest &m);
