# SPDX-License-Identifier: Apache-2.0
"""Budgets on the emulator (B1), where instructions stand in for memory events: a busy core gets its events in
every period with a constant overshoot, and twice the budget allows twice the work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bulkhead.report.trace import trace_of
from bulkhead.run.samples import read_samples

from .harness import EXAMPLES, command

pytestmark = [pytest.mark.emulator, pytest.mark.timeout(600)]

# The longest way through EL2 with interrupts masked, in instructions. Output of all domains is not counted.
LONGEST_WAY = 1000
BUDGET = 100_000  # of the examples


def throttled(directory: Path, events: int, *options: str) -> dict[str, Any]:
    setting = f"domains[0].bandwidth.instructions={events}"
    run = command(EXAMPLES / "throttled.yaml", directory, "--for", "4s", "--set", setting, *options)
    assert run.exit_code == 0, run.result["reasons"]
    domain: dict[str, Any] = run.result["domains"][0]
    return domain


def test_t4_output_is_not_of_the_budget_of_the_core_that_writes_it(tmp_path: Path) -> None:
    """A report of twenty lines is written by a core with a budget: in the 15th second an overflow coincides
    with one."""
    run = command(EXAMPLES / "throttled.yaml", tmp_path, "--for", "20s")
    assert run.exit_code == 0, run.result["reasons"]
    assert run.result["domains"][0]["events"]["overshoot_max"] <= LONGEST_WAY


def test_twice_the_budget_does_twice_the_work(tmp_path: Path) -> None:
    work = []
    for events in (100_000, 200_000):
        domain = throttled(tmp_path / str(events), events)
        seen = domain["events"]
        assert seen["event"] == "INST_RETIRED"
        assert (seen["budget"], seen["period_ns"]) == (events, 1_000_000)
        assert seen["periods"] >= 3990
        assert seen["late_periods"] == 0
        assert seen["throttled_periods"] == seen["periods"]
        assert seen["max_per_period"] == events + seen["overshoot_max"]
        assert seen["overshoot_max"] <= LONGEST_WAY
        assert seen["overshoot_mean"] <= 130
        report = domain["report"]
        work.append(report["bytes"] / report["elapsed_ns"])
    assert work[1] / work[0] == pytest.approx(2, rel=0.01)


def test_a_core_without_a_budget_is_not_stopped(tmp_path: Path) -> None:
    domain = throttled(tmp_path, 100_000, "--unprotected")
    assert "events" not in domain
    assert "irq_overflow" not in domain["exit_reasons"]


def test_a_budget_that_nothing_counts_is_refused_with_what_to_do(tmp_path: Path) -> None:
    run = command(EXAMPLES / "throttled.yaml", tmp_path, "--for", "1s", "--no-icount")
    assert run.exit_code == 1
    assert any("counter missing" in reason and "--icount" in reason for reason in run.result["reasons"])


def test_a_domain_counts_for_itself_beside_the_budget(tmp_path: Path) -> None:
    run = command(EXAMPLES / "counting.yaml", tmp_path, "--for", "5s")
    assert run.exit_code == 0, run.result["reasons"]
    domain = run.result["domains"][0]
    assert domain["report"] == {"counters": 4, "interrupts": 21, "wrong": 0}  # six without EL2's two
    assert domain["events"]["throttled_periods"] > 10, "its counters and the hypervisor's share one interrupt"
    assert domain["events"]["late_periods"] == 0


def test_without_the_key_there_are_no_monitors(tmp_path: Path) -> None:
    run = command(EXAMPLES / "counting.yaml", tmp_path, "--for", "5s", "--set", "domains[0].pmu=false")
    assert run.exit_code == 1
    assert any("it has reported nothing" in reason for reason in run.result["reasons"])
    domain = run.result["domains"][0]
    assert not domain.get("report"), "the first register is undefined: the guest ends"
    assert domain["exit_reasons"]["pmu_register"] == 1


def test_a_manager_changes_a_budget_in_mid_run_and_the_run_can_be_followed(tmp_path: Path) -> None:
    """B8: invalid values change nothing, valid ones apply from the next period on."""
    # A ring keeps its last samples, some 500, even if the host is too busy to read it during the run. The
    # change is 300 periods before the end, so these samples are of both budgets.
    times = ("--set", "domains.governor.params.after_ms=2700", "--set", "domains.governor.params.end_ms=2800")
    run = command(EXAMPLES / "managed.yaml", tmp_path, "--for", "3s", *times)
    assert run.exit_code == 0, run.result["reasons"]
    hog, governor = run.result["domains"]
    assert governor["report"] == {"before": 100_000, "after": 200_000, "period_ns": 1_000_000, "wrong": 0}
    assert hog["events"]["changes"] == 1
    assert hog["events"]["latest"] == {"budget": 200_000, "period_ns": 1_000_000}
    recorded = read_samples(tmp_path)
    samples = recorded["samples"]
    assert len(samples) + recorded["dropped"].get("1", 0) >= 2990
    if not recorded["dropped"]:  # events beyond a budget are judged by the budget of that period
        assert hog["events"]["max_per_period"] == max(s.events for s in samples)
        held = [BUDGET, *(s.budget for s in samples)]
        beyond = [s.events - budget for s, budget in zip(samples, held, strict=False)]
        assert hog["events"]["overshoot_max"] == max(beyond)
    early = [s.events for s in samples if s.budget == 100_000][:-1]
    late = [s.events for s in samples if s.budget == 200_000][1:]
    assert min(len(early), len(late)) > 100
    assert sum(late) / len(late) == pytest.approx(2 * sum(early) / len(early), rel=0.01)
    live = json.loads((tmp_path / "live.json").read_text())
    assert live["ended"]
    assert live["domains"][0]["budget"] == 200_000
    throttled = [event for event in trace_of(recorded)["traceEvents"] if event["name"] == "throttled"]
    assert len(throttled) > 0.9 * len(samples)
