# SPDX-License-Identifier: Apache-2.0
"""How much more memory each owner could have: the largest region that the planner could still place.

`check` and `plan` use this after planning. Owners with common colors share the remaining memory, memory is
allocated in whole maps, and the pool grows with the tables that map more memory. A size therefore counts only
if the whole system still fits with it. Colors stay as they were planned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bulkhead.config.locate import limits
from bulkhead.config.platform import Platform
from bulkhead.config.quantity import GIB
from bulkhead.config.regions import guest_windows, root_window
from bulkhead.config.system import Domain, Region, System
from bulkhead.geometry import PAGE_BYTES
from bulkhead.planning.allocate import AllocatedMemory
from bulkhead.planning.colors import HYPERVISOR
from bulkhead.planning.model import Plan, Usage
from bulkhead.planning.pool import pool_bytes, pool_need

Colors = Mapping[int, frozenset[int] | None]  # of each domain by index, and of HYPERVISOR


@dataclass(frozen=True)
class Placed:
    """What was planned: memory before and after allocation, the pool, and the colors of each owner."""

    system: System
    platform: Platform
    untouched: AllocatedMemory
    rest: AllocatedMemory
    pool_bytes: int
    colors: Colors

    @property
    def colored(self) -> bool:
        return self.untouched.space.bits != 0


def usage_of(plan: Plan) -> tuple[Usage, ...]:
    """Memory usage of all owners, and of colors without an owner."""
    placed = plan.placed
    assert placed is not None, "made by the planner"

    def row(name: str, owner: int, used: int) -> Usage:
        colors = placed.colors[owner]
        return Usage(name, colors, placed.untouched.capacity_of(colors), used, left_of(placed, owner))

    rows = [row("hypervisor", HYPERVISOR, plan.pool.bytes)]
    if plan.tables is not None and plan.tables.colored is not None:
        colors = plan.tables.colored.colors
        capacity = placed.untouched.capacity_of(colors)
        rows.append(Usage("stage-2 tables", colors, capacity, plan.tables.colored.bytes, 0))
    rows += [row(domain.name, domain.index, domain.bytes) for domain in plan.domains]
    if placed.colored:
        taken = frozenset[int]().union(*(colors or () for colors in placed.colors.values()))
        rest = frozenset(range(plan.space.count)) - taken
        if rest:
            capacity = placed.untouched.capacity_of(rest)
            rows.append(Usage("nobody", rest, capacity, 0, placed.rest.largest_free(rest)))
    return tuple(rows)


def left_of(placed: Placed, owner: int) -> int:
    """Bytes that the owner could have in addition, in whole granules."""
    most = placed.rest.largest_free(placed.colors[owner])
    if most == 0 or _fits(placed, owner, most):
        return most
    unit = max(placed.untouched.space.granule, PAGE_BYTES)
    low, high = 0, most // unit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(placed, owner, middle * unit) else (low, middle)
    return low * unit


def _fits(placed: Placed, owner: int, more: int) -> bool:
    """Whether the whole system fits if this owner has `more` bytes in an additional region, or in the
    pool."""
    system = placed.system if owner == HYPERVISOR else _with_region(placed, owner, more)
    pool = placed.pool_bytes + more if owner == HYPERVISOR else placed.pool_bytes
    if system.hypervisor.memory is None:
        pool = max(pool, pool_bytes(system, placed.platform, colored=placed.colored))
    elif owner != HYPERVISOR:
        need = sum(pool_need(system, placed.platform, colored=placed.colored).values())
        if need > pool:
            return False
    if pool == placed.pool_bytes and _is_apart(placed, owner):
        return True  # no other owner has these colors, so all free memory of them is available
    return _all_fit(placed, system.domains, pool)


def _is_apart(placed: Placed, owner: int) -> bool:
    own = placed.colors[owner]
    others = [colors for other, colors in placed.colors.items() if other != owner]
    return owner != HYPERVISOR and own is not None and all(other and not own & other for other in others)


def _all_fit(placed: Placed, domains: Sequence[Domain], pool: int) -> bool:
    """Whether everything can be allocated, in the planner's order."""
    memory = placed.untouched.copy()
    segments = 0
    if memory.take(pool, placed.colors[HYPERVISOR], unbroken=True) is None:
        return False
    for index, domain in enumerate(domains):
        for region in sorted(domain.memory, key=lambda region: region.at):
            taken = memory.take(region.size, placed.colors[index], region.at)
            if taken is None:
                return False
            segments += len(taken.pieces)
    return segments <= limits()["max_segments"]


def _with_region(placed: Placed, owner: int, more: int) -> System:
    """The system with an additional region of the domain, above all its others."""
    domain = placed.system.domains[owner]
    ends = [region.end for region in domain.memory]
    ends += [window.end for window in guest_windows(placed.platform)]
    root = root_window(placed.platform)
    ends += [] if root is None else [root.end]
    at = -(-max(ends) // GIB) * GIB
    changed = domain.model_copy(update={"memory": (*domain.memory, Region(at=at, size=more))})
    domains = tuple(changed if one is domain else one for one in placed.system.domains)
    return placed.system.model_copy(update={"domains": domains})
