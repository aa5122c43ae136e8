// SPDX-License-Identifier: Apache-2.0
// A Cortex-A9 for the runner, with its private memory region and the outer cache's controller. Other cores
// are not simulated: they stay in their boot ROM, waiting for an event. The image is entered as by a boot
// loader: in Supervisor mode, with MMU and caches off.
#include <algorithm>
#include <cstring>
#include <map>

#include "machine/armv7/a_profile/system_level.h"
#include "machine/armv7/interpreter.h"
#include "machine/armv7/runner/processor.h"
#include "machine/devices/mpcore.h"
#include "machine/devices/pl310.h"
#include "machine/program/text.h"

namespace bulkhead::machine::armv7 {
namespace {

using nlohmann::json;

struct a_settings {
    std::uint32_t peripherals_at = 0;
    std::uint64_t peripherals_hz = 0;
    std::uint32_t interrupts = 96; // INTIDs
    std::optional<std::uint32_t> outer_cache_at;
    std::size_t outer_level = 0;
};

class a_processor final : public processor {
public:
    a_processor(const a_settings &wanted, processor_place where)
        : where_(std::move(where)), core_(where_.machine.core_at(core_id{0})),
          kernel_walks_(core_.settings().frequency_hz),
          mmu_(std::get<mmu>(mmu::make(core_.settings().mmu, core_, reader()))),
          gic_({.cores = where_.machine.core_count(), .interrupts = wanted.interrupts},
               [this](core_id which) { interrupts_changed(which); }),
          mpcore_({.clock_hz = wanted.peripherals_hz,
                   .cores = static_cast<std::uint32_t>(where_.machine.core_count())},
                  where_.machine.timeline(), core_, gic_, report()),
          system_({.on = core_,
                   .state = state_,
                   .translation = mmu_,
                   .bus = where_.bus,
                   .peripherals_at = wanted.peripherals_at,
                   .irq = irq_,
                   .send_event = [] {},
                   .missing = report(),
                   .ended = where_.ended}),
          interpreter_(core_, state_, system_)
    {
        system_.connect();
        mmu_.on_walked([this](picoseconds time, std::uint16_t asid) { walked(time, asid); });
        interpreter_.when_marked(where_.marked);
        where_.bus.add({wanted.peripherals_at, devices::mpcore::bytes,
                        [this](std::uint32_t offset) { return mpcore_.read(offset); },
                        [this](std::uint32_t offset, std::uint32_t value) { mpcore_.write(offset, value); }});
        if (wanted.outer_cache_at) {
            connect_outer_cache(*wanted.outer_cache_at, wanted.outer_level);
        }
        state_.r[pc] = where_.image.entry() & ~1U;
        state_.thumb = (where_.image.entry() & 1U) != 0;
    }

    void start() override
    {
        core_.start([this](core &) { interpreter_.run(); });
    }
    void stop() override { interpreter_.stop(); }
    void set_interrupt(std::uint32_t number, bool high) override
    {
        constexpr std::uint32_t first_shared = 32;
        gic_.set_line(core_id{0}, first_shared + number, high);
    }
    [[nodiscard]] std::string ending() const override { return system_.halted() ? "halted" : ""; }
    [[nodiscard]] std::string trouble() const override { return ""; }
    [[nodiscard]] json counts() const override
    {
        json taken = json::object();
        for (std::size_t i = 0; i < a_profile::exception_count; ++i) {
            const auto which = static_cast<a_profile::exception>(i);
            if (const std::uint64_t times = system_.taken(which); times != 0) {
                taken[std::string(a_profile::name_of(which))] = times;
            }
        }
        json locked = json::array();
        for (std::uint32_t entry = 0; entry < mmu_.lockable_entries(); ++entry) {
            if (const auto found = mmu_.locked(entry)) {
                locked.push_back({{"entry", entry},
                                  {"first", found->first},
                                  {"size_bytes", std::uint64_t{1} << found->what.shift},
                                  {"asid", found->whose.asid}});
            }
        }
        json walks = json::array();
        for (const auto &[asid, costs] : walks_) {
            walks.push_back({{"asid", asid}, {"costs", costs_json(costs)}});
        }
        return {{"exceptions", std::move(taken)},
                {"walk_costs", std::move(walks)},
                {"kernel_walk_costs", costs_json(kernel_walks_)},
                {"locked", std::move(locked)},
                {"not_implemented", missing_}};
    }

private:
    void walked(picoseconds time, std::uint16_t asid)
    {
        if (system_.state().privileged()) {
            kernel_walks_.add(time);
        } else {
            walks_.try_emplace(asid, core_.settings().frequency_hz).first->second.add(time);
        }
    }
    [[nodiscard]] mmu::table_reader reader()
    {
        return [this](phys_addr where) -> std::optional<std::uint64_t> {
            std::uint64_t value = 0;
            const std::uint8_t *const found = where_.bus.memory(where.value, sizeof value);
            if (found == nullptr) {
                return std::nullopt;
            }
            std::memcpy(&value, found, sizeof value);
            return value;
        };
    }
    [[nodiscard]] std::function<void(std::string_view)> report()
    {
        return [this](std::string_view name) { missing_.emplace_back(name); };
    }
    void connect_outer_cache(std::uint32_t at, std::size_t level)
    {
        outer_ = std::make_unique<devices::pl310>(where_.machine, level, report());
        where_.bus.add({at, devices::pl310::bytes,
                        [this](std::uint32_t offset) { return outer_->read(core_.id(), offset); },
                        [this](std::uint32_t offset, std::uint32_t value) {
                            outer_->write(core_.id(), offset, value);
                        }});
    }
    void interrupts_changed(core_id which)
    {
        if (which != core_.id()) {
            return;
        }
        const picoseconds now = where_.machine.timeline().now();
        const picoseconds seen = now + picoseconds{where_.machine.made_from().signals.interrupt_ps};
        irq_.set(gic_.signalled(which), seen);
        if (irq_.seen_from() != engine::never) {
            core_.signal(irq_.seen_from());
        }
    }

    processor_place where_;
    core &core_;
    std::map<std::uint16_t, cost_counts> walks_; // misses of unprivileged code, by address space
    cost_counts kernel_walks_;                   // misses of privileged code
    mmu mmu_;
    devices::irq_output irq_;
    std::vector<std::string> missing_;
    devices::gic_v2 gic_;
    devices::mpcore mpcore_;
    std::unique_ptr<devices::pl310> outer_;
    registers state_;
    a_profile::system_level system_;
    interpreter interpreter_;
};

std::optional<std::size_t> level_named(const simulated_machine &machine, const std::string &name)
{
    const auto &levels = machine.made_from().levels;
    const auto found = std::ranges::find(levels, name, &level_settings::name);
    return found == levels.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - levels.begin()));
}

} // namespace

result<std::unique_ptr<processor>> make_a_processor(const json &wanted, processor_place where)
{
    a_settings chosen;
    chosen.peripherals_at = wanted.at("peripherals_at");
    chosen.peripherals_hz = wanted.at("peripherals_hz");
    chosen.interrupts = wanted.value("interrupts", chosen.interrupts);
    if (chosen.peripherals_hz == 0 || chosen.peripherals_hz > 10'000'000'000) {
        return refusal{"core.peripherals_hz: must be up to 10 GHz"};
    }
    if (chosen.interrupts < 32 || chosen.interrupts % 32 != 0 || chosen.interrupts > 1020) {
        return refusal{"core.interrupts: must be a multiple of 32, up to 992"};
    }
    if (where.machine.made_from().cores.at(0).mmu.l2.lockable_entries == 0) {
        return refusal{"settings.cores[0].mmu.l2.lockable_entries: a Cortex-A9 has some"};
    }
    if (wanted.contains("outer_cache")) {
        const json &outer = wanted.at("outer_cache");
        chosen.outer_cache_at = outer.at("at");
        const auto level = level_named(where.machine, outer.at("level"));
        if (!level) {
            return refusal{"core.outer_cache.level: the machine has no such level"};
        }
        chosen.outer_level = *level;
    }
    return std::make_unique<a_processor>(chosen, std::move(where));
}

} // namespace bulkhead::machine::armv7
