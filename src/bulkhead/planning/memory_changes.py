# SPDX-License-Identifier: Apache-2.0
"""Changes with which the memory can serve a system's budgets and its broker (F3), each sufficient alone.

planning/flows.py uses this if they do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bulkhead.config.platform import Platform
from bulkhead.config.system import Broker, System
from bulkhead.planning.broker import engine_kind
from bulkhead.planning.memory_budget import BrokerLoad, MemoryUse, below_workable, memory_use

KEYS = {"budget": "B/s", "events": "events of a period"}


@dataclass(frozen=True)
class AskedMemory:
    """A system that does not fit, and the rate that its broker would get."""

    system: System
    platform: Platform
    broker: Broker
    rate: int
    others: tuple[BrokerLoad, ...] = ()  # further brokers

    def use(self, system: System) -> MemoryUse | None:
        kind = engine_kind(system, self.platform)
        return memory_use(system, self.platform, self.rate, kind, self.broker.chunk, self.others)


def smaller_budgets(asked: AskedMemory) -> Iterator[str]:
    """For each domain, the largest budget with which everything fits."""
    for number, domain in enumerate(asked.system.domains):
        for key, unit in KEYS.items():
            now = getattr(domain.bandwidth, key)
            if now is None:
                continue

            def changed(value: int, number: int = number, key: str = key) -> System:
                domains = list(asked.system.domains)
                bandwidth = domains[number].bandwidth.model_copy(update={key: value})
                domains[number] = domains[number].model_copy(update={"bandwidth": bandwidth})
                return asked.system.model_copy(update={"domains": tuple(domains)})

            def fits(value: int, changed: Callable[[int], System] = changed) -> bool:
                use = asked.use(changed(value))
                return use is not None and use.fits

            value = largest_below(now, fits)
            workable = value and all(
                one.domain != number for one in below_workable(changed(value), asked.platform)
            )
            if workable:
                yield f"{key} of {domain.name}: {value} {unit}"


def largest_below(high: int, fits: Callable[[int], bool]) -> int:
    """The largest value below `high` with `fits(value)`, if all smaller values fit, too; 0: there is none."""
    if high <= 1 or not fits(1):
        return 0
    low = 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
