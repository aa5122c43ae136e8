// SPDX-License-Identifier: Apache-2.0
// Bits of CFSR and HFSR (Arm DDI 0403E.e B3.2.15, B3.2.16).
#pragma once

#include <cstdint>

namespace bulkhead::machine::armv7::m_profile::cfsr {

inline constexpr std::uint32_t iaccviol = 1U << 0U;
inline constexpr std::uint32_t daccviol = 1U << 1U;
inline constexpr std::uint32_t munstkerr = 1U << 3U;
inline constexpr std::uint32_t mstkerr = 1U << 4U;
inline constexpr std::uint32_t mmarvalid = 1U << 7U;
inline constexpr std::uint32_t ibuserr = 1U << 8U;
inline constexpr std::uint32_t preciserr = 1U << 9U;
inline constexpr std::uint32_t impreciserr = 1U << 10U;
inline constexpr std::uint32_t unstkerr = 1U << 11U;
inline constexpr std::uint32_t stkerr = 1U << 12U;
inline constexpr std::uint32_t bfarvalid = 1U << 15U;
inline constexpr std::uint32_t undefinstr = 1U << 16U;
inline constexpr std::uint32_t invstate = 1U << 17U;
inline constexpr std::uint32_t invpc = 1U << 18U;
inline constexpr std::uint32_t nocp = 1U << 19U;
inline constexpr std::uint32_t unaligned = 1U << 24U;

} // namespace bulkhead::machine::armv7::m_profile::cfsr

namespace bulkhead::machine::armv7::m_profile::hfsr {

inline constexpr std::uint32_t vecttbl = 1U << 1U;
inline constexpr std::uint32_t forced = 1U << 30U;
inline constexpr std::uint32_t debugevt = 1U << 31U;

} // namespace bulkhead::machine::armv7::m_profile::hfsr
