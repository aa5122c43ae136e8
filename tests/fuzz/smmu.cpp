// SPDX-License-Identifier: Apache-2.0
// Target `smmu` (D2, D4): hostile devices behind the SMMU's driver, and the guests that own them. Devices
// access any address by any stream, in floods; guests change the mode of their flash, and restart; a manager
// stops and restarts domains; the SMMU executes commands late, a few at a time, or no more. A device reaches
// only memory of its domain, and none when its domain's stop is complete; every refusal is counted for its
// domain; no step of EL2 waits for the SMMU. Functions also write messages: messages.h.
#include "machine.h"
#include "messages.h"
#include "snapshot.h"
#include "tests/traps/smmu_model.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

extern "C" {
#include "core/nor_flash.h"
#include "vm/clock.h"
}

namespace {

using namespace bulkhead_fuzz;
using bulkhead_test::SmmuModel;

constexpr uint32_t commands_error = 1; // of SMMU_GERROR: the SMMU executes no more commands
constexpr uint64_t ticks_per_us = 62;
constexpr uint64_t step_ticks = 31250;           // 0.5 ms: EL2 handles 16 events in each
constexpr uint64_t longest_look_ticks = 6250000; // 100 ms
constexpr uint64_t events_of_a_step = 16;
constexpr uint64_t system_reset = 0x84000009;
constexpr uint64_t cpu_on = 0x84000003;
constexpr uint64_t domain_stop_call = 0xC6000001;
constexpr uint64_t domain_restart_call = 0xC6000002;
// Reads of the SMMU's registers by one step of EL2: each interrupt, hypercall or access reads some. A wait
// for 0.1 ms would be a hundred.
constexpr unsigned most_reads = 40;
constexpr uint32_t permission_fault = 0xF;

SmmuModel model;
MessageHardware hardware;
constexpr uint64_t message_page = sample_its_pa + BH_ITS_FRAME_BYTES;

void plug_in()
{
    model.plug_in(sample_smmu_pa);
    hardware.plug_in();
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
    explicit World(const Options &options)
        : machine_(start(options)), messages_(*machine_, hardware), console_core_(options.console_core)
    {
        fake_hook_translation([](uint64_t address, bool) -> uint64_t {
            const uint64_t own = flash_pa + domain_of_core(fake_current_core()) * flash_bytes;
            return 0xFFull << 56 | own | (address & 0xFFF & ~0xFFFull);
        });
        machine_->on_window([this](uint64_t page) { judge_window(page); });
        for (uint32_t i = 0; i < domains; i++) { // second VCPUs
            (void)machine_->call(i, false, cpu_on, 1, memory_ipa);
            machine_->interrupt(i + domains);
        }
        started_ticks_ = now();
        for (uint32_t i = 0; i < domains; i++) {
            ran_[i] = runs(i);
        }
    }

    bool ended() const { return machine_->ended(); }

    void step(Input &input)
    {
        const uint8_t operation = input.u8();
        const uint32_t core = operation >> 6;

        if ((operation & 0x30) == 0x30) {
            message(core, operation, input);
            judge();
            return;
        }
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
            pass_time(ticks_per_us * (uint64_t{1} << input.u8() % 18)); // up to 131 ms
            break;
        case 7:
            model.run_commands(input.u8() % 8);
            break;
        case 8:
            model.run_commands();
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
            if (core % 2 != 0) {
                access_during_a_look(input);
            } else {
                translated(input);
            }
            break;
        default:
            if (operation == 0x5F) { // the SMMU's end: rarely
                model.raise_error(commands_error);
                dead_ = true;
            } else {
                model.raise_error(1u << (2 + input.u8() % 7));
            }
            break;
        }
        judge();
    }

    // The SMMU executes everything, and every core takes what comes. Then no restart is left over, and
    // devices of domains that run work.
    void come_to_rest()
    {
        model.on_events_taken = nullptr;
        for (int round = 0; round < 60 && !ended() && (round == 0 || !is_at_rest()); round++) {
            model.run_commands();
            pass_time(longest_look_ticks);
            for (uint32_t core = 0; core < cores && !ended(); core++) {
                take_what_is_due(core);
            }
        }
        if (ended() || dead_) {
            return;
        }
        judge();
        for (uint32_t i = 0; i < domains; i++) {
            require(domain_at(i)->state != BH_DOMAIN_STATE_RESTARTING, "a restart never ends");
            const auto reached = model.access(streams[i], memory_ipa);
            require(runs(i) ? reached == memory_pa + i * memory_bytes : !reached,
                    "a device of a running domain does not reach its memory");
        }
        require(model.events_waiting() == 0, "events are left, and nobody looks");
        require(counted().overflows == model.overflows + model.aborted_writes,
                "a loss of events was not noticed");
        require(((model.eventq_prod ^ model.eventq_cons) >> 31) == 0, "a loss of events is not acknowledged");
        require(model.commands_waiting() == 0, "commands are left");
    }

private:
    static constexpr uint8_t commands_of_flash[] = {0xFF, 0x70, 0x90, 0x98, 0x40, 0x20,
                                                    0xD0, 0x60, 0xE8, 0x50, 0xFF, 0xFF};

    // Booted, or as after boot.
    static std::unique_ptr<Machine> start(const Options &options)
    {
        struct Booted {
            Options options;
            SmmuModel smmu;
            MessageHardware hardware;
        };
        static std::vector<Booted> booted;
        const auto found = std::find_if(booted.begin(), booted.end(),
                                        [&](const auto &one) { return one.options == options; });

        if (Snapshot::possible() && found != booted.end()) {
            model = found->smmu;
            hardware = found->hardware;
            return std::make_unique<Machine>(options);
        }
        model = {};
        hardware = {};
        hardware.its.keeps_active = options.console_core != 0;
        model.idr0 |= 1u << 10; // ATS
        auto machine = std::make_unique<Machine>(options);
        model.run_commands();
        model.delays_commands = true;
        booted.push_back({options, model, hardware});
        return machine;
    }

    static uint64_t now() { return fake_core_sysreg(0, SYSREG_ID_CNTPCT_EL0); }
    static bool runs(uint32_t domain) { return domain_at(domain)->state == BH_DOMAIN_STATE_RUNNING; }

    static uint32_t stream_of(Input &input)
    {
        const uint8_t how = input.u8();

        return how < 0xC0   ? streams[how % std::size(streams)]
               : how < 0xE0 ? 8 + how % 4u // in a leaf with entries of domains
               : how < 0xF0 ? 0x7FC0 + how
                            : input.u32();
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
                                   model.strtab_base & 0xFFFFFFFFF000,
                                   model.cmdq_base & 0xFFFFFFFFF000,
                                   0};

        return how == 0xEF  ? message_page
               : how < 0xF0 ? places[how % std::size(places)] + (how / 11 % 8 * 0xFF8)
                            : input.number();
    }

    // A step of a guest with its virtual ITS, or a function that writes a message.
    void message(uint32_t core, uint8_t operation, Input &input)
    {
        if ((operation & 8) != 0) {
            messages_.step(core, operation, input);
            return;
        }
        const uint32_t stream = (operation & 4) == 0 ? streams[core % domains] : stream_of(input);
        const uint32_t event = input.u8() % (messages + 2);
        if (judge_access(stream, message_page + 0x40, true)) {
            messages_.write(stream, event);
            if ((operation & 1) != 0) {
                take(core % domains);
            }
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

    // An access while EL2 handles events, the next time that it does.
    void access_during_a_look(Input &input)
    {
        const uint32_t stream = stream_of(input);
        const uint64_t address = address_of(input);

        model.on_events_taken = [this, stream, address] { judge_access(stream, address, true); };
    }

    void translated(Input &input)
    {
        const uint32_t stream = stream_of(input);
        const uint64_t address = address_of(input);

        require(!model.translated_access(stream, address),
                "an address that a device says is translated is used");
    }

    // Whether nothing is left to be done.
    static bool is_at_rest()
    {
        for (uint32_t i = 0; i < domains; i++) {
            if (domain_at(i)->state == BH_DOMAIN_STATE_RESTARTING) {
                return false;
            }
        }
        return model.commands_waiting() == 0 && model.events_waiting() == 0 &&
               counted().overflows == model.overflows + model.aborted_writes;
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
        // the SMMU's interrupt comes after that of the timer, which the console may set for every round
        for (unsigned taken = 0; taken < 4 && fake_gic_has_interrupt() && !ended(); taken++) {
            bounded([&] { machine_->interrupt(core); });
            fake_switch_core(core);
        }
    }

    void pass_time(uint64_t ticks) { machine_->pass_time(ticks); }

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

    static bool has_running_vcpu(uint32_t domain)
    {
        return domain_at(domain)->vcpus[0].power == VCPU_ON || domain_at(domain)->vcpus[1].power == VCPU_ON;
    }

    // Memory of a domain is loaded anew: no device reaches any of it. While a VCPU is on, EL2 reads the
    // domain's commands for its ITS.
    void judge_window(uint64_t page)
    {
        windows_++;
        for (uint32_t i = 0; i < domains; i++) {
            if (!is_memory(i, page) || domain_at(i)->state != BH_DOMAIN_STATE_RESTARTING ||
                has_running_vcpu(i)) {
                continue;
            }
            for (uint32_t other = i; other < std::size(streams); other += domains) {
                require(!model.access(streams[other], memory_ipa + page % memory_bytes),
                        "a device reaches memory that is loaded anew");
            }
        }
    }

    bool judge_access(uint32_t stream, uint64_t address, bool write)
    {
        const uint32_t domain = domain_of_stream(stream);
        const uint64_t recorded = model.recorded[stream] + model.overflows;
        const auto reached = model.access(stream, address, write);

        if (domain == domains) {
            require(!reached, "a stream that no domain has reaches something");
            return false;
        }
        if (is_stopped(domain)) {
            require(!reached, "a device reaches memory although its domain's stop is complete");
            require(recorded == model.recorded[stream] + model.overflows,
                    "a device of a stopped domain causes events");
        }
        if (!reached) {
            return false;
        }
        require(is_memory(domain, *reached) || (!write && is_flash(domain, *reached)) ||
                    is_in(*reached, message_page, BH_PAGE_BYTES),
                "a device reaches what its domain does not own");
        require(!is_flash(domain, *reached) || domain_at(domain)->flash.chip.mode == NOR_FLASH_ARRAY,
                "a device reads flash that takes commands");
        return true;
    }

    // The SMMU has executed the commands of the domain's stop, and the domain has not started since.
    bool is_stopped(uint32_t domain) const
    {
        return !ran_[domain] && !runs(domain) && model.commands.size() >= stop_[domain];
    }

    void judge()
    {
        const auto &status = counted();
        uint64_t taken[domains + 1] = {};
        messages_.judge();
        const uint64_t steps = 1 + (now() - started_ticks_) / step_ticks;

        if (!model.violations.empty()) {
            broken(model.violations[0].c_str());
        }
        for (uint32_t i = 0; i < domains; i++) {
            if (ran_[i] && !runs(i)) {
                stop_[i] = model.commands.size() + model.commands_waiting();
            }
            ran_[i] = runs(i);
            const bool hidden = domain_at(i)->flash.hidden;
            if (hidden && !hidden_[i]) {
                require(model.commands.size() >= unmapped_[i], "two unmappings of a domain are under way");
                unmapped_[i] = model.commands.size() + model.commands_waiting();
            }
            hidden_[i] = hidden;
        }
        for (const auto &[stream, count] : model.recorded) {
            taken[domain_of_stream(stream)] += count;
        }
        const uint64_t all = status.refused[0] + status.refused[1] + status.nobody;
        require(status.refused[0] <= taken[0] && status.refused[1] <= taken[1] &&
                    status.nobody <= taken[domains],
                "a refusal is counted for the wrong domain");
        require(all + model.events_waiting() == taken[0] + taken[1] + taken[domains],
                "the refusals are not those that the SMMU has reported");
        require(status.other == 0, "an entry or a table of a domain cannot be read");
        require(ended() || all <= events_of_a_step * steps, "more events are handled than in bounded steps");
        require(status.interrupts <= steps, "more interrupts than one in each interval");
        require(model.commands_waiting() <= 2 * std::size(streams) + 5 * domains,
                "more commands than EL2 counts on");
    }

    std::unique_ptr<Machine> machine_;
    Messages messages_;
    uint32_t console_core_;
    uint64_t started_ticks_;
    unsigned windows_ = 0;
    bool dead_ = false;
    std::array<bool, domains> ran_{};
    std::array<bool, domains> hidden_{};     // the flash
    std::array<size_t, domains> unmapped_{}; // commands that are executed when the flash's unmapping is
    std::array<size_t, domains> stop_{};     // commands that are executed when the stop is complete
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
    World world(options);

    while (!input.empty() && !world.ended()) {
        world.step(input);
    }
    if (!world.ended()) {
        world.come_to_rest();
    }
    return 0;
}
