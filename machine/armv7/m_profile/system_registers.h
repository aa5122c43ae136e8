// SPDX-License-Identifier: Apache-2.0
// The private peripheral bus of an Armv7-M core (Arm DDI 0403E.e B3.2 to B3.4, C1.8; Cortex-M7 TRM, DDI 0489,
// for implementation-defined parts): NVIC, SysTick, system control block, MPU, cache maintenance, cycle
// counter, all as registers by address. State that belongs nowhere else is in `system_state`; effects of an
// access on other parts are reported through `effects`.
#pragma once

#include <cstdint>
#include <functional>

#include "machine/armv7/m_profile/exceptions.h"
#include "machine/armv7/m_profile/mpu.h"
#include "machine/cache_geometry.h"
#include "machine/devices/down_counter.h"

namespace bulkhead::machine::armv7::m_profile {

// Fault status and settings of the core.
struct system_state {
    priority_masks masks;
    std::uint32_t ipsr = exception::none; // number of the executing exception
    std::uint32_t vtor = 0;
    std::uint32_t scr = 0;
    std::uint32_t ccr = 0;
    std::uint32_t cfsr = 0;
    std::uint32_t hfsr = 0;
    std::uint32_t mmfar = 0;
    std::uint32_t bfar = 0;
    std::uint32_t cpacr = 0;
};

// SCB bits that the profile uses.
namespace ccr_bit {
inline constexpr std::uint32_t nonbasethrdena = 1U << 0U;
inline constexpr std::uint32_t usersetmpend = 1U << 1U;
inline constexpr std::uint32_t unalign_trp = 1U << 3U;
inline constexpr std::uint32_t bfhfnmign = 1U << 8U;
inline constexpr std::uint32_t stkalign = 1U << 9U; // always set on a Cortex-M7
inline constexpr std::uint32_t data_cache = 1U << 16U;
inline constexpr std::uint32_t instruction_cache = 1U << 17U;
} // namespace ccr_bit

namespace scr_bit {
inline constexpr std::uint32_t sleeponexit = 1U << 1U;
inline constexpr std::uint32_t sevonpend = 1U << 4U;
} // namespace scr_bit

// Cache maintenance operations, with the names of their registers.
enum class maintenance : std::uint8_t {
    invalidate_code,      // ICIALLU
    invalidate_code_line, // ICIMVAU
    invalidate_line,      // DCIMVAC
    invalidate_way,       // DCISW
    clean_line,           // DCCMVAU, DCCMVAC
    clean_way,            // DCCSW
    flush_line,           // DCCIMVAC
    flush_way,            // DCCISW
};

class system_registers {
public:
    struct shape {
        std::uint32_t cpuid = 0;
        const cache_geometry *data_cache = nullptr; // null: no such cache
        const cache_geometry *instruction_cache = nullptr;
    };
    struct effects {
        std::function<void()> interrupts;                       // the set of interrupts that can be taken may
                                                                // have changed
        std::function<void()> code;                             // caching or permission of code has changed
        std::function<void()> reset;                            // SYSRESETREQ
        std::function<void(maintenance, std::uint32_t)> caches; // cache operation, with the register's value
        std::function<std::uint64_t()> cycles;                  // returns the cycles of the core's clock
    };

    system_registers(const shape &has, system_state &state, exceptions &events, mpu &protection,
                     devices::down_counter &systick, effects said);

    // Reads a whole word at an address of the private peripheral bus. Reads can have effects (SysTick's count
    // flag). Absent registers read as zero and ignore writes.
    [[nodiscard]] std::uint32_t read(std::uint32_t address, picoseconds now);
    // `lanes`: bit mask of the bytes that are written; all other bytes of `value` are zero.
    void write(std::uint32_t address, std::uint32_t value, std::uint32_t lanes, picoseconds now);

    // Called when SysTick has counted to 0.
    void systick_zero();
    [[nodiscard]] bool systick_interrupts() const { return tick_interrupts_; }

    // Software Trigger Interrupt Register: unprivileged code may write it if CCR.USERSETMPEND is set.
    static constexpr std::uint32_t stir = 0xE000EF00;

private:
    [[nodiscard]] std::uint32_t read_scb(std::uint32_t offset);
    void write_scb(std::uint32_t offset, std::uint32_t value, std::uint32_t lanes);
    [[nodiscard]] std::uint32_t read_nvic(std::uint32_t offset) const;
    void write_nvic(std::uint32_t offset, std::uint32_t value, std::uint32_t lanes);
    [[nodiscard]] std::uint32_t read_systick(std::uint32_t offset, picoseconds now);
    void write_systick(std::uint32_t offset, std::uint32_t value, picoseconds now);
    [[nodiscard]] std::uint32_t icsr() const;
    void write_icsr(std::uint32_t value);
    [[nodiscard]] std::uint32_t shcsr() const;
    void write_shcsr(std::uint32_t value, std::uint32_t lanes);
    void write_aircr(std::uint32_t value);
    void write_ccr(std::uint32_t value, std::uint32_t lanes);
    [[nodiscard]] std::uint32_t priorities(std::uint32_t first) const;
    void write_priorities(std::uint32_t first, std::uint32_t value, std::uint32_t lanes);
    [[nodiscard]] std::uint32_t ccsidr() const;
    [[nodiscard]] std::uint32_t cycle_count() const;

    shape has_;
    system_state &state_;
    exceptions &events_;
    mpu &mpu_;
    devices::down_counter &systick_;
    effects said_;
    bool tick_interrupts_ = false;
    bool tick_flag_ = false;
    std::uint32_t csselr_ = 0;
    // DWT: the cycle counter counts while DEMCR.TRCENA and DWT_CTRL.CYCCNTENA are set.
    bool trace_on_ = false;
    bool counts_cycles_ = false;
    std::uint64_t cycles_from_ = 0; // cycle count at which CYCCNT would be 0, while it counts
    std::uint32_t cycles_held_ = 0;
    void count_cycles(bool trace_on, bool counts);
};

} // namespace bulkhead::machine::armv7::m_profile
