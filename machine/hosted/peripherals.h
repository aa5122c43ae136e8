// SPDX-License-Identifier: Apache-2.0
// A board's devices, according to its settings: interrupt controller, timers, UART, memory controller, DMA.
// Made by the system; hosted software accesses them by physical address, and through the system registers of
// the interrupt controller and the timers. The caller decides what happens on an access where there is no
// device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/devices/generic_timer.h"
#include "machine/devices/gic_v2.h"
#include "machine/devices/gic_v3.h"
#include "machine/devices/mmdc_profile.h"
#include "machine/devices/qos_regulator.h"
#include "machine/devices/uart.h"
#include "machine/devices/zdma.h"
#include "machine/machine.h"
#include "machine/program/ram.h"

namespace bulkhead::machine::hosted {

enum class gic_kind : std::uint8_t { v2, v3 };
enum class uart_kind : std::uint8_t { pl011, cadence };

// A DMA engine: channels like those of the ZynqMP, at consecutive addresses.
struct dma_settings {
    std::uint64_t at = 0;
    std::uint64_t channel_bytes = 0;       // distance of the registers of two channels
    std::vector<std::uint32_t> interrupts; // of each channel
    std::string master;                    // name of its port
    devices::zdma_channel::settings timing{};
};

// The registers of a master's QoS-400 regulator.
struct qos_place {
    std::uint64_t at = 0;
    std::string master;
};

// Addresses and connections of devices, from the platform file.
struct board_settings {
    gic_kind gic = gic_kind::v3;
    std::uint64_t gicd_pa = 0;
    std::uint64_t gicr_pa = 0; // v3
    std::uint64_t gicc_pa = 0; // v2, and the two below
    std::uint64_t gich_pa = 0;
    std::uint64_t gicv_pa = 0;
    uart_kind uart = uart_kind::pl011;
    std::uint64_t uart_pa = 0;
    std::uint32_t uart_irq = 33;
    std::uint32_t maintenance_irq = 25;
    std::uint32_t hypervisor_timer_irq = 26;
    std::uint32_t virtual_timer_irq = 27;
    std::uint32_t physical_timer_irq = 30;
    std::uint64_t timer_hz = 62'500'000;
    std::uint32_t event_counters = 0;         // in each core's performance monitors; 0: no performance
                                              // monitors
    std::vector<std::uint32_t> overflow_irqs; // of each core; 0: not connected
    std::vector<std::uint64_t> mpidrs;
    bool s2fwb = false;                // the cores have FEAT_S2FWB
    std::uint64_t dram_profile_pa = 0; // registers of the memory controller's profiling counters; 0: none
    std::vector<dma_settings> dma;
    std::vector<qos_place> qos;
    // Hardware costs at entry to and exit from EL2, in addition to the memory accesses of the software there.
    picoseconds entry{};   // taking an exception
    picoseconds exit{};    // returning from one
    picoseconds barrier{}; // DSB, ISB
    // An invalidation that a core broadcasts: how long each other core stalls, and how long the core itself
    // waits for the others.
    picoseconds broadcast_stall{};
    picoseconds broadcast_wait{};
};

class peripherals {
public:
    struct surroundings {
        simulated_machine &machine;
        ram &memory;
        std::function<void(core_id)> interrupts_changed; // interrupts signalled to a core may have changed
        std::function<void(std::uint8_t)> sent;          // a byte was sent by the UART
    };
    // Every `master` of the board's settings must be one of the machine's.
    peripherals(const board_settings &board, surroundings around);

    [[nodiscard]] devices::gic &gic() { return *gic_; }
    [[nodiscard]] devices::gic_v3 *gic_v3() { return v3_; } // null: the board has a GICv2
    [[nodiscard]] devices::generic_timer &timer() { return *timer_; }
    [[nodiscard]] devices::uart &uart() { return *uart_; }

    // Accesses a device's register; nothing, or false: there is no device at the address.
    [[nodiscard]] std::optional<std::uint64_t> read(core_id from, std::uint64_t pa, unsigned bytes);
    bool write(core_id from, std::uint64_t pa, unsigned bytes, std::uint64_t value);

private:
    struct frame {
        std::uint64_t first;
        std::uint64_t bytes;
        std::function<std::uint64_t(core_id from, std::uint64_t offset, unsigned bytes)> read;
        std::function<void(core_id from, std::uint64_t offset, unsigned bytes, std::uint64_t value)> write;
    };

    void make_gic_v2(const board_settings &board, surroundings &around);
    void make_gic_v3(const board_settings &board, surroundings &around);
    void make_uart(const board_settings &board, surroundings &around);
    void make_dram_profile(const board_settings &board, simulated_machine &machine);
    void make_dma(const dma_settings &wanted, const surroundings &around);
    void make_qos(const qos_place &wanted, simulated_machine &machine);
    void make_mpam(mpam::component &component, simulated_machine &machine);
    [[nodiscard]] const frame *frame_at(std::uint64_t pa) const;

    std::unique_ptr<devices::gic> gic_;
    devices::gic_v3 *v3_ = nullptr;
    std::unique_ptr<devices::generic_timer> timer_;
    std::unique_ptr<devices::uart> uart_;
    std::unique_ptr<devices::mmdc_profile> dram_profile_;
    std::vector<std::unique_ptr<devices::zdma_channel>> dma_channels_;
    std::vector<std::unique_ptr<devices::qos_regulator>> regulators_;
    std::vector<frame> frames_;
};

} // namespace bulkhead::machine::hosted
