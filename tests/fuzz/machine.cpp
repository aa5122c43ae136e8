// SPDX-License-Identifier: Apache-2.0
// Steps and the checks after them. A guest's registers and all state of its domain may change in its own
// step; no state of other domains may, except the virtual UART's interrupt line, which the console core
// changes.
#include "machine.h"
#include "run/domain_life.h"
#include "run/vcpu_run.h"
#include "vgic/vgic.h"

#include "core/crc32.h"
#include "gic.h"
#include "snapshot.h"
#include "tests/traps/hosted_gic.h"
#include "vgic_invariants.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "base/syndrome.h"
#include "console/console.h"
#include "run/irq.h"
#include "time/device_regulators.h"
#include <arch/gic.h>
}

namespace bulkhead_fuzz {

using bulkhead_test::HostedMachine;

namespace {

// A guest's own tables can map an address in its flash: a store there may be a command.
uint64_t translate(uint64_t address, bool)
{
    const uint64_t normal = 0xFFull << 56;

    return normal | (flash_pa + (address & (domains * flash_bytes - 1) & ~0xFFFull));
}

// The machine's description: one VCPU of each domain on every pair of cores.
struct Manifest {
    manifest_header header;
    struct manifest_cpu cpus[cores];
    struct manifest_ram ram[1];
    struct color_set_record color_sets[3];
    struct manifest_domain domains[bulkhead_fuzz::domains];
    struct manifest_vcpu vcpus[cores];
    struct manifest_segment segments[2 * bulkhead_fuzz::domains];
    struct manifest_image images[2];
    struct manifest_irq irqs[4];
    struct manifest_mpam_component mpam_components[1];
    struct manifest_mpam_instance mpam_instances[1];
    struct manifest_stream streams[std::size(bulkhead_fuzz::streams)];
    struct manifest_function functions[bulkhead_fuzz::domains];
};

// All cores count in intervals; those of domain 1 are regulated, those of domain 0 have a limit.
manifest_regulation regulation()
{
    manifest_regulation regulation{};

    regulation.policy = BH_REGULATION_POLICY_DYNAMIC_BANDWIDTH;
    regulation.members = 0b1111;
    regulation.regulated = 0b1010;
    regulation.interval_ns = 1'000'000;
    regulation.bandwidth_threshold_events = 4000;
    regulation.horizon_intervals = 50; // of the policy to which a call may change
    regulation.floor_events = 10;
    regulation.ceiling_events = 1 << 20;
    for (uint32_t core = 0; core < cores; core++) {
        regulation.budget_events[core] = 1000;
    }
    return regulation;
}

// A device that the regulator changes, too, at the place behind the cores: 1,000 events of an interval are
// 100 units of its registers.
void regulate_device(Manifest &m)
{
    m.header.device_regulators.page_0 = sample_regulators_pa;
    m.header.device_regulators.reads[0] = m.header.device_regulators.writes[0] = 100;
    m.header.device_regulators.unit_events[0] = 10'000;
    m.header.device_regulators.most[0] = 4000;
    m.header.regulation.regulated |= 1U << cores;
    m.header.regulation.budget_events[cores] = 1000;
    m.header.delays.event_ps[cores] = 100'000U;
}

// Its registers keep what is written. A rate of 0 would be no limit.
void give_device_regulator()
{
    constexpr uint64_t write_rate = 0x120;
    constexpr uint64_t read_rate = 0x12C;

    fake_map(sample_regulators_pa, BH_PAGE_BYTES, nullptr, [](uint64_t offset, unsigned, uint64_t value) {
        require((offset != write_rate && offset != read_rate) || value >> 20 != 0,
                "a device without a limit");
        return false;
    });
}

// PARTIDs: 1 the hypervisor's, 2 domain 0's, 3 to 5 domain 1's. The component is a page that stores nothing:
// it describes a cache without controls, so that nothing has to be read back.
constexpr uint32_t partid_max = 7;
constexpr uint32_t virtual_entries = 8;

void partition(Manifest &m)
{
    m.header.mpam_components = table(m, m.mpam_components);
    m.header.mpam_instances = table(m, m.mpam_instances);
    m.header.mpam.page_0 = mpam_ipa;
    m.header.mpam.partid_max = partid_max;
    m.header.mpam.virtual_partids = virtual_entries;
    m.header.mpam.partid = 1;
    m.domains[0].mpam_partid = 2;
    m.domains[1].mpam_partid = 3;
    m.domains[1].mpam_virtual = 3;
    m.mpam_components[0] = {0x10, 1, 0, 0, 0, 0, 0};
}

// The ID registers of that component, and of cores that have MPAM 1.0.
void give_mpam_hardware()
{
    fake_map(
        mpam_ipa, BH_MPAM_PAGE_BYTES,
        [](uint64_t offset, unsigned, uint64_t *value) {
            *value = offset == 0 ? partid_max : offset == 0x20 ? 0x10 : 0; // MPAMF_IDR, MPAMF_AIDR
            return offset != 0x100;                                        // MPAMCFG_PART_SEL is kept
        },
        nullptr);
    for (uint32_t core = 0; core < cores; core++) {
        fake_set_core_sysreg(core, SYSREG_ID_ID_AA64PFR0_EL1, uint64_t{1} << 40);
        fake_set_core_sysreg(core, SYSREG_ID_MPAMIDR_EL1, 1u << 18 | 1u << 17 | partid_max);
    }
}

void give_streams(Manifest &m)
{
    m.header.streams = table(m, m.streams);
    for (uint32_t i = 0; i < std::size(streams); i++) {
        m.streams[i] = {i % domains, streams[i]};
        m.domains[i % domains].flags |= BH_DOMAIN_FLAG_PREMAP;
    }
}

// Devices reach the addresses below the interface of interrupts, so it is above all memory.
void give_smmuv2(Manifest &m)
{
    m.header.smmu = {sample_smmu_pa, 15, sample_smmu_event_irq, sample_smmu_event_irq,
                     BH_SMMU_VERSION_SMMUV2};
    m.header.platform.gicc_pa = 0xF9020000;
    m.header.platform.gich_pa = 0xF9040000;
    m.header.platform.gicv_pa = 0xF9060000;
    give_streams(m);
}

void give_smmu(Manifest &m)
{
    m.header.smmu = {sample_smmu_pa, 16, sample_smmu_event_irq, sample_smmu_error_irq,
                     BH_SMMU_VERSION_SMMUV3};
    give_streams(m);
    m.header.pci.config_pa = sample_config_pa;
    m.header.pci.config_bytes = BH_PCI_BUS_BYTES;
    m.header.platform.messages_pa = m.header.platform.messages_bytes = 0;
    m.header.its = {sample_its_pa, sample_lpi_pending_pa, uint64_t{cores} * BH_LPI_PENDING_BYTES};
    m.header.functions = table(m, m.functions);
    for (uint32_t i = 0; i < domains; i++) {
        m.functions[i].domain = i;
        m.functions[i].requester = streams[i];
        m.functions[i].guest_slot = streams[i] >> 3;
        m.functions[i].id = 0x00101B36;
        m.functions[i].pin = 1;
        m.functions[i].messages = messages;
    }
}

Manifest make_manifest(const Options &options)
{
    static const std::unique_ptr<SampleManifest> sample = make_sample_manifest();
    Manifest m{};

    m.header = sample->header;
    m.header.total_bytes = sizeof m;
    m.header.hypervisor.console_core = options.console_core;
    bulkhead_test::describe_gic(m.header.platform);
    m.header.platform.color_bits = 0; // ranks of colors take longer than the rest of a restart
    m.header.cpus = table(m, m.cpus);
    m.header.ram = table(m, m.ram);
    m.header.color_sets = table(m, m.color_sets);
    m.header.domains = table(m, m.domains);
    m.header.vcpus = table(m, m.vcpus);
    m.header.segments = table(m, m.segments);
    m.header.images = table(m, m.images);
    m.header.irqs = table(m, m.irqs);
    m.header.devices = {static_cast<uint32_t>(sizeof m), 0};
    m.header.calls = m.header.devices;
    m.header.flows = {static_cast<uint32_t>(sizeof m), 0};
    m.header.bandwidth_curve = {static_cast<uint32_t>(sizeof m), 0};
    m.header.bandwidth_table = {static_cast<uint32_t>(sizeof m), 0};
    m.header.mpam_components = {static_cast<uint32_t>(sizeof m), 0};
    m.header.mpam_instances = {static_cast<uint32_t>(sizeof m), 0};
    m.header.mpam_settings = {static_cast<uint32_t>(sizeof m), 0};
    m.header.mpam_words = {static_cast<uint32_t>(sizeof m), 0};
    m.header.streams = {static_cast<uint32_t>(sizeof m), 0};
    m.header.functions = {static_cast<uint32_t>(sizeof m), 0};
    m.header.bridges = m.header.functions;
    m.header.resets = m.header.functions;
    std::memcpy(m.cpus, sample->cpus, sizeof m.cpus);
    std::memcpy(m.ram, sample->ram, sizeof m.ram);
    for (color_set_record &set : m.color_sets) {
        set.word[0] = 1; // the only color
    }
    for (uint32_t i = 0; i < domains; i++) {
        m.domains[i] = sample->domains[i];
        m.domains[i].flags = BH_DOMAIN_FLAG_CONSOLE | options.flags[i];
        m.domains[i].first_vcpu = 2 * i;
        m.domains[i].vcpu_count = 2;
        m.domains[i].first_segment = 2 * i;
        m.domains[i].segment_count = 2;
        m.domains[i].first_image = i;
        m.domains[i].image_count = 1;
        m.domains[i].first_irq = 2 * i;
        m.domains[i].irq_count = 2;
        m.domains[i].device_count = 0;
        if ((options.flags[i] & BH_DOMAIN_FLAG_BUDGET) != 0) {
            m.header.platform.traffic_event = 0x17; // any event that the fakes support
            m.domains[i].budget_events = 1000;
            m.domains[i].budget_period_ns = 1'000'000;
            m.domains[i].budget_chunk_events = i == 0 ? 60 : 0;
        }
        if (options.regulated) {
            m.domains[i].budget_chunk_events = 0;
        }
        m.vcpus[2 * i] = {i, i};
        m.vcpus[2 * i + 1] = {i, i + 2};
        m.segments[2 * i] = {memory_ipa, memory_bytes, memory_pa + i * memory_bytes,
                             sample->segments[i].color_set, 0};
        m.segments[2 * i + 1] = {flash_ipa, flash_bytes, flash_pa + i * flash_bytes,
                                 sample->segments[i].color_set,
                                 BH_SEGMENT_FLAG_READ_ONLY | BH_SEGMENT_FLAG_PROGRAMMABLE};
        m.images[i] = {0x1000, 0x20, memory_ipa, 0, 0};
    }
    if (options.regulated) {
        m.header.regulation = regulation();
        std::fill_n(m.header.delays.event_ps, cores, 100'000U);
        regulate_device(m);
    }
    if (options.limited) {
        m.header.bandwidth.event_bytes = 64;
        m.header.bandwidth.limit_bytes_per_s = 960'000'000;
    }
    if (options.partitioned) {
        partition(m);
    }
    if (options.plug_in_smmu != nullptr) {
        (options.smmu_version == BH_SMMU_VERSION_SMMUV2 ? give_smmuv2 : give_smmu)(m);
    }
    m.irqs[0] = {device_spis[0], 0};
    m.irqs[1] = {device_spis[1], 1};
    m.irqs[2] = {device_spis[2], 0};
    m.irqs[3] = {device_spis[3], 1};
    m.header.crc32 = 0;
    m.header.crc32 = crc32_update(0, &m, sizeof m);
    return m;
}

uint32_t domain_of(uint32_t core)
{
    return core % domains;
}

struct vcpu *vcpu_of(uint32_t core)
{
    return cpu_at(core)->vcpu;
}

std::array<struct domain *, domains> all_domains()
{
    return {domain_at(0), domain_at(1)};
}

} // namespace

Options options_of(uint8_t byte)
{
    static const uint32_t list_registers[] = {4, 2, 3, 16}; // one is refused: vgic_core_suffices()
    Options options;

    options.list_registers = list_registers[byte & 3];
    options.console_core = byte >> 2 & 1;
    for (uint32_t i = 0; i < domains; i++) {
        options.flags[i] = (byte >> (3 + i) & 1) != 0 ? uint32_t{BH_DOMAIN_FLAG_RESTART_ON_FAILURE} : 0;
    }
    options.partitioned = (byte >> 5 & 1) != 0;
    return options;
}

namespace {

// BULKHEAD_FUZZ_TRACE=1 prints the steps, to understand a finding.
[[gnu::format(printf, 2, 3)]] void tell(uint32_t core, const char *format, ...)
{
    static const bool told = std::getenv("BULKHEAD_FUZZ_TRACE") != nullptr;
    va_list arguments;

    if (told) {
        va_start(arguments, format);
        std::fprintf(stderr, "core %u: ", core);
        std::vfprintf(stderr, format, arguments);
        std::fputc('\n', stderr);
        va_end(arguments);
    }
}

} // namespace

// State that must not change while another domain acts.
struct Machine::Shadow {
    struct OfDomain {
        vgic_domain vgic;
        std::array<vgic_vcpu, 2> vcpus;
        std::array<uint32_t, 2> power;
        std::array<guest_regs, 2> regs;
        uint32_t state;
        status_domain status;
    };
    std::array<OfDomain, domains> domain;
    std::array<bool, domains> stale; // it has acted itself since: take the state before another one acts

    static void take(OfDomain &into, uint32_t index, HostedMachine &hosted)
    {
        const struct domain *domain = domain_at(index);

        into.vgic = domain->vgic;
        std::memset(static_cast<void *>(&into.vgic.lock), 0, sizeof into.vgic.lock);
        for (uint32_t i = 0; i < 2; i++) {
            into.vcpus[i] = domain->vcpus[i].vgic;
            into.power[i] = domain->vcpus[i].power;
            into.regs[i] = hosted.regs(index + 2 * i);
        }
        into.state = domain->state;
        into.status = system_status()->domains[index];
    }

    // Not memcmp(): with a sanitizer it takes several times as long.
    static bool same_bytes(const void *first, const void *second, size_t bytes)
    {
        const auto *a = static_cast<const unsigned char *>(first);
        const auto *b = static_cast<const unsigned char *>(second);
        unsigned different = 0;

        for (size_t i = 0; i < bytes; i++) {
            different |= static_cast<unsigned>(a[i] ^ b[i]);
        }
        return different == 0;
    }

    template <typename Object> static bool same(const Object &a, const Object &b)
    {
        return same_bytes(&a, &b, sizeof a);
    }

    // Checks, without a copy, that the domain has not changed: after every step.
    static bool is_still(const OfDomain &before, uint32_t index, HostedMachine &hosted)
    {
        const struct domain *domain = domain_at(index);
        constexpr size_t behind_lock = offsetof(vgic_domain, control);

        for (uint32_t i = 0; i < 2; i++) {
            if (before.power[i] != domain->vcpus[i].power || !same(before.vcpus[i], domain->vcpus[i].vgic) ||
                !same(before.regs[i], hosted.regs(index + 2 * i))) {
                return false;
            }
        }
        return before.state == domain->state && same(before.status, system_status()->domains[index]) &&
               same_bytes(&before.vgic.control, &domain->vgic.control, sizeof before.vgic - behind_lock);
    }

    // The console core changes the interrupt line of other domains' virtual UART.
    static void forget_console_line(OfDomain &of)
    {
        vgic_bank &bank = of.vgic.spis[console_spi / 32 - 1];

        bank.line &= ~(1u << console_spi % 32);
        bank.pending &= ~(1u << console_spi % 32);
        for (vgic_vcpu &vcpu : of.vcpus) {
            vcpu.stale = false;
        }
    }
};

// After boot, before the first step.
struct Machine::Started {
    Options options;
    std::shared_ptr<const HostedMachine::State> hosted;
    Snapshot snapshot;
    std::array<bool, cores> runs;
    Shadow shadow;
};

Machine::Machine(const Options &options)
    : console_core_(options.console_core), shadow_(std::make_unique_for_overwrite<Shadow>())
{
    static std::vector<std::unique_ptr<Started>> kinds;

    for (const auto &kind : kinds) {
        if (kind->options == options) {
            start_from(*kind);
            return;
        }
    }
    boot(options);
    if (Snapshot::possible()) {
        kinds.push_back(
            std::unique_ptr<Started>(new Started{options, hosted_->state(), {}, runs_, *shadow_}));
    }
}

void Machine::boot(const Options &options)
{
    std::memset(static_cast<void *>(shadow_.get()), 0, sizeof *shadow_);
    hosted_.emplace(make_manifest(options).header, options.list_registers, [&] {
        if (options.partitioned) {
            give_mpam_hardware();
        }
        if (options.regulated) {
            give_device_regulator();
        }
        if (options.plug_in_smmu != nullptr) {
            options.plug_in_smmu();
        }
    });
    require(device_regulators_init() == 0, "the device's regulator does not hold its rate");
    fake_hook_translation(translate);
    partitioned_ = options.partitioned;
    require(hosted_->booted(), "the machine does not boot");
    pass_time(1); // zero would be "never"
    fake_switch_core(console_core_);
    console_start();
    for (uint32_t core = 0; core < cores; core++) {
        enter(core);
        hosted_->on_core(core);
        left(core);
    }
    shadow_->stale.fill(true);
    judge(0);
}

void Machine::start_from(const Started &started)
{
    started.snapshot.restore();
    hosted_.emplace(*started.hosted);
    runs_ = started.runs;
    partitioned_ = started.options.partitioned;
    std::memcpy(static_cast<void *>(shadow_.get()), &started.shadow, sizeof *shadow_);
}

Machine::~Machine()
{
    judged_ = 0;
    judge(0);
}

bool Machine::ended() const
{
    return system_status()->phase == BH_PHASE_ENDED;
}

// Called before a step on `core`.
void Machine::enter(uint32_t core)
{
    for (uint32_t i = 0; i < domains; i++) {
        if (i == domain_of(core)) {
            shadow_->stale[i] = true;
        } else if (shadow_->stale[i]) {
            Shadow::take(shadow_->domain[i], i, *hosted_);
            shadow_->stale[i] = false;
        }
    }
    fake_switch_core(core);
    fake_forget_writes();
}

void Machine::left(uint32_t core)
{
    runs_[core] = !ended() && cpu_at(core)->status->idle == 0 && cpu_at(core)->hold == 0;
    if (fake_gic_guest_depth() == 0) {
        acknowledged_[core].clear();
    }
}

// The PARTID of a request with this number in MPAM1_EL1 or MPAM0_EL1, as the architecture defines it (DDI
// 0487, MPAM pseudocode): mapped if EL2 makes it virtual.
static uint32_t partid_of_request(uint32_t core, uint32_t number, uint64_t virtual_bit)
{
    const uint64_t maps[] = {fake_core_sysreg(core, SYSREG_ID_MPAMVPM0_EL2),
                             fake_core_sysreg(core, SYSREG_ID_MPAMVPM1_EL2)};
    const uint64_t valid = fake_core_sysreg(core, SYSREG_ID_MPAMVPMV_EL2);

    if ((fake_core_sysreg(core, SYSREG_ID_MPAMHCR_EL2) & virtual_bit) == 0) {
        return number;
    }
    number %= virtual_entries;
    if ((valid >> number & 1) == 0) {
        number = 0;
    }
    return (valid >> number & 1) == 0 ? 0
                                      : static_cast<uint32_t>(maps[number / 4] >> 16 * (number % 4) & 0xFFFF);
}

// A core's requests carry only PARTIDs that they may: EL2's are the hypervisor's, those of EL1 and EL0 belong
// to the domain whose tables the core uses.
static void judge_labels(uint32_t core)
{
    const uint64_t vttbr = fake_core_sysreg(core, SYSREG_ID_VTTBR_EL2);
    const manifest_domain *config = domain_at(domain_of(core))->config;
    const uint32_t count = config->mpam_virtual != 0 ? config->mpam_virtual : 1;
    constexpr uint64_t own = 1u << 16 | 1;
    constexpr uint64_t el1_virtual = 2;
    constexpr uint64_t el0_virtual = 1;
    constexpr uint64_t traps = 3ull << 48;
    const uint64_t mpam2 = fake_core_sysreg(core, SYSREG_ID_MPAM2_EL2);

    require((mpam2 & 0xFFFFFFFF) == own, "EL2's requests are not in its own partition");
    if (vttbr != domain_at(domain_of(core))->stage2.vttbr) {
        return; // not entered yet
    }
    require((mpam2 & traps) == (config->mpam_virtual == 0 ? traps : 0),
            "MPAM's registers trap for the wrong guest");
    for (const auto &[id, bit] :
         {std::pair{SYSREG_ID_MPAM1_EL1, el1_virtual}, {SYSREG_ID_MPAM0_EL1, el0_virtual}}) {
        const uint64_t label = fake_core_sysreg(core, id);
        for (const unsigned shift : {0u, 16u}) {
            const uint32_t partid = partid_of_request(core, label >> shift & 0xFFFF, bit);
            require(partid - config->mpam_partid < count, "a request has a PARTID that is not its domain's");
        }
    }
}

// Called after a step on `core`.
void Machine::judge(uint32_t core)
{
    if (ended() || judged_late_) {
        return;
    }
    for (uint32_t c = 0; partitioned_ && c < cores; c++) {
        judge_labels(c);
    }
    // A broken invariant stays broken: the other domain is checked now and then, and after the last step.
    const std::array<struct domain *, 1> own{domain_at(domain_of(core))};
    const bool all = judged_++ % 8 == 0;
    const std::string what = all ? bulkhead_test::broken_vgic_invariant(all_domains(), cores)
                                 : bulkhead_test::broken_vgic_invariant(own, cores);
    if (!what.empty()) {
        broken(what.c_str());
    }
    for (uint32_t c = 0; c < cores; c++) {
        fake_switch_core(c);
        require(!runs_[c] || vcpu_may_run(vcpu_of(c)) || fake_gic_has_interrupt(),
                "a core runs a VCPU that was stopped, and nothing will tell it");
    }
    for (uint32_t i = 0; i < domains; i++) {
        for (uint32_t v = 0; v < 2; v++) {
            const uint32_t power = domain_at(i)->vcpus[v].power;

            require(power != VCPU_CLAIMED && power <= VCPU_STOPPING, "a power state that nobody may see");
            require(power != VCPU_ON || runs_[i + 2 * v] || cpu_at(i + 2 * v)->hold != 0,
                    "a VCPU is on, and its core idles");
        }
        if (shadow_->stale[i] || Shadow::is_still(shadow_->domain[i], i, *hosted_)) {
            continue;
        }
        if (!managed_) {
            Shadow::OfDomain now;
            std::memset(static_cast<void *>(&now), 0, sizeof now);
            Shadow::take(now, i, *hosted_);
            Shadow::OfDomain &before = shadow_->domain[i];
            require(core == console_core_, "a step of one domain changed another");
            Shadow::forget_console_line(now);
            Shadow::forget_console_line(before);
            require(Shadow::same(now, before), "the console core changed more than a line");
        }
        shadow_->stale[i] = true;
    }
}

void Machine::choose_partitions(uint32_t core, uint64_t mpam1, uint64_t mpam0)
{
    if (ended() || !runs_[core] || domain_at(domain_of(core))->config->mpam_virtual == 0) {
        return;
    }
    tell(core, "MPAM1_EL1 %lx, MPAM0_EL1 %lx", mpam1, mpam0);
    fake_set_core_sysreg(core, SYSREG_ID_MPAM1_EL1, mpam1);
    fake_set_core_sysreg(core, SYSREG_ID_MPAM0_EL1, mpam0);
    judge(core);
}

void Machine::interrupt(uint32_t core)
{
    if (ended()) {
        return;
    }
    tell(core, runs_[core] ? "interrupt" : "woken while idle");
    enter(core);
    if (runs_[core]) {
        hosted_->interrupt();
    } else {
        hosted_->take_while_idle();
        const struct domain *domain = vcpu_of(core)->domain;
        if (!ended() && (vcpu_of(core)->power == VCPU_STARTING || domain->state != BH_DOMAIN_STATE_RUNNING)) {
            hosted_->on_core(core);
        }
    }
    left(core);
    judge(core);
}

void Machine::trap(uint32_t core, uint64_t esr, uint64_t ipa)
{
    if (ended() || !runs_[core]) {
        return;
    }
    tell(core, "trap, syndrome %lx, address %lx, x0 %lx, x1 %lx", esr, ipa, regs(core).x[0], regs(core).x[1]);
    enter(core);
    const uint64_t elr = fake_sysreg(SYSREG_ID_ELR_EL2);
    const uint64_t spsr = fake_sysreg(SYSREG_ID_SPSR_EL2);
    const uint64_t vbar = fake_sysreg(SYSREG_ID_VBAR_EL1);
    const uint64_t entered = cpu_at(core)->status->entered_at;
    hosted_->trap(esr, ipa);
    left(core);
    if (runs_[core]) {
        const uint64_t to = fake_sysreg(SYSREG_ID_ELR_EL2);
        const bool same = to == elr || to == elr + 4 || to == elr + 2;
        const bool vector = to == vbar || to == vbar + 0x200 || to == vbar + 0x400 || to == vbar + 0x600;
        const bool start = to == vcpu_of(core)->entry.value;

        require(same || vector || start, "the guest goes on where it cannot");
        require((fake_sysreg(SYSREG_ID_SPSR_EL2) & 0x1F) <= 5 || fake_sysreg(SYSREG_ID_SPSR_EL2) == spsr,
                "the guest goes on at an exception level that is not its own");
        require(entered == cpu_at(core)->status->entered_at, "time of the first entry changed");
    }
    judge(core);
}

void Machine::set_register(uint32_t core, uint32_t index, uint64_t value)
{
    hosted_->regs(core).x[index] = value;
    shadow_->stale[domain_of(core)] = true;
}

void Machine::serror(uint32_t core)
{
    if (ended() || !runs_[core]) {
        return;
    }
    tell(core, "serror");
    enter(core);
    hosted_->serror();
    left(core);
    judge(core);
}

uint64_t Machine::call(uint32_t core, bool smc, uint64_t function, uint64_t x1, uint64_t x2, uint64_t x3)
{
    if (!runs_[core]) {
        return 0;
    }
    const uint64_t x[] = {function, x1, x2, x3};

    for (uint32_t i = 0; i < 4; i++) {
        set_register(core, i, x[i]);
    }
    managed_ = !ended() && domain_has_flag(domain_at(domain_of(core)), BH_DOMAIN_FLAG_MANAGER);
    trap(core, smc ? bulkhead_test::esr_smc : bulkhead_test::esr_hvc);
    managed_ = false;
    return regs(core).x[0];
}

void Machine::write(uint32_t core, uint64_t ipa, unsigned bytes, uint64_t value)
{
    set_register(core, 1, value);
    trap(core, bulkhead_test::esr_store(bytes, 1), ipa);
}

uint64_t Machine::read(uint32_t core, uint64_t ipa, unsigned bytes)
{
    trap(core, bulkhead_test::esr_load(bytes, 1), ipa);
    return regs(core).x[1];
}

uint32_t Machine::acknowledge(uint32_t core)
{
    if (ended() || !runs_[core]) {
        return FAKE_GIC_SPURIOUS;
    }
    enter(core);
    const uint32_t intid = fake_gic_guest_acknowledge();
    tell(core, "acknowledges %u", intid);
    if (intid != FAKE_GIC_SPURIOUS) {
        acknowledged_[core].push_back(intid);
    }
    judge(core);
    return intid;
}

void Machine::end_innermost(uint32_t core)
{
    if (ended() || !runs_[core] || acknowledged_[core].empty()) {
        return;
    }
    const uint32_t intid = acknowledged_[core].back();

    tell(core, "ends %u", intid);
    enter(core);
    acknowledged_[core].pop_back();
    fake_gic_guest_end(intid);
    judge(core);
}

void Machine::end(uint32_t core, uint32_t intid)
{
    if (ended() || !runs_[core] || acknowledged_[core].empty()) {
        return; // no active priority: the core ignores it
    }
    tell(core, "ends %u, whatever it is", intid);
    enter(core);
    acknowledged_[core].pop_back();
    fake_gic_guest_end(intid);
    judge(core);
}

void Machine::deactivate(uint32_t core, uint32_t intid)
{
    if (ended() || !runs_[core]) {
        return;
    }
    tell(core, "deactivates %u", intid);
    enter(core);
    fake_gic_guest_deactivate(intid);
    judge(core);
}

void Machine::raise(uint32_t core, uint32_t intid)
{
    tell(core, "edge of %u", intid);
    fake_switch_core(core);
    fake_gic_raise(intid);
}

void Machine::set_line(uint32_t core, uint32_t intid, bool high)
{
    tell(core, "line of %u %s", intid, high ? "high" : "low");
    fake_switch_core(core);
    fake_gic_set_line(intid, high);
}

void Machine::pass_time(uint64_t ticks)
{
    for (uint32_t core = 0; core < cores; core++) {
        fake_set_core_sysreg(core, SYSREG_ID_CNTPCT_EL0,
                             fake_core_sysreg(core, SYSREG_ID_CNTPCT_EL0) + ticks);
    }
}

void Machine::flush_console()
{
    if (!ended()) {
        fake_switch_core(console_core_);
        console_flush();
    }
}

// A device's interrupt may wait until EL2 looks at it again (hypervisor/vgic/vgic_early.c). Time passes until
// then, and the core takes the interrupt of its timer.
bool Machine::reach_alarm(uint32_t core)
{
    const uint64_t now = fake_core_sysreg(core, SYSREG_ID_CNTPCT_EL0);
    const uint64_t deadline = cpu_at(core)->rare_alarms[RARE_ALARM_EARLY];

    if (deadline == 0) {
        return false;
    }
    if (deadline > now) {
        pass_time(deadline - now);
    }
    raise(core, system_manifest()->platform.cnthp_irq);
    interrupt(core);
    return true;
}

// Every core takes its interrupts, and every guest acknowledges and ends them, until nothing changes.
void Machine::take_everything()
{
    for (uint32_t round = 0; round < 400; round++) {
        bool moved = false;
        for (uint32_t core = 0; core < cores && !ended(); core++) {
            fake_switch_core(core);
            if (fake_gic_has_interrupt()) {
                interrupt(core);
                moved = true;
            }
            if (!runs_[core]) {
                continue;
            }
            fake_switch_core(core);
            while (!acknowledged_[core].empty()) {
                end_innermost(core);
                moved = true;
            }
            if (fake_gic_guest_has_interrupt()) {
                acknowledge(core);
                moved = true;
            }
        }
        for (uint32_t core = 0; core < cores && !moved && !ended(); core++) {
            moved = reach_alarm(core);
        }
        if (!moved || ended()) {
            return;
        }
    }
    broken("interrupts never end");
}

void Machine::come_to_rest()
{
    tell(0, "all come to rest");
    judged_late_ = true;                    // many steps that nobody chose
    constexpr uint32_t words[] = {1, 2, 8}; // where devices are, and the last one
    for (uint32_t core = 0; core < cores; core++) {
        set_line(core, virtual_timer, false);
        set_line(core, physical_timer, false);
    }
    for (uint32_t spi : device_spis) {
        set_line(0, spi, false);
    }
    take_everything();
    for (uint32_t core = cores; core-- > 0;) {
        const bool alone = core < domains || !runs_[core - domains];

        if (ended() || !runs_[core]) {
            continue;
        }
        write(core, gicd_ipa, 4, 3);
        for (uint32_t spi : device_spis) {
            route(*this, core, spi, core / 2);
        }
        for (size_t i = 0; alone && i < std::size(words); i++) {
            const uint32_t word = words[i];

            write(core, gicd_ipa + 0x380 + 4 * word, 4, ~0u); // ICACTIVER
            write(core, gicd_ipa + 0x080 + 4 * word, 4, ~0u); // IGROUPR
            write(core, gicd_ipa + 0x100 + 4 * word, 4, ~0u); // ISENABLER
        }
        for (uint32_t offset : {0x380u, 0x080u, 0x100u}) {
            write(core, private_register(core / 2, offset), 4, ~0u);
        }
        take_everything();
    }
    judged_late_ = false;
    shadow_->stale.fill(true);
    judge(0);
    for (uint32_t core = 0; core < cores && !ended(); core++) {
        fake_switch_core(core);
        if (runs_[core]) {
            require(!fake_gic_is_active(virtual_timer) && !fake_gic_is_active(physical_timer),
                    "a timer's interrupt stays active: it would never come again");
            require(!vgic_is_pending(vcpu_of(core)), "an interrupt waits that the guest is not told of");
        }
    }
    for (uint32_t i = 0; i < 4 && !ended(); i++) {
        const uint32_t owner = i / 2;
        if (runs_[owner] || runs_[owner + 2]) {
            require(!fake_gic_is_active(device_spis[i]), "a device's interrupt stays active");
            require(!fake_gic_is_pending(device_spis[i]), "a device's interrupt is never taken");
        }
    }
}

void Machine::end_all()
{
    tell(0, "all end");
    // Called as by a manager: a domain whose VCPUs are all off cannot do it itself.
    for (uint32_t round = 0; round < 4 && !ended(); round++) {
        fake_switch_core(console_core_);
        for (struct domain *domain : all_domains()) {
            (void)domain_stop(domain);
        }
        shadow_->stale.fill(true);
        bool restarting = false;
        for (const struct domain *domain : all_domains()) {
            restarting = restarting || domain->state == BH_DOMAIN_STATE_RESTARTING;
        }
        for (uint32_t core = 0; core < cores && !ended(); core++) {
            if (core != console_core_ || restarting) {
                interrupt(core); // the console core ends the machine: last
            }
        }
    }
    for (uint32_t core = 0; core < cores && !ended(); core++) {
        if (core == console_core_) {
            continue;
        }
        fake_switch_core(core);
        require(!runs_[core], "a core runs a domain that has ended");
        for (uint32_t intid = virtual_timer; intid < 32; intid++) {
            require(!fake_gic_is_active(intid) && !fake_gic_is_enabled(intid), "left by a VCPU that is gone");
        }
    }
    if (!ended()) {
        interrupt(console_core_);
    }
    require(ended(), "all domains have ended, and the machine goes on");
    for (uint32_t i = 0; i < 4; i++) { // the console core's own domain went down with the machine
        require(i / 2 == domain_of(console_core_) ||
                    (!fake_gic_is_active(device_spis[i]) && !fake_gic_is_enabled(device_spis[i])),
                "left by a domain that has ended");
    }
}

} // namespace bulkhead_fuzz
