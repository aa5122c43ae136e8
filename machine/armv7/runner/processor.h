// SPDX-License-Identifier: Apache-2.0
// The core of a run with its system level, as the runner knows it. This is the one place where a profile is
// chosen: make_processor().
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

    // Puts the program on the core. Before the machine runs.
    virtual void start() = 0;
    // Nothing more is executed.
    virtual void stop() = 0;
    // An input of the interrupt controller, by its number from 0 on.
    virtual void set_interrupt(std::uint32_t number, bool high) = 0;
    // Why the core does not go on by itself ("halted", "lockup", "reset"); empty: it would.
    [[nodiscard]] virtual std::string ending() const = 0;
    // The same in words, where there is more to say.
    [[nodiscard]] virtual std::string trouble() const = 0;
    // Keys of the answer that the profile has to add.
    [[nodiscard]] virtual nlohmann::json counts() const = 0;
};

// What a processor is connected to. All outlive it.
struct processor_place {
    simulated_machine &machine;
    physical_bus &bus;
    const elf_image &image;                    // is loaded
    std::function<void()> ended;               // called once, when ending() is not empty any more
    std::function<void(std::uint32_t)> marked; // called when the program says DBG, with its option
};

// Pairs of cycles and how often.
nlohmann::json costs_json(const cost_counts &from);

// `profile`: "armv7-a" or "armv7-m". `wanted`: the request's `core`; throws nlohmann::json::exception where a
// key is missing or of a wrong type.
result<std::unique_ptr<processor>> make_processor(const std::string &profile, const nlohmann::json &wanted,
                                                  processor_place where);
// One for each profile. `wanted` of armv7-a: {peripherals_at (the private memory region), peripherals_hz (its
// clock), interrupts, outer_cache {at, level} (a PL310 on that shared level; unsaid: none)}.
result<std::unique_ptr<processor>> make_m_processor(const nlohmann::json &wanted, processor_place where);
result<std::unique_ptr<processor>> make_a_processor(const nlohmann::json &wanted, processor_place where);

} // namespace bulkhead::machine::armv7
