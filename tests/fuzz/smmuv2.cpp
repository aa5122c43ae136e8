// SPDX-License-Identifier: Apache-2.0
// Target `smmuv2` (D2): what target `smmu` is for an SMMUv3, for an SMMUv2 beside a GICv2. Devices access any
// address by any stream, in floods; guests change the mode of their flash, and restart; a manager stops and
// restarts domains; synchronizations of the SMMU end late, or never. A device reaches only memory of its
// domain, and none while its domain does not run; every fault that a register held is counted for its domain;
// no step of EL2 waits for the SMMU.
#include "machine.h"
#include "snapshot.h"
#include "tests/traps/smmuv2_model.h"

#include <algorithm>
#include <utility>

extern "C" {
#include "core/nor_flash.h"
#include "vm/clock.h"
}

namespace {

using namespace bulkhead_fuzz;
using bulkhead_test::Smmuv2Model;

constexpr uint64_t ticks_per_us = 62;
constexpr uint64_t step_ticks = 31250;           // 0.5 ms: EL2 looks once in each
constexpr uint64_t longest_look_ticks = 6250000; // 100 ms
constexpr uint64_t registers = 1 + domains;      // that hold a fault: sGFSR, and a bank of each domain
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t cpu_on = 0x84000003;
constexpr uint64_t domain_stop_call = 0xC6000001;
constexpr uint64_t domain_restart_call = 0xC6000002;
// Reads of the SMMU's registers by one step of EL2: some of each register with a fault, and whether a
// synchronization has ended. A wait for 0.1 ms would be a hundred.
constexpr unsigned most_reads = 40;
constexpr uint32_t permission_fault = 0xF;

constexpr uint32_t fsr_causes = 0x1FF; // of sGFSR and CB_FSR

Smmuv2Model model;

void plug_in()
{
    model.plug_in(sample_smmu_pa, sample_smmu_event_irq);
}

uint32_t domain_of_core(uint32_t core)
{
    return core % domains;
}

// The domain of a stream; `domains` if it is of none.
uint32_t domain_of_stream(uint32_t stream)
{
    const auto *found = std::find(std::begin(streams), std::end(streams), stream);

    return found == std::end(streams) ? domains : static_cast<uint32_t>(found - streams) % domains;
}

bool is_in(uint64_t address, uint64_t first, uint64_t bytes)
{
    return address - first < bytes;
}

bool is_memory(uint32_t domain, uint64_t pa)
{
    return is_in(pa, memory_pa + domain * memory_bytes, memory_bytes);
}

bool is_flash(uint32_t domain, uint64_t pa)
{
    return is_in(pa, flash_pa + domain * flash_bytes, flash_bytes);
}

const status_smmu &counted()
{
    return *static_cast<const status_smmu *>(
        pool_pointer(system_pool(),
                     color_at(&system_pool()->range, uint64_t{system_status()->smmu_frame} * BH_PAGE_BYTES)));
}

class World {
public:
    explicit World(const Options &options) : machine_(start(options)), console_core_(options.console_core)
    {
        fake_hook_translation([](uint64_t address, bool) -> uint64_t {
            const uint64_t own = flash_pa + domain_of_core(fake_current_core()) * flash_bytes;
            return 0xFFull << 56 | own | (address & 0xFFF & ~0xFFFull);
        });
        machine_->on_window([this](uint64_t page) { judge_window(page); });
        model.on_read = [this](uint64_t) {
            if (const auto next = std::exchange(racing_, std::nullopt)) {
                judge_access(next->first, next->second, true);
                raced_++;
            }
        };
        for (uint32_t i = 0; i < domains; i++) { // second VCPUs
            (void)machine_->call(i, false, cpu_on, 1, memory_ipa);
            machine_->interrupt(i + domains);
        }
        started_ticks_ = now();
    }

    bool ended() const { return machine_->ended(); }

    void step(Input &input)
    {
        const uint8_t operation = input.u8();
        const uint32_t core = operation >> 6;

        switch (operation & 15) {
        case 0:
        case 1:
        case 2:
            access(input);
            break;
        case 3:
            flood(input);
            break;
        case 4:
            take(core);
            break;
        case 5:
            take(console_core_);
            break;
        case 6:
            machine_->pass_time(ticks_per_us * (uint64_t{1} << input.u8() % 18)); // up to 131 ms
            break;
        case 7:
        case 8:
            synchronize();
            break;
        case 9:
            command(core, input.pick(commands_of_flash), input.u8());
            break;
        case 10:
            read_flash(core, input.u8());
            break;
        case 11:
            command(core, 0x70, 0);
            break;
        case 12:
            reset(core, input.u8());
            break;
        case 13:
            manage(core, input.u8());
            break;
        case 14:
            access_during_a_look(input);
            break;
        default:
            dead_ = dead_ || operation == 0x5F; // the SMMU's end: rarely
            break;
        }
        judge();
    }

    // The SMMU answers, and every core takes what comes. Then no restart is left over, devices of domains
    // that run work, and no fault is left in a register.
    void come_to_rest()
    {
        racing_ = std::nullopt;
        for (int round = 0; round < 60 && !ended() && (round == 0 || !is_at_rest()); round++) {
            synchronize();
            machine_->pass_time(longest_look_ticks);
            for (uint32_t core = 0; core < cores && !ended(); core++) {
                take_what_is_due(core);
            }
        }
        if (ended() || dead_) {
            return;
        }
        judge();
        require(!has_faults(), "a fault is left, and nobody looks");
        require(all_counted() <= all_recorded() && all_counted() + raced_ >= all_recorded(),
                "a fault in a register was not counted");
        for (uint32_t i = 0; i < domains; i++) {
            require(domain_at(i)->state != BH_DOMAIN_STATE_RESTARTING, "a restart never ends");
            const auto reached = model.access(streams[i], memory_ipa);
            require(runs(i) ? reached == memory_pa + i * memory_bytes : !reached,
                    "a device of a running domain does not reach its memory");
        }
    }

private:
    static constexpr uint8_t commands_of_flash[] = {0xFF, 0x70, 0x90, 0x98, 0x40, 0x20,
                                                    0xD0, 0x60, 0xE8, 0x50, 0xFF, 0xFF};

    // Booted, or as after boot.
    static std::unique_ptr<Machine> start(const Options &options)
    {
        struct Booted {
            Options options;
            Smmuv2Model smmu;
        };
        static std::vector<Booted> booted;
        const auto found = std::find_if(booted.begin(), booted.end(),
                                        [&](const auto &one) { return one.options == options; });

        if (Snapshot::possible() && found != booted.end()) {
            model = found->smmu;
            return std::make_unique<Machine>(options);
        }
        model = {};
        auto machine = std::make_unique<Machine>(options);
        model.delays = true;
        booted.push_back({options, model});
        return machine;
    }

    static uint64_t now() { return fake_core_sysreg(0, SYSREG_ID_CNTPCT_EL0); }
    static bool runs(uint32_t domain) { return domain_at(domain)->state == BH_DOMAIN_STATE_RUNNING; }

    static uint32_t stream_of(Input &input)
    {
        const uint8_t how = input.u8();

        return (how < 0xC0   ? streams[how % std::size(streams)]
                : how < 0xE0 ? 8 + how % 4u
                : how < 0xF0 ? 0x7FC0 + how
                             : input.u32()) &
               0x7FFF;
    }

    static uint64_t address_of(Input &input)
    {
        const uint8_t how = input.u8();
        const uint64_t places[] = {memory_ipa,
                                   flash_ipa,
                                   memory_pa,
                                   flash_pa,
                                   memory_ipa + memory_bytes,
                                   flash_ipa + flash_bytes,
                                   sample_smmu_pa,
                                   gicd_ipa,
                                   system_manifest()->platform.gicc_pa, // the page that VCPUs have there
                                   model.banks[0].ttbr0 & 0xFFFFFFFFF000,
                                   0};

        return how < 0xF0 ? places[how % std::size(places)] + (how / 11 % 8 * 0xFF8) : input.number();
    }

    void synchronize()
    {
        if (!dead_) {
            model.complete();
        }
    }

    void access(Input &input)
    {
        const uint32_t stream = stream_of(input);
        const uint64_t address = address_of(input);

        judge_access(stream, address, (input.u8() & 1) != 0);
    }

    // As fast as a device can: none of EL2's steps comes between.
    void flood(Input &input)
    {
        const uint32_t stream = stream_of(input);
        const uint64_t address = address_of(input);

        for (unsigned left = input.u8(); left-- != 0;) {
            judge_access(stream, address, (left & 1) != 0);
        }
    }

    // An access between two reads of registers, the next time that EL2 reads one.
    void access_during_a_look(Input &input)
    {
        const uint32_t stream = stream_of(input);
        const uint64_t address = address_of(input);

        racing_ = std::pair{stream, address};
    }

    // Whether nothing is left to be done.
    static bool is_at_rest()
    {
        for (uint32_t i = 0; i < domains; i++) {
            if (domain_at(i)->state == BH_DOMAIN_STATE_RESTARTING) {
                return false;
            }
        }
        return !model.is_synchronizing() && !has_faults();
    }

    static bool has_faults()
    {
        return (model.sgfsr & fsr_causes) != 0 ||
               std::any_of(model.banks.begin(), model.banks.end(),
                           [](const auto &bank) { return (bank.fsr & fsr_causes) != 0; });
    }

    // EL2's timer interrupts the core if its time has come.
    void tell_time(uint32_t core)
    {
        if ((fake_core_sysreg(core, SYSREG_ID_CNTHP_CTL_EL2) & 1) != 0 &&
            fake_core_sysreg(core, SYSREG_ID_CNTHP_CVAL_EL2) <= now()) {
            machine_->raise(core, system_manifest()->platform.cnthp_irq);
        }
    }

    // The core takes its interrupts, or wakes without one.
    void take(uint32_t core)
    {
        tell_time(core);
        bounded([&] { machine_->interrupt(core); });
    }

    // The same, but nothing wakes the core that EL2 has not asked for.
    void take_what_is_due(uint32_t core)
    {
        tell_time(core);
        fake_switch_core(core);
        for (unsigned taken = 0; taken < 4 && fake_gic_has_interrupt() && !ended(); taken++) {
            bounded([&] { machine_->interrupt(core); });
            fake_switch_core(core);
        }
    }

    // A guest's store into its flash: the core reports a permission fault while the flash is mapped.
    void command(uint32_t core, uint8_t code, uint8_t offset)
    {
        const struct flash &flash = domain_at(domain_of_core(core))->flash;
        const uint32_t at = offset & ~3u;

        machine_->set_register(core, 1, uint64_t{code} << 16 | code);
        bounded([&] {
            machine_->trap(core,
                           flash.hidden
                               ? bulkhead_test::esr_store(4, 1)
                               : (bulkhead_test::esr_store(4, 1) & ~uint64_t{0x3F}) | permission_fault,
                           flash_ipa + at);
        });
    }

    void read_flash(uint32_t core, uint8_t offset)
    {
        if (domain_at(domain_of_core(core))->flash.hidden) { // otherwise it does not trap
            bounded([&] { (void)machine_->read(core, flash_ipa + (offset & ~3u), 4); });
        }
    }

    void reset(uint32_t core, uint8_t wanted)
    {
        if (wanted % 4 == 0) { // a restart takes long
            bounded([&] { (void)machine_->call(core, false, system_reset); });
        }
    }

    void manage(uint32_t core, uint8_t what)
    {
        bounded([&] {
            (void)machine_->call(core, false, (what & 1) != 0 ? domain_stop_call : domain_restart_call,
                                 what >> 1 & 1);
        });
    }

    // A step of EL2 on one core. It reads a few registers of the SMMU; a restart does so between its steps.
    template <typename Step> void bounded(const Step &step)
    {
        const unsigned before = model.reads;

        windows_ = 0;
        step();
        require(model.reads - before <= most_reads + 4 * windows_, "a step waits for the SMMU");
    }

    // Memory of a domain is loaded anew: no device reaches any of it.
    void judge_window(uint64_t page)
    {
        windows_++;
        for (uint32_t i = 0; i < domains; i++) {
            if (!is_memory(i, page) || domain_at(i)->state != BH_DOMAIN_STATE_RESTARTING) {
                continue;
            }
            require(!model.is_synchronizing() || has_running_vcpu(i) || synchronizes_for_another(i),
                    "memory is loaded anew before the SMMU has synchronized");
            for (uint32_t other = i; other < std::size(streams); other += domains) {
                require(!model.access(streams[other], memory_ipa + page % memory_bytes),
                        "a device reaches memory that is loaded anew");
            }
        }
    }

    static bool has_running_vcpu(uint32_t domain)
    {
        return domain_at(domain)->vcpus[0].power == VCPU_ON || domain_at(domain)->vcpus[1].power == VCPU_ON;
    }

    // The other domain has stopped or changed its flash meanwhile.
    bool synchronizes_for_another(uint32_t domain) const
    {
        return !runs(1 - domain) || domain_at(1 - domain)->flash.hidden;
    }

    void judge_access(uint32_t stream, uint64_t address, bool write)
    {
        const uint32_t domain = domain_of_stream(stream);
        const auto reached = model.access(stream, address, write);

        if (!reached) {
            return;
        }
        require(domain != domains, "a stream that no domain has reaches something");
        require(runs(domain), "a device reaches memory although its domain does not run");
        require(is_memory(domain, *reached) || (!write && is_flash(domain, *reached)),
                "a device reaches what its domain does not own");
        require(!is_flash(domain, *reached) || domain_at(domain)->flash.chip.mode == NOR_FLASH_ARRAY,
                "a device reads flash that takes commands");
    }

    static uint64_t all_counted() { return counted().refused[0] + counted().refused[1] + counted().nobody; }

    static uint64_t all_recorded()
    {
        uint64_t all = 0;

        for (const auto &one : model.recorded) {
            all += one.second;
        }
        return all;
    }

    void judge()
    {
        const auto &status = counted();
        const uint64_t steps = 1 + (now() - started_ticks_) / step_ticks;
        uint64_t taken[domains + 1] = {};

        if (!model.violations.empty()) {
            broken(model.violations[0].c_str());
        }
        for (const auto &[stream, count] : model.recorded) {
            taken[domain_of_stream(stream)] += count;
        }
        require(status.refused[0] <= taken[0] && status.refused[1] <= taken[1] &&
                    status.nobody <= taken[domains],
                "a refusal is counted for the wrong domain");
        require(all_counted() + registers + raced_ >= all_recorded(),
                "faults that registers held were not counted");
        require(status.other == 0, "a table of a domain cannot be read");
        require(ended() || all_counted() <= (registers + raced_) * steps,
                "more faults are handled than in bounded steps");
        require(status.interrupts <= steps, "more interrupts than one in each interval");
    }

    std::unique_ptr<Machine> machine_;
    uint32_t console_core_;
    uint64_t started_ticks_;
    unsigned windows_ = 0;
    unsigned raced_ = 0;                                  // accesses between reads of registers
    std::optional<std::pair<uint32_t, uint64_t>> racing_; // the next one
    bool dead_ = false;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    Input input(data, bytes);
    const uint8_t first = input.u8();
    Options options;

    options.console_core = first & 1;
    options.flags[0] = (first & 2) != 0 ? uint32_t{BH_DOMAIN_FLAG_MANAGER} : 0;
    options.flags[1] = (first & 4) != 0 ? uint32_t{BH_DOMAIN_FLAG_RESTART_ON_FAILURE} : 0;
    options.plug_in_smmu = plug_in;
    options.smmu_version = BH_SMMU_VERSION_SMMUV2;
    World world(options);

    while (!input.empty() && !world.ended()) {
        world.step(input);
    }
    if (!world.ended()) {
        world.come_to_rest();
    }
    return 0;
}
