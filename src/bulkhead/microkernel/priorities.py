# SPDX-License-Identifier: Apache-2.0
"""Priorities of components whose file states none: a shorter period is more urgent (rate-monotonic).

A component that others call runs in its callers' time; by itself it runs only until it waits for the first
call. Its priority is just above that of the most urgent of its callers, so that it already waits when that
one calls. Components without a period have the lowest priority, all the same: they take turns.
"""

from __future__ import annotations

from bulkhead.config.components import Component, ComponentSystem

HIGHEST, LOWEST = 1, 255  # 0: no component is more urgent than those that request it


def priorities_of(system: ComponentSystem) -> dict[str, int]:
    """Priorities by component; 0 is the most urgent."""
    ranks = {one.name: _rank(system, one) for one in system.components}
    order = sorted(set(ranks.values()))
    found = {}
    for one in system.components:
        rank = ranks[one.name]
        own = LOWEST if rank[0] is _NEVER else HIGHEST + order.index(rank)
        found[one.name] = own if one.priority is None else one.priority
    return found


_NEVER = float("inf")


def _rank(system: ComponentSystem, one: Component) -> tuple[float, float]:
    """Period of the most urgent chain of calls that leads to it; among these, callees first."""
    callers = [other for other in system.components if one.name in other.channels]
    if not callers:
        return (float(one.period), 0.0) if one.period is not None else (_NEVER, 0.0)
    urgent = min(_rank(system, caller) for caller in callers)
    return (urgent[0], urgent[1] - 1.0)
