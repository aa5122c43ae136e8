// SPDX-License-Identifier: Apache-2.0
// Priorities of exceptions; see the header.
#include "machine/armv7/m_profile/exceptions.h"

#include <algorithm>

namespace bulkhead::machine::armv7::m_profile {

void exceptions::set_level(std::uint32_t number, bool high)
{
    level_[number] = high;
    if (high && !active_[number]) {
        pending_[number] = true;
    }
}

int exceptions::priority(std::uint32_t number) const
{
    switch (number) {
    case exception::reset:
        return -3;
    case exception::nmi:
        return -2;
    case exception::hard_fault:
        return -1;
    default:
        return priority_[number];
    }
}

int exceptions::execution_priority(const priority_masks &masks) const
{
    int urgent = lowest_priority;
    for (std::uint32_t number = exception::nmi; active_.any() && number < count_; ++number) {
        if (active_[number]) {
            urgent = std::min(urgent, group_priority(priority(number)));
        }
    }
    if (masks.basepri != 0) {
        urgent = std::min(urgent, group_priority(masks.basepri));
    }
    if (masks.primask) {
        urgent = std::min(urgent, 0);
    }
    if (masks.faultmask) {
        urgent = std::min(urgent, -1);
    }
    return urgent;
}

std::optional<std::uint32_t> exceptions::most_urgent() const
{
    std::optional<std::uint32_t> found;
    for (std::uint32_t number = exception::nmi; pending_.any() && number < count_; ++number) {
        if (pending_[number] && is_enabled(number) && (!found || priority(number) < priority(*found))) {
            found = number;
        }
    }
    return found;
}

std::optional<std::uint32_t> exceptions::preempting(int than) const
{
    const auto found = most_urgent();
    return found && group_priority(priority(*found)) < than ? found : std::nullopt;
}

bool exceptions::can_wake(int than, bool systick_counts) const
{
    if (preempting(than)) {
        return true;
    }
    const auto preempts = [&](std::uint32_t number) { return group_priority(priority(number)) < than; };
    for (std::uint32_t number = exception::first_interrupt; number < count_; ++number) {
        if (enabled_[number] && preempts(number)) {
            return true;
        }
    }
    return systick_counts && preempts(exception::systick);
}

} // namespace bulkhead::machine::armv7::m_profile
