# SPDX-License-Identifier: Apache-2.0
"""A run's results about cores that VCPUs share (B2): from the cores' pages to promises that were kept or
not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bulkhead.planning.budgets import Budget
from bulkhead.report.load import LoadedRun
from bulkhead.report.sentences import shared_core_kept, shared_core_text
from bulkhead.results.run import SharedCoreResult
from bulkhead.run.overshoot import LONGEST_WAY
from bulkhead.run.shared_core import shared_cores, shared_reasons
from bulkhead.run.status import BudgetStatus, CoreStatus, DomainStatus, SharedVcpu, SystemStatus
from bulkhead.run.target import DomainTarget, Policy

MS = 10**6
EVENTS = 1000
BUDGET = BudgetStatus(
    events=5010, periods=5, late_periods=0, throttled_periods=4, throttled_ns=70, overshoot_periods=4,
    overshoot_events=10, overshoot_max=6, max_per_period=1006, limit=1000, period_ns=MS, changes=0,
)  # fmt: skip
HIGH = SharedVcpu(
    domain=0, vcpu=0, state="running", priority=0, dispatches=3, blocks=1, run_ns=9, out_of_order=0,
    periods_due=5, budget=BUDGET,
)  # fmt: skip
LOW = replace(HIGH, domain=1, vcpu=1, priority=1, state="paused", budget=None, periods_due=0)
RUNNING = DomainStatus("running", "none", 0, 0, 0, None, 0, 0, 0, 0)
TARGETS = (
    DomainTarget("control", (0,), budget=Budget(EVENTS, MS, 0), event="INST_RETIRED"),
    DomainTarget("linux", (1, 0)),
)


def found(
    *vcpus: SharedVcpu,
    policy: Policy | None = None,
    guest_ns: int = 5 * MS,
    targets: tuple[DomainTarget, ...] = TARGETS,
) -> list[SharedCoreResult]:
    none = 0xFFFF_FFFF
    core = CoreStatus(0, none, 0, False, {"wfx": 1}, 0, 0, None, switches=6, shared=vcpus)
    alone = CoreStatus(1, 1, 0, False, {}, 0, 0)
    status = SystemStatus(
        phase="ended", end_reason="run_limit", refusal=0, refusal_name=None, refusal_offset=0,
        guest_ns=guest_ns, ttbr0_el2=0, pool_frames=0, pool_used=0, domains=[RUNNING, RUNNING],
        cores=[core, alone],
    )  # fmt: skip
    return shared_cores(status, targets, policy or Policy())


def test_a_core_that_kept_all() -> None:
    (core,) = found(HIGH, LOW)
    assert (core["core"], core["switches"], core["scheduler"]) == (0, 6, "fixed-priority")
    assert [vcpu["domain"] for vcpu in core["vcpus"]] == ["control", "linux"]
    assert core["vcpus"][0]["max_per_period"] == 1006
    assert "budget" not in core["vcpus"][1]
    assert {name: promise["kept"] for name, promise in core["promises"].items()} == {
        "budgets": True,
        "recharges": True,
        "priorities": True,
    }
    assert shared_reasons([core]) == []


def test_releases_are_judged_where_the_platform_has_a_bound() -> None:
    late = replace(LOW, releases=7, release_mean_ns=4000, release_max_ns=50_001)
    for bound_ns, kept in ((None, None), (60_000, True), (50_000, False)):
        (core,) = found(HIGH, late, policy=Policy(release_bound_ns=bound_ns))
        assert core["promises"].get("releases", {"kept": None})["kept"] is kept
        assert core["vcpus"][1]["release_delay"] == {"releases": 7, "mean_ns": 4000, "max_ns": 50_001}
    assert shared_reasons([core]) == [
        "core 0: linux ran 50.0 us after it became the most urgent one, more than the bound of 50.0 us"
    ]
    (core,) = found(HIGH, late, policy=Policy(scheduler="round-robin", release_bound_ns=50_000))
    assert "releases" not in core["promises"]


def test_cpu_time_is_judged_with_the_bound_of_releases_beyond_it() -> None:
    targets = (TARGETS[0], replace(TARGETS[1], cpu_ns=(300_000, MS)))
    for most_ns, kept in ((350_000, True), (350_001, False)):
        spinner = replace(LOW, cpu_periods=5, cpu_throttled_periods=5, cpu_max_ns=most_ns)
        (core,) = found(HIGH, spinner, policy=Policy(release_bound_ns=50_000), targets=targets)
        assert core["promises"]["cpu time"]["kept"] is kept
        assert core["vcpus"][1]["cpu"]["max_ns"] == most_ns
    assert "300.0 us and at most 50.0 us beyond it" in shared_reasons([core])[0]


@pytest.mark.parametrize(
    ("broken", "promise", "text"),
    [
        (
            replace(HIGH, budget=replace(BUDGET, max_per_period=EVENTS + LONGEST_WAY + 1)),
            "budgets",
            "had 4501 events",
        ),
        (replace(HIGH, periods_due=6), "recharges", "recharged 5 times in 6"),
        (replace(HIGH, out_of_order=2), "priorities", "2 times before"),
    ],
)
def test_what_was_broken_is_said(broken: SharedVcpu, promise: str, text: str) -> None:
    (core,) = found(broken, LOW)
    assert [name for name, one in core["promises"].items() if not one["kept"]] == [promise]
    (reason,) = shared_reasons([core])
    assert reason.startswith("core 0: control") and text in reason


@pytest.mark.parametrize(
    ("state", "dispatches", "starved"),
    [("ready", 0, ["linux"]), ("recharge", 0, ["linux"]), ("ready", 1, []), ("reset", 0, [])],
)
def test_a_vcpu_that_never_got_the_core_is_named(state: str, dispatches: int, starved: list[str]) -> None:
    """A VCPU that was not started did not want the core."""
    (core,) = found(HIGH, replace(LOW, state=state, dispatches=dispatches, run_ns=0))
    assert core["starved"] == starved
    assert shared_reasons([core]) == [
        f"core 0: {name} never had the core, although it was ready to run" for name in starved
    ]
    assert shared_core_kept(core) == (not starved)
    line = shared_core_text(dict(core), LoadedRun(Path(), {"guest_ns": MS}, {}, None))
    assert ("linux never had the core" in line) == bool(starved)


def test_a_changed_budget_is_judged_by_what_held_in_the_period() -> None:
    """2,000 events are allowed while a manager's budget is 2,000; EL2 counts events beyond it."""
    changed = replace(BUDGET, changes=1, max_per_period=2006)
    assert shared_reasons(found(replace(HIGH, budget=changed), LOW)) == []
    beyond = replace(changed, overshoot_max=LONGEST_WAY + 1)
    (reason,) = shared_reasons(found(replace(HIGH, budget=beyond), LOW))
    assert "3501 events beyond the budget of a period" in reason


def test_what_others_gave_is_not_beyond_the_budget() -> None:
    """A VCPU that reclaims may draw more than its own budget; EL2 counts events beyond what it drew."""
    targets = (replace(TARGETS[0], budget=Budget(EVENTS, MS, 10, reclaim=True)), TARGETS[1])
    drew = replace(BUDGET, max_per_period=10 * EVENTS)
    assert shared_reasons(found(replace(HIGH, budget=drew), LOW, targets=targets)) == []
    beyond = replace(drew, overshoot_max=LONGEST_WAY + 1)
    (reason,) = shared_reasons(found(replace(HIGH, budget=beyond), LOW, targets=targets))
    assert "3501 events beyond the budget of a period" in reason


def test_recharges_are_held_against_the_runs_time_too() -> None:
    """This also finds the case in which neither was counted any more."""
    (core,) = found(HIGH, LOW, guest_ns=8 * MS)
    assert shared_reasons([core]) == ["core 0: control was recharged 5 times in 7 periods"]


def test_a_run_may_end_while_the_end_of_a_period_is_noted() -> None:
    """The clock's count exists, and the scheduler's does not yet; later than that it was lost."""
    noted = replace(HIGH, periods_due=6)
    assert shared_reasons(found(noted, LOW, guest_ns=6 * MS + 3_000)) == []
    (late,) = shared_reasons(found(noted, LOW, guest_ns=6 * MS + 400_000))
    assert late == "core 0: control was recharged 5 times in 6 periods"
    lost = replace(HIGH, periods_due=7)
    assert shared_reasons(found(lost, LOW, guest_ns=7 * MS + 3_000)) != []


def test_round_robin_promises_no_order() -> None:
    (core,) = found(replace(HIGH, out_of_order=2), LOW, policy=Policy("round-robin", MS))
    assert "priorities" not in core["promises"]


def test_a_domain_sees_its_vcpu_of_a_shared_core() -> None:
    core = CoreStatus(0, 0xFFFF_FFFF, 0, False, {"wfx": 9}, 5, 0, switches=6, shared=(HIGH, LOW))
    one = core.vcpu_of(1)
    assert one is not None
    assert (one.core, one.vcpu, one.attributed, one.budget) == (0, 1, False, None)
    assert core.vcpu_of(2) is None
