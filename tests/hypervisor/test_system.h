// SPDX-License-Identifier: Apache-2.0
//
// A small machine for tests of the hypervisor's devices: cores, domains and a GIC that are all fakes, driven
// only through the real entry points. One instance at a time; one host thread acts as all cores.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include "arch/hosted/fake_gic.h"
#include "arch/hosted/fake_registers.h"
#include "console/console.h"
#include "console/vuart.h"
#include "vgic/vgic.h"
#include "vm/clock.h"
#include "vm/cpu.h"
#include "vm/domain.h"
#include "vm/vcpu.h"
#include <arch/vgic_frames.h>
#include <bulkhead_layout.h>
}

namespace bulkhead_test {

constexpr uint64_t kGicd = 0x0800'0000;
constexpr uint64_t kUart = 0x0900'0000;
constexpr uint32_t kVirtualTimer = 27;
constexpr uint32_t kPhysicalUartIntid = 33;

// The linked file selects the interrupt controller under test: guest_gicv2.cpp or guest_gicv3.cpp. It
// contains this function, and guests' accesses to registers that differ between the versions.
void make_gic(struct manifest_platform &platform, uint32_t cores, uint32_t list_registers);
// The core that takes a physical SPI.
uint32_t routed_core(uint32_t intid);

struct DomainSpec {
    std::string name;
    std::vector<uint32_t> cores;
    uint32_t flags = BH_DOMAIN_FLAG_CONSOLE;
    std::vector<uint32_t> spis{}; // passed through, to VCPU 0
};

class TestSystem {
public:
    explicit TestSystem(std::initializer_list<DomainSpec> domains, uint32_t list_registers = 4);
    ~TestSystem();
    TestSystem(const TestSystem &) = delete;
    TestSystem &operator=(const TestSystem &) = delete;

    struct domain &domain(uint32_t index);
    // The core of a VCPU executes from now on.
    struct vcpu &run(uint32_t domain_index, uint32_t vcpu_index = 0);
    void run_core(uint32_t core);

    // Handles this core's interrupts until there are none; false if that does not end.
    [[nodiscard]] bool take_interrupts();
    // The same for all cores, in turn, and for the console core's alarms, one after the other. The executing
    // core stays the same.
    [[nodiscard]] bool settle();
    // Advances time to the console core's alarm, which fires.
    void run_alarm();

    // Advances time to the executing core's check of an interrupt that came too early (vgic_early.c).
    void look_again();
    [[nodiscard]] bool looks_again() const;

    // Time since the start.
    void set_time_us(uint64_t time_us);
    // The counter, in nanoseconds; it advances by this number at each read.
    [[nodiscard]] uint64_t counter() const;
    void set_counter_step(uint64_t ns);
    [[nodiscard]] bool has_alarm() const;

    // The UART: its output, its input, its transmit FIFO.
    std::string &uart_output();
    void type(std::string_view text);
    void set_uart_full(bool full);
    // Characters that the transmit FIFO accepts before it is full; negative: no limit.
    void set_uart_room(int characters);

    struct State;

private:
    std::vector<DomainSpec> specs_;
};

// Accesses by the guest of the VCPU that executes now.
class Guest {
public:
    Guest(TestSystem &system, uint32_t domain_index, uint32_t vcpu_index = 0)
        : system_(system), domain_(domain_index), vcpu_(vcpu_index)
    {
    }

    uint64_t read_dist(uint64_t offset, uint32_t bytes = 4) const;
    void write_dist(uint64_t offset, uint64_t value, uint32_t bytes = 4) const;
    // GICv3 only.
    uint64_t read_redist(uint64_t offset, uint32_t bytes = 4) const;
    void write_redist(uint64_t offset, uint64_t value, uint32_t bytes = 4) const;
    uint32_t read_uart(uint64_t offset) const;
    void write_uart(uint64_t offset, uint32_t value) const;
    void print(std::string_view text) const;

    // The steps of a driver at its start: wakes a redistributor, enables both groups.
    void open() const;
    void route_spi(uint32_t intid, uint32_t vcpu) const;
    void enable_spi(uint32_t intid) const;
    void disable_spi(uint32_t intid) const;
    // The VCPU's own.
    void enable_private(uint32_t intid) const;
    void disable_private(uint32_t intid) const;
    uint32_t private_pending() const;
    uint32_t private_enabled() const;
    void set_priority(uint32_t intid, uint8_t priority) const;
    void send_sgi(uint32_t sgi, uint32_t targets) const;
    void send_sgi_to_others(uint32_t sgi) const;

    // Acknowledges an interrupt; 1023: none.
    uint32_t acknowledge() const;
    void end(uint32_t intid) const;
    // The two halves of an end of interrupt, for a guest that splits it (EOImode = 1).
    void drop_priority() const;
    void deactivate(uint32_t intid) const;
    // Takes and ends all interrupts; returns them in the order of delivery. Handles maintenance interrupts in
    // between.
    std::vector<uint32_t> take_all() const;

private:
    struct vcpu &here() const { return system_.run(domain_, vcpu_); }

    TestSystem &system_;
    uint32_t domain_;
    uint32_t vcpu_;
};

} // namespace bulkhead_test
