// SPDX-License-Identifier: Apache-2.0
// A GICv3 as software sees it: distributor, redistributors, the physical CPU interface and the virtual one,
// from IHI 0069; one security state, no LPIs. Knows neither time nor engine: whoever executes a core asks it
// whether an interrupt is signalled, and is told when that may have changed. Never looks at who its caller
// is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "machine/types.h"

namespace bulkhead::machine::devices {

// What a set of 32 interrupts has besides its priorities.
struct gic_word {
    std::uint32_t enabled = 0;
    std::uint32_t latched = 0; // pending by an edge or by a write
    std::uint32_t line = 0;    // level of the input
    std::uint32_t active = 0;
    std::uint32_t edge = 0; // configuration: 1 edge, 0 level
    std::uint32_t group = 0;

    [[nodiscard]] std::uint32_t pending() const { return latched | (line & ~edge); }
};

// The virtual CPU interface of one core: what ICH_* and the guest's ICC_* registers are made of.
class gic_virtual_interface {
public:
    static constexpr std::uint32_t most_list_registers = 16;

    explicit gic_virtual_interface(std::uint32_t list_registers) : count_(list_registers) {}
    [[nodiscard]] std::uint32_t list_registers() const { return count_; }

    std::array<std::uint64_t, most_list_registers> lr{}; // those beyond the count are never valid
    std::uint64_t hcr = 0;
    std::uint64_t vmcr = 0;
    std::uint32_t active_priorities = 0; // ICH_AP1R0: bit n: priority n << 3 is active

    [[nodiscard]] std::uint64_t empty() const;       // ICH_ELRSR
    [[nodiscard]] std::uint64_t ended() const;       // ICH_EISR
    [[nodiscard]] std::uint64_t maintenance() const; // ICH_MISR
    // As IRQ: an interrupt of Group 1; as FIQ: of Group 0.
    [[nodiscard]] bool signalled() const { return best(true) < count_; }
    [[nodiscard]] bool fast_signalled() const { return best(false) < count_; }

    // What the guest does, with Group 1. What end and deactivate return: the physical interrupt that goes
    // with it, or spurious.
    std::uint32_t acknowledge();
    std::uint32_t end(std::uint32_t intid);
    std::uint32_t deactivate(std::uint32_t intid);
    [[nodiscard]] std::uint32_t running_priority() const;

private:
    [[nodiscard]] std::uint32_t best(bool of_group1) const; // list register, or their count

    std::uint32_t count_;
};

class gic_v3 {
public:
    static constexpr std::uint32_t spurious = 1023;
    static constexpr std::uint64_t redistributor_bytes = 0x20000;

    struct settings {
        std::vector<std::uint32_t> affinities; // of each core: Aff3.Aff2.Aff1.Aff0
        std::uint32_t interrupts = 288;        // INTIDs, a multiple of 32
        std::uint32_t maintenance = 25;
        std::uint32_t list_registers = 4; // of each core, up to 16
    };
    // `changed` is called with a core whose signalled interrupts may have changed.
    gic_v3(settings chosen, std::function<void(core_id)> changed);

    // Registers by offset; of the redistributors, from the first one's start. `from` makes no difference but
    // in what the architecture banks, which is nothing here.
    std::uint64_t read_distributor(std::uint64_t offset, unsigned bytes);
    void write_distributor(std::uint64_t offset, unsigned bytes, std::uint64_t value);
    std::uint64_t read_redistributor(std::uint64_t offset, unsigned bytes);
    void write_redistributor(std::uint64_t offset, unsigned bytes, std::uint64_t value);

    // The CPU interface: ICC_IAR1, ICC_EOIR1, ICC_DIR, ICC_SGI1R and the state of PMR, CTLR, IGRPEN1, AP1R0.
    std::uint32_t acknowledge(core_id core);
    void end(core_id core, std::uint32_t intid);
    void deactivate(core_id core, std::uint32_t intid);
    void send_sgi(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t priority_mask(core_id core) const { return cores_[core.value].priority_mask; }
    void set_priority_mask(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t control(core_id core) const;
    void set_control(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t group_enable(core_id core) const
    {
        return cores_[core.value].enabled ? 1 : 0;
    }
    void set_group_enable(core_id core, std::uint64_t value);
    [[nodiscard]] std::uint64_t active_priorities(core_id core) const
    {
        return cores_[core.value].active_priorities;
    }
    void set_active_priorities(core_id core, std::uint64_t value);

    // Inputs. Private ones (16 to 31) are the core's.
    void set_line(core_id core, std::uint32_t intid, bool high);

    // Whether the core would take a physical interrupt now, if it were not masked.
    [[nodiscard]] bool signalled(core_id core) const { return best(core) != spurious; }

    [[nodiscard]] gic_virtual_interface &virtual_interface(core_id core) { return cores_[core.value].guest; }
    // After any change of a virtual interface: the maintenance interrupt follows it.
    void virtual_changed(core_id core);

private:
    struct cpu {
        explicit cpu(std::uint32_t list_registers) : guest(list_registers) {}
        gic_word privates;
        std::array<std::uint8_t, 32> priorities{};
        std::uint64_t priority_mask = 0;
        bool split_end = false; // EOImode: end drops the priority only
        bool enabled = false;   // Group 1
        bool asleep = true;
        std::uint32_t active_priorities = 0; // ICC_AP1R0, as in the virtual interface
        gic_virtual_interface guest;
    };

    [[nodiscard]] std::uint32_t best(core_id core) const;
    [[nodiscard]] gic_word &word_of(core_id core, std::uint32_t intid);
    [[nodiscard]] const gic_word &word_of(core_id core, std::uint32_t intid) const;
    [[nodiscard]] std::uint8_t priority_of(core_id core, std::uint32_t intid) const;
    [[nodiscard]] bool routed_to(core_id core, std::uint32_t intid) const;
    static std::uint64_t read_bits(const gic_word &word, const std::uint8_t *priorities, std::uint64_t offset,
                                   unsigned bytes);
    static bool write_bits(gic_word &word, std::uint8_t *priorities, std::uint64_t offset, unsigned bytes,
                           std::uint64_t value);
    void changed_everywhere();

    settings settings_;
    std::function<void(core_id)> changed_;
    std::vector<cpu> cores_;
    std::uint32_t control_ = 0;    // GICD_CTLR
    std::vector<gic_word> shared_; // word n: INTIDs 32 n and up; word 0 unused
    std::vector<std::uint8_t> priorities_;
    std::vector<std::uint64_t> routes_;
};

} // namespace bulkhead::machine::devices
