# SPDX-License-Identifier: Apache-2.0
"""Lines of the module's file `samples`, as numbers; for the tests of this directory."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNLIMITED = None


@dataclass(frozen=True)
class Sample:
    """One interval of one CPU."""

    cpu: int
    interval: int
    time_ns: int
    periods: int
    events: int
    limit: int | None
    throttled_ns: int
    global_events: int
    load_permille: int
    carried: int


def samples(lines: list[str]) -> list[Sample]:
    """All lines that are samples; there is at least one."""
    found = []
    for line in lines:
        if re.match(r"[01] \d", line):
            words = line.split()
            limit = UNLIMITED if words[5] == "unlimited" else int(words[5])
            cpu, interval, time_ns, periods, events = map(int, words[:5])
            throttled_ns, global_events, load_permille, carried = map(int, words[6:])
            found.append(
                Sample(
                    cpu,
                    interval,
                    time_ns,
                    periods,
                    events,
                    limit,
                    throttled_ns,
                    global_events,
                    load_permille,
                    carried,
                )
            )
    assert found, lines[:5]
    return found


def busy(lines: list[str]) -> list[Sample]:
    """Intervals in which CPU 0 wanted more than its budget, in user mode.

    A program's start and end are kernel paths that are not interrupted: the overshoot of these intervals is
    the length of the path. They are the first and the last.
    """
    found = [sample for sample in samples(lines) if sample.throttled_ns > 0]
    assert len(found) > 100, f"{len(found)} of {len(lines)} intervals were throttled"
    return found[len(found) // 10 : -len(found) // 5]
