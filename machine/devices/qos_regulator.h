// SPDX-License-Identifier: Apache-2.0
// The registers of a QoS-400 regulator: one page of the interconnect's programmer's view for each master.
// Changed rates apply from the next request on. Modelled: average rate, burst and peak of reads and of
// writes, and their enable bits. The other registers (outstanding transactions, latency, QoS values) store
// written values and have no effect. CoreLink QoS-400 TRM (DSU 0026), register summary; addresses of
// ZynqMP's: UG1087.
#pragma once

#include <array>
#include <cstdint>

#include "machine/memory_system.h"
#include "machine/qos.h"

namespace bulkhead::machine::devices {

// Offsets in a master's page.
namespace qos_register {
inline constexpr std::uint64_t first = 0x100; // read_qos
inline constexpr std::uint64_t control = 0x10C;
inline constexpr std::uint64_t write_peak = 0x118;  // [31:24] transactions in 256 clocks
inline constexpr std::uint64_t write_burst = 0x11C; // [15:0] transactions
inline constexpr std::uint64_t write_rate = 0x120;  // [31:20] transactions in 4096 clocks
inline constexpr std::uint64_t read_peak = 0x124;
inline constexpr std::uint64_t read_burst = 0x128;
inline constexpr std::uint64_t read_rate = 0x12C;
inline constexpr std::uint64_t end = 0x13C; // after qos_range
inline constexpr std::uint32_t enable_write_rate = 1U << 0U;
inline constexpr std::uint32_t enable_read_rate = 1U << 1U;
} // namespace qos_register

class qos_regulator {
public:
    static constexpr std::uint64_t bytes = 0x1000;

    // For one master of the memory system. `wanted`: its clock, the bytes of a transaction, and the initial
    // values.
    qos_regulator(memory_system &memory, std::size_t master, const qos_settings &wanted);

    [[nodiscard]] std::uint32_t read(std::uint64_t offset) const;
    void write(std::uint64_t offset, std::uint32_t value);

private:
    [[nodiscard]] std::uint32_t &at(std::uint64_t offset);
    [[nodiscard]] regulator_settings wanted_of(std::uint64_t peak, std::uint32_t enable) const;
    void set();

    memory_system &memory_;
    std::size_t master_;
    qos_settings settings_;
    std::array<std::uint32_t, (qos_register::end - qos_register::first) / 4> registers_{};
};

} // namespace bulkhead::machine::devices
