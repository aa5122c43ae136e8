// SPDX-License-Identifier: Apache-2.0
// The performance monitors of one core as software sees them: PMUv3 of the Arm Architecture Reference Manual
// (DDI 0487, chapter D13), with the counters divided between hypervisor and guest. Counting is lazy: totals
// come from a source (the core) and are read only when a register is read or when the set of counted events
// changes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>

namespace bulkhead::machine::devices {

// Registers that exist once for each counter are indexed by `counter`.
enum class pmu_register : std::uint8_t {
    pmcr,
    pmcntenset,
    pmcntenclr,
    pmovsset,
    pmovsclr,
    pmintenset,
    pmintenclr,
    pmswinc,
    pmselr,
    pmxevtyper,
    pmxevcntr,
    pmccntr,
    pmccfiltr,
    pmceid0,
    pmceid1,
    pmuserenr,
    pmevcntr,  // indexed
    pmevtyper, // indexed
    mdcr_el2,
};

// Numbers of common events (DDI 0487, D13.12) that the models know.
namespace pmu_event {
inline constexpr std::uint16_t sw_incr = 0x00;
inline constexpr std::uint16_t l1i_cache_refill = 0x01;
inline constexpr std::uint16_t l1i_tlb_refill = 0x02;
inline constexpr std::uint16_t l1d_cache_refill = 0x03;
inline constexpr std::uint16_t l1d_tlb_refill = 0x05;
inline constexpr std::uint16_t inst_retired = 0x08;
inline constexpr std::uint16_t cpu_cycles = 0x11;
inline constexpr std::uint16_t mem_access = 0x13;
inline constexpr std::uint16_t l1d_cache_wb = 0x15;
inline constexpr std::uint16_t l2d_cache = 0x16;
inline constexpr std::uint16_t l2d_cache_refill = 0x17;
inline constexpr std::uint16_t l2d_cache_wb = 0x18;
inline constexpr std::uint16_t bus_access = 0x19;
inline constexpr std::uint16_t chain = 0x1E;
inline constexpr std::uint16_t stall_backend = 0x24;
inline constexpr std::uint16_t l3d_cache_refill = 0x2A;
inline constexpr std::uint16_t dtlb_walk = 0x34;
// Cortex-A53's own event (DDI 0500, PMU events); some other Arm cores have it too.
inline constexpr std::uint16_t ext_mem_req_nc = 0xC1;
} // namespace pmu_event

class pmu {
public:
    static constexpr std::uint32_t max_counters = 31;
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    // Each event that can be watched has a slot: the common events, and one of the core's own.
    static constexpr std::size_t places = 65;
    static constexpr std::size_t place_of_own = 64;

    // The source of counts. Totals never decrease.
    struct source {
        // Bits of PMCEID0 (events 0 to 31; from bit 32 on, events from 0x4000 on, which stay zero) and
        // PMCEID1 (32 to 63). sw_incr and chain need no support from the source and are added.
        std::uint64_t implemented0 = 0;
        std::uint64_t implemented1 = 0;
        std::uint16_t own_event = 0; // an event that is not a common one; 0: none
        std::function<std::uint64_t(std::uint16_t event)> total;
        // Requests that reached() is called when an event's total is `target`; `never`: cancels that.
        std::function<void(std::uint16_t event, std::uint64_t target)> watch;
        // Called when the level of the overflow interrupt has changed.
        std::function<void(bool high)> line;
    };

    // `counters`: number of event counters, 1 to 31, as in PMCR.N.
    pmu(std::uint32_t counters, source from);

    // Exception level at which the core executes now: 0 to 2. Call it before the first access at that level.
    void set_exception_level(std::uint32_t level);
    [[nodiscard]] std::uint32_t exception_level() const { return level_; }

    // Access by an instruction at the present exception level. A counter index that is out of range at that
    // level reads as zero, and writes to it are ignored.
    [[nodiscard]] std::uint64_t read(pmu_register which, std::uint32_t counter = 0);
    void write(pmu_register which, std::uint64_t value, std::uint32_t counter = 0);

    // A watched total was reached.
    void reached();

    [[nodiscard]] bool line() const { return line_; }

private:
    static constexpr std::uint32_t cycle_counter = 31; // its bit in all sets, and its index in counters_

    struct counter {
        std::uint64_t value = 0; // when its total was `seen`
        std::uint64_t seen = 0;  // the event's total
        std::uint32_t type = 0;  // PMEVTYPER, PMCCFILTR
    };

    [[nodiscard]] std::uint32_t hpmn() const;
    [[nodiscard]] bool is_hypervisors(std::uint32_t index) const
    {
        return index != cycle_counter && index >= hpmn();
    }
    [[nodiscard]] std::uint32_t visible() const;     // counters that the present level may use
    [[nodiscard]] std::uint32_t visible_set() const; // the same as bits, including the cycle counter
    [[nodiscard]] std::uint16_t event_of(std::uint32_t index) const;
    [[nodiscard]] bool is_enabled(std::uint32_t index) const; // by PMCNTENSET, PMCR and MDCR
    [[nodiscard]] bool counts_here(std::uint32_t index) const;
    [[nodiscard]] std::uint64_t wrap_mask(std::uint32_t index) const;
    [[nodiscard]] bool is_implemented(std::uint16_t event) const;
    [[nodiscard]] static std::size_t place_of(std::uint16_t event) // the event must be implemented
    {
        return event < place_of_own ? event : place_of_own;
    }

    template <class Function> void for_each(Function &&function);
    void sync();
    void advance(std::uint32_t index, std::uint64_t times);
    void settle();
    void ask();
    [[nodiscard]] bool line_level() const;
    void write_pmcr(std::uint64_t value);
    void increment_by_software(std::uint32_t set);
    std::uint32_t selected(pmu_register which, std::uint32_t counter) const;

    std::uint32_t count_;
    source from_;
    std::uint32_t level_ = 2;
    std::uint32_t pmcr_ = 0;
    std::uint32_t enabled_ = 0;
    std::uint32_t overflowed_ = 0;
    std::uint32_t interrupt_ = 0;
    std::uint32_t selr_ = 0;
    std::uint32_t userenr_ = 0;
    std::uint64_t mdcr_;
    std::array<counter, 32> counters_{};
    std::array<std::uint64_t, places> asked_; // by slot of the event: the requested target
    bool line_ = false;
};

} // namespace bulkhead::machine::devices
