// SPDX-License-Identifier: Apache-2.0
// The part of machine/hosted/system.h that makes cores with their private parts.
#include "machine/hosted/cpu.h"
#include "machine/hosted/system.h"
#include "machine/program/text.h"

namespace bulkhead::machine::hosted {

std::optional<refusal> system::make_cpus()
{
    for (std::uint32_t n = 0; n < machine_->core_count(); ++n) {
        core &timing = machine_->core_at(core_id{n});
        std::optional<mmu> translation;
        if (timing.settings().mmu.l1.entries != 0) {
            auto made = mmu::make(timing.settings().mmu, timing,
                                  [this](phys_addr where) { return descriptor_at(*memory_, where); });
            if (auto *bad = std::get_if<refusal>(&made)) {
                return refusal{"mmu: " + bad->reason};
            }
            translation = std::get<mmu>(std::move(made));
        }
        cpus_.push_back(std::make_unique<cpu>(*this, timing, board_.mpidrs[n], std::move(translation),
                                              partitions_.empty() ? nullptr : partitions_[n].get()));
    }
    return std::nullopt;
}

void system::make_core_registers()
{
    std::vector<devices::pmu *> registers;
    for (std::uint32_t n = 0; board_.event_counters != 0 && n < machine_->core_count(); ++n) {
        const core_id which{n};
        const std::uint32_t irq = board_.overflow_irqs[n];
        monitors_.push_back(std::make_unique<monitors>(machine_->timeline(), machine_->core_at(which),
                                                       board_.event_counters, [this, which, irq](bool high) {
                                                           if (irq != 0) {
                                                               gic().set_line(which, irq, high);
                                                           }
                                                       }));
        registers.push_back(&monitors_.back()->registers());
    }
    std::vector<partition_registers *> partitions;
    for (std::uint32_t n = 0; machine_->mpam() != nullptr && n < machine_->core_count(); ++n) {
        partitions_.push_back(std::make_unique<partition_registers>(machine_->core_at(core_id{n}),
                                                                    machine_->mpam()->made_from()));
        partitions.push_back(partitions_.back().get());
    }
    device_registers_ = std::make_unique<sysregs>(peripherals_->gic_v3(), timer(), std::move(registers),
                                                  std::move(partitions));
}

} // namespace bulkhead::machine::hosted
