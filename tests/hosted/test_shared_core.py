# SPDX-License-Identifier: Apache-2.0
"""VCPUs of several domains on one core of the simulated machine (B2), with budgets of memory events: each
keeps its own budget in each of its periods, the highest priority runs first, and no recharge is lost."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine.hosted import run_hosted
from bulkhead.run.overshoot import LONGEST_WAY_OF_MEMORY
from bulkhead.run.status import BudgetStatus, CoreStatus, SharedVcpu, SystemStatus, read_status

from .systems import MS, built_from, domain, said

FOR_MS = 60
CONTROL_MS = 1
pytestmark = [pytest.mark.req("B2"), pytest.mark.usefixtures("hosted_built")]


def budget(events: int, period_us: int) -> dict[str, Any]:
    return {"events": events, "period": f"{period_us} us", "counts": "refills"}


def hog(name: str, cpus: list[int], priority: int, **keys: Any) -> dict[str, Any]:
    """A program that always misses all caches."""
    return domain(name, "hog", cpus, priority=priority, params={"buffer_kib": 2048}, **keys)


def control(cpus: list[int]) -> dict[str, Any]:
    """A program that waits for its timer, works, and reports."""
    params = {"period_us": CONTROL_MS * 1000, "working_set_kib": 64, "report_every": 8}
    return domain("control", "periodic", cpus, priority=0, params=params, bandwidth=budget(3000, 2000))


@dataclass(frozen=True)
class Seen:
    status: SystemStatus
    console: str
    digest: int

    def core(self, number: int) -> CoreStatus:
        return next(core for core in self.status.cores if core.core == number)

    def vcpus(self, core: int) -> list[SharedVcpu]:
        return list(self.core(core).shared)


def run(directory: Path, *domains: dict[str, Any], **keys: Any) -> Seen:
    build = built_from(directory, *domains, for_ns=keys.pop("for_ns", FOR_MS * MS), **keys)
    done = run_hosted(build, frames=build.status_pages)
    assert done.answer["ending"] == "off", done.answer["trouble"]
    status = read_status(build.layout, [done.frames[pa] for pa in build.status_pages])
    assert isinstance(status, SystemStatus), status
    return Seen(status, done.console, done.digest)


def within(vcpu: SharedVcpu, events: int, period_us: int) -> BudgetStatus:
    """Its counts, after checking that it kept its budget and was recharged in each of its periods."""
    one = vcpu.budget
    assert one is not None
    assert one.max_per_period <= events + LONGEST_WAY_OF_MEMORY
    assert one.periods == vcpu.periods_due
    assert one.periods == pytest.approx(FOR_MS * 1000 / period_us, abs=1)
    return one


@pytest.mark.parametrize("platform", ["qemu-virt", "qemu-virt-gicv2"])
def test_each_keeps_to_its_budget_and_priorities_and_no_recharge_is_lost(
    tmp_path: Path, platform: str
) -> None:
    system = (
        control([1]),
        hog("filter", [1], 1, bandwidth=budget(500, 500)),
        hog("batch", [1], 2, bandwidth=budget(1_000_000, 5000)),
    )
    seen = run(tmp_path, *system, platform=platform)
    first, second, last = seen.vcpus(1)
    assert [vcpu.out_of_order for vcpu in (first, second, last)] == [0, 0, 0]
    within(first, 3000, 2000)
    throttled = within(second, 500, 500)
    assert throttled.throttled_periods >= throttled.periods - 2
    assert throttled.events >= 500 * (throttled.periods - 2), "all that it may have"
    rest = within(last, 1_000_000, 5000)
    assert rest.throttled_periods == 0, "what the others leave is less than its budget"
    assert rest.events > 2 * throttled.events
    report = json.loads(re.findall(r"^report (.*)", said(seen.console, "control"), re.MULTILINE)[0])
    assert report["missed"] == 0
    assert report["jitter_ns"]["max"] < 30_000, "a switch, whatever runs, and its code from memory"
    assert first.blocks >= FOR_MS // CONTROL_MS - 1
    total = sum(vcpu.run_ns for vcpu in (first, second, last))
    assert 0.9 * FOR_MS * MS < total <= FOR_MS * MS
    assert run(tmp_path / "again", *system, platform=platform).digest == seen.digest


def test_who_has_spent_its_budget_does_not_run_although_nobody_else_does(tmp_path: Path) -> None:
    """The core waits for the recharge, and nothing is counted meanwhile."""
    seen = run(
        tmp_path,
        hog("first", [2], 0, bandwidth=budget(300, 1000)),
        hog("second", [2], 1, bandwidth=budget(200, 2000)),
    )
    for vcpu, (events, period_us) in zip(seen.vcpus(2), ((300, 1000), (200, 2000)), strict=True):
        one = within(vcpu, events, period_us)
        assert one.throttled_periods >= one.periods - 2
        assert one.events <= one.periods * (events + LONGEST_WAY_OF_MEMORY) + events
    assert sum(vcpu.run_ns for vcpu in seen.vcpus(2)) < 0.5 * FOR_MS * MS


def test_round_robin_ignores_priorities(tmp_path: Path) -> None:
    system = (hog("first", [1], 0), hog("second", [1], 1))
    first, second = run(tmp_path / "fixed", *system).vcpus(1)
    assert (second.dispatches, second.run_ns) == (0, 0)
    turns = {"scheduler": "round-robin", "slice": "500 us"}
    first, second = run(tmp_path / "turns", *system, hypervisor=turns).vcpus(1)
    assert second.run_ns == pytest.approx(first.run_ns, rel=0.1)
    assert first.dispatches == pytest.approx(FOR_MS, abs=2), "a slice of each, in turn"


def test_restarts_beside_those_that_share_the_core(tmp_path: Path) -> None:
    """The victim has a VCPU on the core of both its manager and a hog; a restart does not refill the
    budget."""
    events = 400
    params = {"victim": 1, "rounds": 200, "gap_us": 1500, "seed": 42}
    system = (
        domain("reaper", "reaper", [1], manager=True, params=params),
        domain("victim", "busy", [2, 1], params={"tick_us": 100}, bandwidth=budget(events, 3000)),
        hog("batch", [1], 0, bandwidth=budget(events, 1000)),
    )
    seen = run(tmp_path, *system, for_ns=2000 * MS, hypervisor={"slice": "300 us"})
    report = json.loads(re.findall(r"^report (.*)", said(seen.console, "reaper"), re.MULTILINE)[-1])
    assert report["wrong"] == 0
    assert report["restarts"] == seen.status.domains[1].restarts > 10
    for vcpu in seen.vcpus(1)[1:]:
        assert vcpu.budget is not None
        assert vcpu.budget.periods == vcpu.periods_due > 10
        assert vcpu.budget.max_per_period <= events + LONGEST_WAY_OF_MEMORY
