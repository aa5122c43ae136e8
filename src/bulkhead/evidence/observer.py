# SPDX-License-Identifier: Apache-2.0
"""First witness (C5): counts of the emulator's plugin, by the owner of each physical frame.

Reads the file that `observe/` writes when the emulator exits; used by the results and the report. Owner 0 is
nobody (the load area), 1 the hypervisor, 2 + i domain i.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bulkhead.results.run import LlcResult
from bulkhead.results.witness import CacheWitnessResult

HYPERVISOR, FIRST_DOMAIN = 1, 2


@dataclass(frozen=True)
class EvictionWindow:
    """A window of the run with its own counts, by owner."""

    end_ms: float  # time since the start signal, by the host's clock
    accesses: int
    misses: list[int]
    evicted_by_others: list[int]


@dataclass(frozen=True)
class ObserverResult:
    """Counts in the last-level cache after the start signal. Lists are indexed by owner."""

    owners: list[str]
    accesses: list[int]
    misses: list[int]
    evictions: list[list[int]]  # [victim][evictor], in lines
    windows: list[EvictionWindow]
    caches: dict[str, Any]
    unattributed: dict[str, int]  # accesses without owner, or with unknown address
    started: bool  # the start signal was seen
    verified: bool  # addresses of instructions are right, by a check of stores
    hand: int | None = None  # owner that uses the hypervisor's colors: the broker

    def domain_json(self, index: int) -> LlcResult:
        """`llc` of a domain in the run's JSON."""
        return self._llc(FIRST_DOMAIN + index)

    def hypervisor_json(self) -> LlcResult:
        return self._llc(HYPERVISOR)

    def witness_json(self, colored: bool) -> CacheWitnessResult:
        """Verdict of this witness, and the matrix of evictions."""
        evicted = sum(self.evicted_by_others(owner) for owner in range(FIRST_DOMAIN, len(self.owners)))
        return {
            "verdict": "held" if evicted == 0 else "broken" if colored else "nothing promised",
            "evicted_by_others": evicted,
            "owners": self.owners,
            "evictions": self.evictions,
            "caches": self.caches,
            "unattributed": self.unattributed,
        }

    def evicted_by_others(self, owner: int) -> int:
        """Lines of `owner` that other owners evicted. Evictions by nobody's frames count, too: these frames
        are not in use any more. The broker shares the hypervisor's colors, so evictions of its lines by the
        hypervisor do not count."""
        own = {owner, HYPERVISOR} if owner == self.hand else {owner}
        return sum(n for evictor, n in enumerate(self.evictions[owner]) if evictor not in own)

    def _llc(self, owner: int) -> LlcResult:
        return {
            "accesses": self.accesses[owner],
            "misses": self.misses[owner],
            "evicted_by_others": self.evicted_by_others(owner),
            "evicted_by_hypervisor": 0 if owner == HYPERVISOR else self.evictions[owner][HYPERVISOR],
        }


def read_observer(path: Path, owners: list[str]) -> ObserverResult | str:
    """The plugin's result. A string says why there is none."""
    try:
        raw = json.loads(path.read_text())
    except FileNotFoundError:
        return "it wrote no result, because the emulator did not end normally"
    except (OSError, ValueError) as error:
        return f"its result cannot be read: {error}"
    try:
        result = _parse(raw, owners)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return f"its result does not have the expected form: {type(error).__name__} {error}"
    if not result.started:
        return "it did not get the start signal, so it counted nothing"
    if not result.verified:
        return "its check of addresses failed, so it does not know where instructions are"
    return result


def _parse(raw: Any, owners: list[str]) -> ObserverResult:
    rows = [raw["owners"][name] for name in owners]
    return ObserverResult(
        owners=owners,
        accesses=[int(row["accesses"]) for row in rows],
        misses=[int(row["misses"]) for row in rows],
        evictions=[[int(row["evicted_by"][evictor]) for evictor in owners] for row in rows],
        windows=[_window(window, owners) for window in raw["windows"]],
        caches=dict(raw["caches"]),
        unattributed=dict(raw["unattributed"]),
        started=bool(raw["started"]),
        verified=bool(raw["fetch_addresses"]["verified"]),
    )


def _window(raw: Any, owners: list[str]) -> EvictionWindow:
    rows = [raw["owners"][name] for name in owners]
    return EvictionWindow(
        end_ms=float(raw["end_ms"]),
        accesses=int(raw["accesses"]),
        misses=[int(row["misses"]) for row in rows],
        evicted_by_others=[int(row["evicted_by_others"]) for row in rows],
    )
