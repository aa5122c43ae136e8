# SPDX-License-Identifier: Apache-2.0
"""Whether an attack affected a real-time domain: its measurements before and during the attack, side by side.

The data come from the report of a domain that measures two windows (`periodic` with `before_us`). Jitter is
only shown: on a busy host most of it comes from the host. Exits of its core are counted, so they must not
differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from bulkhead.results.run import InterferenceResult, MeasuredWindowResult, SummaryResult

WINDOWS = ("before", "after")
# Exits that the domain causes itself: its output, and its queries of these counts.
OWN_EXITS = frozenset({"uart_access", "hvc"})
_EDGE_EVENTS = 2  # a window may cut off an event at each end


def interference(domain: str, report: object, reasons: Sequence[str]) -> InterferenceResult | None:
    """The comparison, or None if the report has none. `reasons`: names of exit reasons in the order of their
    numbers."""
    windows = [_window(report, name, len(reasons)) for name in WINDOWS]
    before, after = windows
    if before is None or after is None:
        return None
    rates = {
        name: {"before": before.exits[i] / before.releases, "after": after.exits[i] / after.releases}
        for i, name in enumerate(reasons)
        if before.exits[i] or after.exits[i]
    }
    edge = _EDGE_EVENTS / min(before.releases, after.releases)
    differing = [
        name
        for name, rate in rates.items()
        if name not in OWN_EXITS and abs(rate["after"] - rate["before"]) > edge
    ]
    return {
        "domain": domain,
        "before": before.shown,
        "after": after.shown,
        "exits_per_release": rates,
        "own_exits": sorted(OWN_EXITS),
        "differing": differing,
        "held": not differing,
    }


def interference_reasons(found: InterferenceResult) -> list[str]:
    """Why the domain was affected; empty if it was not."""
    rates, differing = found["exits_per_release"], found["differing"]
    return [
        f"domain {found['domain']}: its core entered the hypervisor for `{name}` "
        f"{rates[name]['before']:.3f} times per "
        f"release before and {rates[name]['after']:.3f} times during the attack"
        for name in differing
    ]


class _Window:
    def __init__(self, releases: int, exits: list[int], shown: MeasuredWindowResult) -> None:
        self.releases = releases
        self.exits = exits
        self.shown = shown


def _window(report: object, name: str, count: int) -> _Window | None:
    """One window of a guest's report; None if it is not valid."""
    found = report.get(name) if isinstance(report, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    releases, exits = found.get("exits_of_releases"), found.get("exits")
    if not _is_count(releases) or not releases or not isinstance(exits, list) or len(exits) != count:
        return None
    if not all(_is_count(value) for value in exits):
        return None
    jitter, work = _summary(found.get("jitter_ns")), _summary(found.get("work_ns"))
    if jitter is None or work is None:
        return None
    shown: MeasuredWindowResult = {
        "releases": found.get("releases"),
        "jitter_ns": jitter,
        "work_ns": work,
    }
    return _Window(int(str(releases)), [int(value) for value in exits], shown)


def _summary(found: object) -> SummaryResult | None:
    if not isinstance(found, Mapping):
        return None
    least, mean, most = found.get("min"), found.get("mean"), found.get("max")
    if not (_is_count(least) and _is_count(mean) and _is_count(most)):
        return None
    return {"min": least, "mean": mean, "max": most}


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
