# SPDX-License-Identifier: Apache-2.0
"""Which facts of a platform are independent, and which pairs are the same fact twice.

Two facts whose ratio stays constant, whatever parameter of the machine is changed, are one: a machine that
meets one also meets the other, so the second confirms nothing. `calibrate --check --perturb` shows this, and
a test compares it with the marks of the platform files (`follows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from bulkhead.config.load import load_platform
from bulkhead.config.platform import Platform
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.assumed import assumed
from bulkhead.machine.calibrate import FREE, settings_for
from bulkhead.machine.facts import measurement
from bulkhead.machine.job import Job

Run = Callable[[Sequence[Job]], list[PointAnswer]]

SAME = 0.05  # of the facts' change: most that their ratio may change; for queued writes at a window's end
MOVED = 1e-2  # least relative change of a fact that is evaluated


@dataclass(frozen=True)
class Perturbed:
    """Values of facts with the machine as in its file, and with each parameter changed."""

    settings: tuple[str, ...]  # the changes; the first is none
    values: dict[str, tuple[float, ...]]  # by fact

    def same(self) -> list[tuple[str, str]]:
        """Pairs of facts that are the same."""
        return same_facts(self.values)


def same_facts(values: Mapping[str, Sequence[float]]) -> list[tuple[str, str]]:
    """Pairs that change, and always by the same factor."""
    return [
        (one, other)
        for one, other in combinations(values, 2)
        if (moved := _spread(values[one])) > MOVED
        and _spread([a / b for a, b in zip(values[one], values[other], strict=True)]) < SAME * moved
    ]


def perturb(path: Path, platform: Platform, run: Run, share: Fraction, only: Sequence[str] = ()) -> Perturbed:
    """Measures the facts that parameters are fitted to, with each assumed and each fitted parameter changed.
    `path`: the platform's file; `only`: keys of assumed parameters to change."""
    facts = [fact.fact for fact in platform.calibration if not fact.compared]
    known = {name: how for name in facts if (how := measurement(platform, name)) is not None}
    jobs = {how.job: how.job(platform) for how in known.values()}
    changes: list[tuple[str, Job]] = [("", {})]
    for one in assumed(platform, share):
        if (not only or one.key in only) and _possible(path, one.high.setting):
            changes.append((one.high.setting, {"platform_set": [one.high.setting]}))
    for free in FREE.get(platform.name, ()):
        for value in (free.low, free.high):
            changes.append((f"{free.key}={value}", {"set": settings_for(platform, {free: value})}))
    results = iter(run([{**job, **change} for _, change in changes for job in jobs.values()]))
    found = [{job: next(results) for job in jobs} for _ in changes]
    return Perturbed(
        tuple(setting for setting, _ in changes),
        {name: tuple(how.value(one[how.job]) for one in found) for name, how in known.items()},
    )


def _possible(path: Path, setting: str) -> bool:
    return load_platform(path, overrides=(setting,))[0] is not None


def _spread(values: Sequence[float]) -> float:
    """Difference of the largest and the smallest value, divided by the first."""
    return (max(values) - min(values)) / abs(values[0])
