// SPDX-License-Identifier: Apache-2.0
// An Armv7-M core for the runner. The image must begin with its vector table, as a boot loader expects.
#include "machine/armv7/m_profile/m_profile.h"
#include "machine/armv7/runner/processor.h"
#include "machine/program/text.h"

namespace bulkhead::machine::armv7 {
namespace {

using nlohmann::json;

const char *name_of(std::uint32_t number)
{
    using namespace m_profile;
    switch (number) {
    case exception::nmi:
        return "nmi";
    case exception::hard_fault:
        return "hard_fault";
    case exception::mem_manage:
        return "mem_manage";
    case exception::bus_fault:
        return "bus_fault";
    case exception::usage_fault:
        return "usage_fault";
    case exception::svcall:
        return "svcall";
    case exception::pendsv:
        return "pendsv";
    case exception::systick:
        return "systick";
    default:
        return nullptr;
    }
}

class m_processor final : public processor {
public:
    m_processor(const m_profile::m_profile_settings &wanted, processor_place where)
        : where_(std::move(where)), core_(where_.machine.core_at(core_id{0})),
          misses_(core_.settings().frequency_hz),
          system_(core_, state_, where_.bus, where_.machine.timeline(), where_.machine.ram(), wanted),
          interpreter_(core_, state_, system_)
    {
        system_.when_ended(where_.ended);
        system_.when_missed([this](picoseconds time) { misses_.add(time); });
        interpreter_.when_marked(where_.marked);
    }

    // The vector table is where the image begins.
    std::string reset()
    {
        const std::uint32_t vectors = where_.image.lowest_address();
        if (!system_.reset(vectors) || (state_.r[pc] ^ where_.image.entry()) >> 1U != 0) {
            return sentence("the image has no vector table at its lowest address, ", hex{vectors},
                            ": the second word is not its entry point");
        }
        return "";
    }

    void start() override
    {
        core_.start([this](core &) { interpreter_.run(); });
    }
    void stop() override { interpreter_.stop(); }
    void set_interrupt(std::uint32_t number, bool high) override { system_.set_interrupt(number, high); }
    [[nodiscard]] std::string ending() const override
    {
        switch (system_.end()) {
        case m_profile::core_end::none:
            return "";
        case m_profile::core_end::halted:
            return "halted";
        case m_profile::core_end::lockup:
            return "lockup";
        case m_profile::core_end::reset:
            return "reset";
        }
        return "";
    }
    [[nodiscard]] std::string trouble() const override { return system_.trouble(); }
    [[nodiscard]] json counts() const override
    {
        json entered = json::object();
        for (std::uint32_t number = 0; number < system_.entered().size(); ++number) {
            if (const std::uint64_t times = system_.entered()[number]; times != 0) {
                const char *const name = name_of(number);
                const std::uint32_t interrupt = number - m_profile::exception::first_interrupt;
                entered[name != nullptr ? std::string(name) : "interrupt " + std::to_string(interrupt)] =
                    times;
            }
        }
        const m_profile::mpu_counts &mpu = system_.mpu_misses();
        return {{"exceptions", std::move(entered)},
                {"mpu",
                 {{"faults", mpu.faults},
                  {"misses", mpu.misses},
                  {"miss_cycles", misses_.cycles(mpu.miss_time)},
                  {"longest_miss_cycles", misses_.cycles(mpu.longest_miss)},
                  {"miss_costs", costs_json(misses_)}}},
                {"not_implemented", system_.missing()}};
    }

private:
    processor_place where_;
    core &core_;
    cost_counts misses_;
    registers state_;
    m_profile::m_profile system_;
    interpreter interpreter_;
};

} // namespace

result<std::unique_ptr<processor>> make_m_processor(const json &wanted, processor_place where)
{
    m_profile::m_profile_settings settings;
    settings.interrupts = wanted.at("interrupts");
    settings.priority_bits = wanted.at("priority_bits");
    settings.mpu_regions = wanted.at("mpu_regions");
    settings.caches = wanted.at("caches");
    settings.words_per_cycle = wanted.at("words_per_cycle");
    settings.entry_cycles = wanted.at("entry_cycles");
    settings.exit_cycles = wanted.at("exit_cycles");
    settings.tail_chain_cycles = wanted.at("tail_chain_cycles");
    if (settings.interrupts > m_profile::exceptions::most_interrupts) {
        return refusal{"core.interrupts: an NVIC has 240 at most"};
    }
    if (settings.priority_bits < 3 || settings.priority_bits > 8) {
        return refusal{"core.priority_bits: an Armv7-M core has 3 to 8"};
    }
    if (settings.mpu_regions > 16) {
        return refusal{"core.mpu_regions: an MPU has 16 at most"};
    }
    auto made = std::make_unique<m_processor>(settings, std::move(where));
    if (std::string reason = made->reset(); !reason.empty()) {
        return refusal{std::move(reason)};
    }
    return made;
}

} // namespace bulkhead::machine::armv7
