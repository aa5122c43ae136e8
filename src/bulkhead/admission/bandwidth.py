# SPDX-License-Identifier: Apache-2.0
"""Whether all budgets and devices together are within the memory's guaranteed bandwidth (B10, D5).

`check`, `plan` and `run` refuse a system that exceeds it, unless `regulation.overcommit` allows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from bulkhead.config.platform import Platform
from bulkhead.config.problem import Finding
from bulkhead.config.system import System
from bulkhead.planning.demands import Admission, admission_of

MB = 10**6


def not_admitted(system: System, platform: Platform) -> Iterator[Finding]:
    """A notice if budgets could not be checked, because the platform states no guaranteed bandwidth."""
    found = admission_of(system, platform)
    if found.guaranteed is None and found.budgets and found.bounded:
        cause = (
            f"{_counted(found)} of {found.bounded / MB:.0f} MB/s in total are not compared with the "
            f"bandwidth of memory, because platform '{platform.name}' has no `dram.guaranteed`"
        )
        yield Finding(("domains",), "not-checked", cause)


def check_admission(system: System, platform: Platform) -> Iterator[Finding]:
    found = admission_of(system, platform)
    if not found.exceeded or found.overcommit:
        return
    assert found.guaranteed is not None
    parts = [f"{one.domain} {one.bytes_per_s / MB:.0f}" for one in found.demands if one.bytes_per_s]
    parts += [f"{one.device} {one.charged / MB:.0f}" for one in found.devices if one.charged]
    cause = (
        f"{_counted(found)} of {found.bounded / MB:.0f} MB/s ({', '.join(parts)}) are more than the "
        f"{found.guaranteed / MB:.0f} MB/s that '{platform.name}' sustains in its worst case "
        f"(`dram.guaranteed`; {found.source})"
    )
    yield Finding(("domains",), "overcommit", cause, "lower budgets, or `regulation: { overcommit: true }`")


def _counted(found: Admission) -> str:
    return "budgets and devices" if any(one.charged for one in found.devices) else "budgets"
