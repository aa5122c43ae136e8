# SPDX-License-Identifier: Apache-2.0
"""Budgets of domains under the hosted hypervisor (B1): the event counter stops a guest, the timer lets it
continue, whatever the others do, and a restart does not refill the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import HostedRun, run_hosted
from bulkhead.package.build import Build
from bulkhead.run.status import BudgetStatus, SystemStatus, read_status

from .systems import MS, built_from, domain

pytestmark = pytest.mark.usefixtures("hosted_built")

FOR_MS = 20
# EL2's own fetches between the overflow and the counter's stop.
SLACK = 16
PAGE_LINES = 2 * 64  # a page that is loaded again is copied as a whole


def hog(name: str, cpus: list[int], events: int, **bandwidth: Any) -> dict[str, Any]:
    """A program that always misses all caches."""
    keys = {"events": events, "period": "1 ms", "counts": "refills", **bandwidth}
    return domain(name, "hog", cpus, bandwidth=keys, params={"buffer_kib": 2048})


def run(build: Build) -> tuple[HostedRun, dict[int, BudgetStatus], SystemStatus]:
    """The run, and the counts of each core with a budget."""
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    return done, {core.core: core.budget for core in status.cores if core.budget is not None}, status


def test_each_core_keeps_to_its_own_budget_in_every_period(tmp_path: Path) -> None:
    """There are four cores at once, and two runs of the machine are equal."""
    budgets = {0: 100, 1: 1000, 2: 5000, 3: 250}
    hogs = [hog(f"hog{core}", [core], events) for core, events in budgets.items()]
    build = built_from(tmp_path, *hogs, for_ns=FOR_MS * MS)
    done, seen, _ = run(build)
    assert seen.keys() == budgets.keys()
    for core, events in budgets.items():
        one = seen[core]
        assert FOR_MS - 1 <= one.periods <= FOR_MS
        assert one.throttled_periods >= one.periods - 1, "a period may end before its first miss"
        assert events * (one.periods - 1) <= one.events, "all that it may have"
        assert one.max_per_period <= events + SLACK + PAGE_LINES
        assert one.overshoot_max == max(0, one.max_per_period - events)
        assert 0 < one.throttled_ns < FOR_MS * MS
    assert run(build)[0].digest == done.digest


def test_twice_the_budget_is_twice_the_traffic(tmp_path: Path) -> None:
    moved = []
    for events in (1000, 2000):
        build = built_from(tmp_path / str(events), hog("hog", [1], events), for_ns=FOR_MS * MS)
        moved.append(run(build)[1][1].events)
    assert moved[1] == pytest.approx(2 * moved[0], rel=0.01)


def test_vcpus_share_the_budget_of_their_domain_or_have_one_each(tmp_path: Path) -> None:
    events, vcpus = 4000, [1, 2]
    for per, most in (("domain", events), ("vcpu", events * len(vcpus))):
        build = built_from(tmp_path / per, hog("hog", vcpus, events, per=per), for_ns=FOR_MS * MS)
        _, seen, _ = run(build)
        assert seen.keys() == set(vcpus)
        periods = max(one.periods for one in seen.values())
        total = sum(one.events for one in seen.values())
        assert total <= periods * (most + len(vcpus) * SLACK)
        assert total >= 0.8 * periods * most, "a chunk of each VCPU may be lost in a period"
        assert all(one.throttled_periods > 0 for one in seen.values())


def test_a_restart_is_no_refill(tmp_path: Path) -> None:
    """A manager stops and restarts the domain many times in each of its periods, throttled or not."""
    events = 12_000
    params = {"victim": 1, "rounds": 60, "gap_us": 2000, "seed": 42}
    reaper = domain("reaper", "reaper", [0], manager=True, params=params)
    victim = hog("hog", [1, 2], events, per="vcpu", period="60 ms")
    _, seen, status = run(built_from(tmp_path, reaper, victim, for_ns=1000 * MS))
    assert status.end_reason == "manager_request"
    assert status.domains[1].restarts > 2 * seen[1].periods, "several lives in a period"
    assert seen[1].throttled_periods > 0
    for one in seen.values():
        assert one.max_per_period <= events + SLACK + PAGE_LINES


def test_a_domain_that_starts_again_and_again_pays_for_its_images(tmp_path: Path) -> None:
    """The reload is EL2's traffic on its behalf: it loads page by page within the domain's budget."""
    events = 50
    params = {"victim": 1, "rounds": 30, "gap_us": 100, "seed": 1}
    reaper = domain("reaper", "reaper", [0], manager=True, params=params)
    budget = {"events": events, "period": "1 ms", "counts": "refills"}
    victim = domain("busy", "busy", [1], bandwidth=budget)
    _, seen, status = run(built_from(tmp_path, reaper, victim, for_ns=500 * MS))
    assert status.domains[1].restarts > 3
    assert seen[1].throttled_periods > 4
    assert seen[1].late_periods <= 2
    assert seen[1].max_per_period <= events + SLACK + PAGE_LINES
