// SPDX-License-Identifier: Apache-2.0
// The devices of a board: which ones, how they are connected, at which addresses.
#include "machine/hosted/peripherals.h"

#include <algorithm>
#include <array>

#include "machine/devices/cadence_uart.h"
#include "machine/devices/pl011.h"

namespace bulkhead::machine::hosted {
namespace {

constexpr std::uint64_t uart_bytes = 0x1000;
constexpr std::uint64_t dma_channel_bytes = 0x1000;

std::size_t master_of(const settings &made_from, const std::string &name)
{
    const auto port = std::ranges::find(made_from.masters, name, &master_settings::name);
    return static_cast<std::size_t>(port - made_from.masters.begin());
}

} // namespace

peripherals::peripherals(const board_settings &board, surroundings around)
{
    if (board.gic == gic_kind::v2) {
        make_gic_v2(board, around);
    } else {
        make_gic_v3(board, around);
    }
    const std::array<std::uint32_t, devices::timer_kinds> lines = {
        board.physical_timer_irq, board.virtual_timer_irq, board.hypervisor_timer_irq};
    timer_ = std::make_unique<devices::generic_timer>(
        around.machine.timeline(), board.timer_hz, around.machine.core_count(),
        [this, lines](core_id which, devices::timer_kind kind, bool high) {
            gic_->set_line(which, lines[static_cast<std::size_t>(kind)], high);
        });
    make_uart(board, around);
    if (board.dram_profile_pa != 0) {
        make_dram_profile(board, around.machine);
    }
    for (const dma_settings &one : board.dma) {
        make_dma(one, around);
    }
    for (const qos_place &one : board.qos) {
        make_qos(one, around.machine);
    }
    for (std::size_t i = 0; around.machine.mpam() != nullptr && i < around.machine.mpam()->count(); ++i) {
        make_mpam(around.machine.mpam()->at(i), around.machine);
    }
}

void peripherals::make_gic_v2(const board_settings &board, surroundings &around)
{
    auto made = std::make_unique<devices::gic_v2>(
        devices::gic_v2::settings{.cores = around.machine.core_count(), .maintenance = board.maintenance_irq},
        std::move(around.interrupts_changed));
    devices::gic_v2 &gic = *made;
    gic_ = std::move(made);
    frames_.push_back({board.gicd_pa, devices::gic_v2::distributor_bytes,
                       [&gic](core_id from, std::uint64_t offset, unsigned bytes) {
                           return gic.read_distributor(from, offset, bytes);
                       },
                       [&gic](core_id from, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
                           gic.write_distributor(from, offset, bytes, value);
                       }});
    frames_.push_back(
        {board.gicc_pa, devices::gic_v2::interface_bytes,
         [&gic](core_id from, std::uint64_t offset, unsigned) { return gic.read_interface(from, offset); },
         [&gic](core_id from, std::uint64_t offset, unsigned, std::uint64_t value) {
             gic.write_interface(from, offset, value);
         }});
    frames_.push_back(
        {board.gich_pa, devices::gic_v2::hypervisor_bytes,
         [&gic](core_id from, std::uint64_t offset, unsigned) { return gic.read_hypervisor(from, offset); },
         [&gic](core_id from, std::uint64_t offset, unsigned, std::uint64_t value) {
             gic.write_hypervisor(from, offset, value);
         }});
    frames_.push_back(
        {board.gicv_pa, devices::gic_v2::interface_bytes,
         [&gic](core_id from, std::uint64_t offset, unsigned) { return gic.read_virtual(from, offset); },
         [&gic](core_id from, std::uint64_t offset, unsigned, std::uint64_t value) {
             gic.write_virtual(from, offset, value);
         }});
}

void peripherals::make_gic_v3(const board_settings &board, surroundings &around)
{
    devices::gic_v3::settings wanted{.affinities = {}, .maintenance = board.maintenance_irq};
    for (const std::uint64_t mpidr : board.mpidrs) {
        wanted.affinities.push_back(
            static_cast<std::uint32_t>((mpidr & 0xFFFFFF) | (mpidr >> 32 & 0xFF) << 24));
    }
    auto made = std::make_unique<devices::gic_v3>(wanted, std::move(around.interrupts_changed));
    v3_ = made.get();
    devices::gic_v3 &gic = *made;
    gic_ = std::move(made);
    frames_.push_back({board.gicd_pa, devices::gic_v3::distributor_bytes,
                       [&gic](core_id, std::uint64_t offset, unsigned bytes) {
                           return gic.read_distributor(offset, bytes);
                       },
                       [&gic](core_id, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
                           gic.write_distributor(offset, bytes, value);
                       }});
    frames_.push_back({board.gicr_pa, devices::gic_v3::redistributor_bytes * around.machine.core_count(),
                       [&gic](core_id, std::uint64_t offset, unsigned bytes) {
                           return gic.read_redistributor(offset, bytes);
                       },
                       [&gic](core_id, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
                           gic.write_redistributor(offset, bytes, value);
                       }});
}

void peripherals::make_uart(const board_settings &board, surroundings &around)
{
    const auto interrupt = [this, irq = board.uart_irq](bool high) { gic_->set_line(core_id{0}, irq, high); };
    if (board.uart == uart_kind::cadence) {
        uart_ = std::make_unique<devices::cadence_uart>(std::move(around.sent), interrupt);
    } else {
        uart_ = std::make_unique<devices::pl011>(std::move(around.sent), interrupt);
    }
    frames_.push_back({board.uart_pa, uart_bytes,
                       [this](core_id, std::uint64_t offset, unsigned) { return uart_->read(offset); },
                       [this](core_id, std::uint64_t offset, unsigned, std::uint64_t value) {
                           uart_->write(offset, value);
                       }});
}

void peripherals::make_dram_profile(const board_settings &board, simulated_machine &machine)
{
    dram_profile_ = std::make_unique<devices::mmdc_profile>(
        [&memory = machine.memory()](picoseconds now) { return memory.profile(now); },
        machine.memory().line_bytes());
    frames_.push_back({board.dram_profile_pa, devices::mmdc_profile::bytes,
                       [this, &machine](core_id from, std::uint64_t offset, unsigned) {
                           return std::uint64_t{dram_profile_->read(offset, machine.core_at(from).clock())};
                       },
                       [this, &machine](core_id from, std::uint64_t offset, unsigned, std::uint64_t value) {
                           dram_profile_->write(offset, static_cast<std::uint32_t>(value),
                                                machine.core_at(from).clock());
                       }});
}

// It is a master of physical memory: stage 2 does not apply to it.
void peripherals::make_dma(const dma_settings &wanted, const surroundings &around)
{
    // No path to on-chip memory is modelled.
    const auto bytes_of = [&memory = around.memory,
                           &dram = around.machine.ram()](phys_addr first, byte_count bytes, access_kind) {
        return dram.is_dram(first) ? memory.bytes(first, bytes) : std::span<std::byte>{};
    };
    for (std::size_t n = 0; n < wanted.interrupts.size(); ++n) {
        dma_channels_.push_back(std::make_unique<devices::zdma_channel>(
            wanted.timing, devices::zdma_channel::surroundings{
                               .timeline = around.machine.timeline(),
                               .memory = around.machine.memory(),
                               .way = {{}, master_of(around.machine.made_from(), wanted.master)},
                               .owner = {},
                               .bytes = bytes_of,
                               .line = [this, irq = wanted.interrupts[n]](
                                           bool high) { gic_->set_line(core_id{0}, irq, high); },
                           }));
        devices::zdma_channel &channel = *dma_channels_.back();
        frames_.push_back({wanted.at + n * wanted.channel_bytes, dma_channel_bytes,
                           [&channel](core_id, std::uint64_t offset, unsigned) {
                               return std::uint64_t{channel.read(static_cast<std::uint32_t>(offset))};
                           },
                           [&channel](core_id, std::uint64_t offset, unsigned, std::uint64_t value) {
                               channel.write(static_cast<std::uint32_t>(offset),
                                             static_cast<std::uint32_t>(value));
                           }});
    }
}

void peripherals::make_qos(const qos_place &wanted, simulated_machine &machine)
{
    const std::size_t master = master_of(machine.made_from(), wanted.master);
    regulators_.push_back(std::make_unique<devices::qos_regulator>(machine.memory(), master,
                                                                   machine.made_from().masters[master].qos));
    devices::qos_regulator &own = *regulators_.back();
    frames_.push_back({wanted.at, devices::qos_regulator::bytes,
                       [&own](core_id, std::uint64_t offset, unsigned) { return own.read(offset); },
                       [&own](core_id, std::uint64_t offset, unsigned, std::uint64_t value) {
                           own.write(offset, static_cast<std::uint32_t>(value));
                       }});
}

// Its interrupt lines can change while memory decides: an event at the same time forwards the change.
void peripherals::make_mpam(mpam::component &component, simulated_machine &machine)
{
    const auto line_to = [this, &machine](std::uint32_t irq) {
        return [this, &machine, irq](bool high) {
            if (irq != 0) {
                engine &timeline = machine.timeline();
                timeline.at(timeline.now(), [this, irq, high] { gic_->set_line(core_id{0}, irq, high); });
            }
        };
    };
    const mpam::component_settings &own = component.made_from();
    component.connect(line_to(own.error_interrupt), line_to(own.overflow_interrupt));
    frames_.push_back(
        {own.at, mpam::component::page_bytes,
         [&component, &machine](core_id from, std::uint64_t offset, unsigned bytes) {
             return component.read(offset, bytes, machine.core_at(from).clock());
         },
         [&component, &machine](core_id from, std::uint64_t offset, unsigned bytes, std::uint64_t value) {
             component.write(offset, bytes, value, machine.core_at(from).clock());
         }});
}

const peripherals::frame *peripherals::frame_at(std::uint64_t pa) const
{
    const auto found =
        std::ranges::find_if(frames_, [pa](const frame &one) { return pa - one.first < one.bytes; });
    return found != frames_.end() ? &*found : nullptr;
}

std::optional<std::uint64_t> peripherals::read(core_id from, std::uint64_t pa, unsigned bytes)
{
    const frame *const found = frame_at(pa);
    return found != nullptr ? std::optional(found->read(from, pa - found->first, bytes)) : std::nullopt;
}

bool peripherals::write(core_id from, std::uint64_t pa, unsigned bytes, std::uint64_t value)
{
    const frame *const found = frame_at(pa);
    if (found != nullptr) {
        found->write(from, pa - found->first, bytes, value);
    }
    return found != nullptr;
}

} // namespace bulkhead::machine::hosted
