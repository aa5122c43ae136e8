// SPDX-License-Identifier: Apache-2.0
// The common part of both versions of the interrupt controller: states and priorities of interrupts, the
// physical CPU interfaces, and the virtual ones. gic_v2.h and gic_v3.h add the registers. It knows neither
// time nor engine: the code that executes a core asks whether an interrupt is signalled to it, and is told
// when that may have changed. One security state; interrupts are signalled as IRQ only; all priority bits are
// used for preemption.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "machine/devices/gic_virtual_interface.h"
#include "machine/types.h"

namespace bulkhead::machine::devices {

// State of 32 interrupts, except their priorities.
struct gic_word {
    std::uint32_t enabled = 0;
    std::uint32_t latched = 0; // pending because of an edge or a write
    std::uint32_t line = 0;    // levels of the inputs
    std::uint32_t active = 0;
    std::uint32_t edge = 0; // configuration: 1: edge-triggered, 0: level-sensitive
    std::uint32_t group = 0;

    [[nodiscard]] std::uint32_t pending() const { return latched | (line & ~edge); }
};

class gic {
public:
    static constexpr std::uint32_t spurious = gic_spurious;

    gic(const gic &) = delete;
    gic &operator=(const gic &) = delete;
    virtual ~gic() = default;

    // `seen`: whether a core already sees the interrupt signalled to it (irq_output.h); before that, none is
    // acknowledged. Without this function, a core sees it at once.
    void set_seen(std::function<bool(core_id)> seen) { seen_ = std::move(seen); }

    // The CPU interface of a core: ICC_IAR1 or GICC_IAR and so on.
    std::uint32_t acknowledge(core_id core);
    void end(core_id core, std::uint32_t intid);
    void deactivate(core_id core, std::uint32_t intid);
    [[nodiscard]] std::uint64_t priority_mask(core_id core) const { return at(core).priority_mask; }
    void set_priority_mask(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t active_priorities(core_id core) const { return at(core).active_priorities; }
    void set_active_priorities(core_id core, std::uint64_t value);

    // Sets the level of an input. Private interrupts (16 to 31) are those of the core.
    void set_line(core_id core, std::uint32_t intid, bool high);

    // Whether the core would take a physical interrupt now, if it were not masked.
    [[nodiscard]] bool signalled(core_id core) const { return highest(core) != spurious; }

    [[nodiscard]] gic_virtual_interface &virtual_interface(core_id core) { return cores_[core.value].guest; }
    // Must be called after any change of a virtual interface: updates the maintenance interrupt.
    void virtual_changed(core_id core);

protected:
    static constexpr std::uint32_t first_shared = 32;
    static constexpr std::uint32_t sgis = 16;
    // Offsets that are the same in the distributors of both versions.
    static constexpr std::uint64_t banks = 0x80;
    static constexpr std::uint64_t priorities = 0x400;
    static constexpr std::uint64_t targets = 0x800;
    static constexpr std::uint64_t configuration = 0xC00;
    static constexpr std::uint64_t configuration_end = 0xD00;

    struct shape {
        std::size_t cores;
        std::uint32_t interrupts;
        std::uint32_t maintenance;
        std::uint32_t list_registers; // of each core, up to 16
        bool one_for_both;            // for both groups of virtual interrupts: gic_virtual_interface.h
    };
    struct interface {
        explicit interface(const gic_virtual_interface &fresh) : guest(fresh) {}

        gic_word privates;
        std::array<std::uint8_t, 32> priorities{};
        std::uint32_t priority_mask = 0;
        std::uint32_t active_priorities = 0; // bit n: priority n << 3 is active
        std::uint32_t groups = 0;            // bit n: Group n is signalled
        bool split_end = false;              // EOImode: end() drops the priority only
        bool asleep = false;
        gic_virtual_interface guest;
    };

    // `changed` is called with a core whose signalled interrupts may have changed.
    gic(const shape &chosen, std::function<void(core_id)> changed);

    [[nodiscard]] std::uint32_t highest(core_id core) const; // the INTID that is signalled, or spurious
    [[nodiscard]] std::uint32_t running_priority(core_id core) const;
    [[nodiscard]] bool is_group1(core_id core, std::uint32_t intid) const;
    [[nodiscard]] interface &at(core_id core) { return cores_[core.value]; }
    [[nodiscard]] const interface &at(core_id core) const { return cores_[core.value]; }
    [[nodiscard]] std::size_t core_count() const { return cores_.size(); }
    [[nodiscard]] std::uint32_t interrupts() const { return shape_.interrupts; }
    [[nodiscard]] std::uint32_t enabled_groups() const { return groups_; }
    void enable_groups(std::uint32_t groups) { groups_ = groups; }
    // Bit n: core n is a target of the shared interrupt.
    [[nodiscard]] std::uint32_t targets_of(std::uint32_t intid) const { return targets_[intid]; }
    void set_targets(std::uint32_t intid, std::uint32_t cores) { targets_[intid] = cores; }

    // Distributor registers by offset: the bits of 32 interrupts each, and priorities and triggers. Private
    // interrupts are those of the core. Absent registers read as zero and ignore writes.
    std::uint64_t read_banks(core_id core, std::uint64_t offset, unsigned bytes) const;
    void write_banks(core_id core, std::uint64_t offset, unsigned bytes, std::uint64_t value);
    // Number of the 32 interrupts that an offset belongs to.
    static std::uint64_t word_at(std::uint64_t offset);

    void changed(core_id core) { changed_(core); }
    void changed_everywhere();

private:
    [[nodiscard]] gic_word &word_of(core_id core, std::uint32_t intid);
    [[nodiscard]] const gic_word &word_of(core_id core, std::uint32_t intid) const;
    [[nodiscard]] std::uint8_t priority_of(core_id core, std::uint32_t intid) const;
    void changed_for(core_id core, std::uint32_t intid);

    shape shape_;
    std::function<void(core_id)> changed_;
    std::function<bool(core_id)> seen_;
    std::vector<interface> cores_;
    std::uint32_t groups_ = 0;     // GICD_CTLR: bit n: Group n is enabled
    std::vector<gic_word> shared_; // word n: INTIDs 32 n and up; word 0 unused
    std::vector<std::uint8_t> priorities_;
    std::vector<std::uint32_t> targets_;
};

} // namespace bulkhead::machine::devices
