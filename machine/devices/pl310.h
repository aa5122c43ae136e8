// SPDX-License-Identifier: Apache-2.0
// The registers of a PL310 level-2 cache controller (DDI 0246H) on a shared level of the machine: control,
// lockdown by way for each master's data and instructions, maintenance by line, index and way. At reset the
// cache is off. Registers act on the level that all cores' accesses use. Left out: event counters,
// interrupts, lockdown by line; if software uses them, `missing` is called once for each.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "machine/machine.h"

namespace bulkhead::machine::devices {

class pl310 {
public:
    static constexpr std::uint64_t bytes = 0x1000;
    static constexpr std::uint32_t masters = 8; // that have registers; core n is master n

    // `level`: index of the machine's level. `missing` is called with the name of a part that is not
    // modelled.
    pl310(simulated_machine &machine, std::size_t level, std::function<void(std::string_view)> missing);

    // Called on the fiber of the core `from`, whose access was made in order.
    [[nodiscard]] std::uint32_t read(core_id from, std::uint64_t offset) const;
    void write(core_id from, std::uint64_t offset, std::uint32_t value);

private:
    struct operation {
        bool clean;
        bool invalidate;
    };

    [[nodiscard]] std::uint64_t all_ways() const;
    [[nodiscard]] picoseconds now(core_id from) const { return machine_.core_at(from).clock(); }
    void lock(std::uint64_t offset, std::uint32_t value);
    bool maintain(core_id from, std::uint64_t offset, std::uint32_t value);
    void maintain_line(core_id from, phys_addr line, operation what);
    void maintain_ways(core_id from, std::uint32_t ways, operation what);
    void report(std::string_view name);

    simulated_machine &machine_;
    std::size_t level_;
    std::function<void(std::string_view)> missing_;
    std::map<std::uint64_t, std::uint32_t> kept_; // registers that only store written values
    std::array<std::uint32_t, 2 * static_cast<std::size_t>(masters)> locked_{};
    bool on_ = false;
    std::uint32_t busy_ways_ = 0; // ways of a maintenance operation in the background
    picoseconds busy_until_{};
    std::set<std::string_view> reported_;
};

} // namespace bulkhead::machine::devices
