# SPDX-License-Identifier: Apache-2.0
"""Fits the free parameters of a platform to its measured facts, and reports the errors.

`bulkhead calibrate` uses it. A platform's free parameters are listed here with their plausible ranges; all
values are tried, and the best has the smallest sum of squared relative errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from bulkhead.config.platform import Platform
from bulkhead.config.timing import Fact
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.facts import Measurement, measurement
from bulkhead.machine.job import Job

Run = Callable[[Sequence[Job]], list[PointAnswer]]  # jobs, which run side by side, to results


@dataclass(frozen=True)
class Free:
    """A parameter that calibration sets: its key in the platform file, and its paths in the machine's
    settings."""

    key: str
    settings: tuple[str, ...]
    low: int
    high: int
    step: int = 1  # between values that are tried
    shown: str = "{}"
    per_unit: int = 1  # units of the settings in a unit of the file
    base: str | None = None  # setting of the data sheet to which the value is added

    def steps(self) -> int:
        return (self.high - self.low) // self.step


_BURSTS = ("dram.timings.ccd_s", "dram.timings.ccd_l")  # for a DRAM without bank groups, where both are equal

FREE: dict[str, tuple[Free, ...]] = {
    "s32v234": (Free("dram.controller.spacing", _BURSTS, 0, 6, base="dram.timings.ccd_s"),),
    "zcu102": (Free("dram.controller.guard", ("dram.timings.rp",), 0, 32, 2, base="dram.timings.rp"),),
    "zynq7020": (Free("cores.pipeline.load_use", ("cores.load_use_cycles",), 0, 12),),
    "stm32f767": (Free("cores.pipeline.load_use", ("cores.load_use_cycles",), 0, 12),),
}


@dataclass(frozen=True)
class CheckedFact:
    """A fact with the machine's value."""

    fact: Fact
    measured: float | None  # None: the machine does not model it

    @property
    def error(self) -> float:
        """Relative error; for a range, relative to its nearer end."""
        if self.measured is None:
            return 0.0
        fact = self.fact
        low, high = fact.low or fact.target, fact.high or fact.target
        assert low is not None
        assert high is not None
        nearest = min(max(self.measured, float(low)), float(high))
        return (self.measured - nearest) / nearest


def check(
    platform: Platform, run: Run, values: dict[Free, int] | None = None, *, all_facts: bool = True
) -> list[CheckedFact]:
    """Each fact of the platform with the machine's value, for these values of the free parameters.
    `all_facts` False: only facts that parameters are fitted to."""
    facts = [fact for fact in platform.calibration if all_facts or fact.fits]
    known = {fact.fact: measurement(platform, fact.fact) for fact in facts}
    wanted: dict[Any, Measurement] = {one.job: one for one in known.values() if one is not None}
    changed = settings_for(platform, values or {})
    results = dict(zip(wanted, run([{**job(platform), "set": changed} for job in wanted]), strict=True))
    found = []
    for fact in facts:
        one = known[fact.fact]
        found.append(CheckedFact(fact, None if one is None else one.value(results[one.job])))
    return found


def settings_for(platform: Platform, values: dict[Free, int]) -> dict[str, int]:
    """Settings of a job for these values of free parameters."""
    changed: dict[str, int] = {}
    for free, value in values.items():
        for path in free.settings:
            changed[path] = value * free.per_unit + (_base(platform, free) if free.base else 0)
    return changed


def fit(platform: Platform, run: Run) -> dict[Free, int]:
    """The best values of the platform's free parameters; empty if it has none."""
    free = FREE.get(platform.name, ())
    if not free:
        return {}

    def cost(steps: tuple[int, ...]) -> float:
        found = check(platform, run, _values(free, steps), all_facts=False)
        return sum(one.error**2 for one in found)

    # Of equally good values the first is taken: it adds the least to the data sheet.
    best = min(product(*(range(one.steps() + 1) for one in free)), key=cost)
    return _values(free, best)


def write(path: Path, values: dict[Free, int], checked: Sequence[CheckedFact]) -> None:
    """Writes fitted values and the machine's values into the platform's file; all other text stays."""
    text = path.read_text(encoding="utf-8").split("\n")
    tree = YAML(typ="rt").load("\n".join(text))
    edits: list[tuple[int, int, str, str]] = []  # line, column, old, new
    for free, value in values.items():
        *way, key = free.key.split(".")
        where = tree
        for part in way:
            where = where[part]
        line, column = where.lc.value(key)
        edits.append((line, column, str(where[key]), free.shown.format(value)))
    for number, one in enumerate(checked):
        fact = tree["calibration"][number]
        if one.measured is not None and "measured" in fact:
            line, column = fact.lc.value("measured")
            edits.append((line, column, str(fact["measured"]), f"{one.measured:.4g}"))
    for line, column, old, new in sorted(edits, reverse=True):
        assert text[line][column:].startswith(old), f"{path}:{line + 1}: '{old}' is not there"
        text[line] = text[line][:column] + new + text[line][column + len(old) :]
    path.write_text("\n".join(text), encoding="utf-8")


def _values(free: Sequence[Free], steps: Sequence[int]) -> dict[Free, int]:
    return {one: one.low + one.step * step for one, step in zip(free, steps, strict=True)}


def _base(platform: Platform, free: Free) -> int:
    """The data sheet's value of the setting to which a parameter is added."""
    from bulkhead.machine.settings import settings_of

    assert platform.dram is not None
    assert free.base is not None
    value: Any = settings_of(platform)
    for part in free.base.split("."):
        value = value[part]
    beyond: int = getattr(platform.dram.controller, free.key.rpartition(".")[2])
    return int(value) - beyond
