// SPDX-License-Identifier: Apache-2.0
// Interface of a run's core with its system level. make_processor() is the only place where a profile is
// chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "machine/armv7/cost_counts.h"
#include "machine/armv7/physical_bus.h"
#include "machine/armv7/runner/elf_image.h"
#include "machine/machine.h"

namespace bulkhead::machine::armv7 {

class processor {
public:
    processor() = default;
    processor(const processor &) = delete;
    processor &operator=(const processor &) = delete;
    virtual ~processor() = default;

    // Puts the program on the core. Call it before the machine runs.
    virtual void start() = 0;
    // Ends execution.
    virtual void stop() = 0;
    // Sets an input of the interrupt controller, numbered from 0.
    virtual void set_interrupt(std::uint32_t number, bool high) = 0;
    // Why the core has stopped by itself ("halted", "lockup", "reset"); empty: it has not.
    [[nodiscard]] virtual std::string ending() const = 0;
    // An explanation, if there is one.
    [[nodiscard]] virtual std::string trouble() const = 0;
    // Keys that the profile adds to the answer.
    [[nodiscard]] virtual nlohmann::json counts() const = 0;
};

// The parts that a processor is connected to. All must outlive it.
struct processor_place {
    simulated_machine &machine;
    physical_bus &bus;
    const elf_image &image;                    // the loaded image
    std::function<void()> ended;               // called once, when ending() is no longer empty
    std::function<void(std::uint32_t)> marked; // called when the program executes DBG, with its option
};

// Pairs of cycles and number of occurrences.
nlohmann::json costs_json(const cost_counts &from);

// `profile`: "armv7-a" or "armv7-m". `wanted`: the request's `core`; throws nlohmann::json::exception if a
// key is missing or has a wrong type.
result<std::unique_ptr<processor>> make_processor(const std::string &profile, const nlohmann::json &wanted,
                                                  processor_place where);
// One for each profile. `wanted` of armv7-a: {peripherals_at (the private memory region), peripherals_hz (its
// clock), interrupts, outer_cache {at, level} (a PL310 on that shared level; optional)}.
result<std::unique_ptr<processor>> make_m_processor(const nlohmann::json &wanted, processor_place where);
result<std::unique_ptr<processor>> make_a_processor(const nlohmann::json &wanted, processor_place where);

} // namespace bulkhead::machine::armv7
