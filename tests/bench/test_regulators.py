# SPDX-License-Identifier: Apache-2.0
"""EL2's work in an interval of each regulator: what the emulator's counts say, and that no step grows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from bulkhead.bench.counted import CountError, Visit
from bulkhead.bench.regulators import LOAD, PERIOD, POLICIES, STEP, STOP, costs_of, kind_of
from bulkhead.cli import build_app
from bulkhead.env.paths import repository
from bulkhead.machine.interrupt_cost import MESSAGE_INSTRUCTIONS, STEP_INSTRUCTIONS
from tests.json_results import parsed

# Limits for the mean instructions of each interrupt: the measured number, and some room for another compiler.
ALLOWED: dict[str, dict[str, int | None]] = {
    "static": {"period": 760, "step": None, "message": None, "overflow": 395},
    "dynamic": {"period": 1065, "step": 2550, "message": None, "overflow": 395},
    "dynamic-bandwidth": {"period": 870, "step": 2600, "message": 855, "overflow": 395},
    "dynamic-delay": {"period": 1065, "step": 2790, "message": None, "overflow": 395},
    "dynamic-turns": {"period": 855, "step": 2130, "message": 855, "overflow": 395},
    "dynamic-phases": {"period": 1065, "step": 2700, "message": 855, "overflow": 395},
}
# A run has none of them, or a few: a budget changes with a phase, and where phases begin depends on the run.
NOT_IN_EACH_RUN = {("dynamic-phases", "message")}
# Messages that a regulated core gets in an interval, while cores compete and while they sleep: budgets of
# `dynamic-bandwidth` and `dynamic-turns` change in each interval, those of the others stay.
MESSAGES = {"dynamic-bandwidth": (0.72, 0.6), "dynamic-turns": (0.45, 0.45)}
PERIOD_VISIT, STEP_VISIT = PERIOD | LOAD | STOP, PERIOD | STEP | LOAD | STOP
MESSAGE_VISIT, OVERFLOW_VISIT = LOAD | STOP, STOP
INTERVALS = 30


def run_of(interval: Sequence[Visit]) -> list[Visit]:
    return list(interval) * INTERVALS


@pytest.mark.parametrize(
    ("marks", "kind"),
    [
        (0, None),
        (OVERFLOW_VISIT, "overflow"),
        (MESSAGE_VISIT, "message"),
        (PERIOD_VISIT, "period"),
        (STEP_VISIT, "step"),
    ],
)
def test_the_functions_that_a_visit_calls_tell_which_interrupt_it_was(marks: int, kind: str | None) -> None:
    assert kind_of(Visit(1, marks, 10)) == kind


def test_costs_are_means_of_each_kind_and_shares_of_a_core_and_an_interval() -> None:
    """Two regulated cores, of which the second steps; the real-time core is interrupted once."""
    quiet = [
        Visit(0, PERIOD_VISIT, 90),
        Visit(1, PERIOD_VISIT, 100),
        Visit(2, STEP_VISIT, 300),
        Visit(1, MESSAGE_VISIT, 50),
        Visit(1, 0, 1000),  # another interrupt
    ]
    competing = [*quiet, Visit(1, OVERFLOW_VISIT, 20), Visit(2, OVERFLOW_VISIT, 40)]
    found = costs_of("dynamic-bandwidth", run_of(competing), run_of(quiet))
    assert found.step is not None and (found.step.mean, found.step.longest) == (300, 300)
    assert found.period is not None and (found.period.mean, found.period.longest) == (95, 100)
    assert found.message is not None and found.message.mean == 50
    assert found.overflow is not None and found.overflow.mean == pytest.approx(30)
    assert found.quiet_others.interrupts == found.others.interrupts == 1
    assert found.quiet_others.instructions == 90
    assert (found.quiet_regulated.interrupts, found.quiet_regulated.instructions) == (1.5, 225)
    assert (found.regulated.interrupts, found.regulated.instructions) == (2.5, 255)


def test_a_run_without_intervals_is_no_measurement() -> None:
    with pytest.raises(CountError, match="no interval"):
        costs_of("static", [Visit(1, MESSAGE_VISIT, 5)], [])


def test_a_policy_that_there_is_not_is_wrong_usage() -> None:
    done = CliRunner().invoke(build_app(), ["bench", "regulators", "dynamic-luck"])
    assert done.exit_code == 2
    assert "none of static, dynamic," in " ".join(done.output.replace("│", " ").split())


def measured() -> dict[str, dict[str, Any]]:
    """The rows of the command itself."""
    command = [sys.executable, "-c", "from bulkhead.cli import main; main()", "bench", "regulators", "--json"]
    done = subprocess.run(command, cwd=repository(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {row["policy"]: row for row in parsed(done.stdout)["policies"]}


@pytest.mark.emulator
def test_b11_no_interrupt_of_a_regulator_is_longer_than_it_was() -> None:
    """EL2 also starts with each policy: it checks a manifest with the MMU off."""
    rows = measured()
    assert list(rows) == list(POLICIES) == list(ALLOWED)
    for policy, limits in ALLOWED.items():
        row = rows[policy]
        for kind, limit in limits.items():
            cost = row[kind]
            few = (policy, kind) in NOT_IN_EACH_RUN
            assert few or (cost is None) == (limit is None), (policy, kind)
            if cost is not None and limit is not None:
                assert (0 if few else 0.9 * limit) < cost["mean"] <= limit, (policy, kind, cost)
        if policy in STEP_INSTRUCTIONS:  # as the machine assumes
            step = row["step"]["mean"] - row["period"]["mean"]
            assert step == pytest.approx(STEP_INSTRUCTIONS[policy], rel=0.03), policy
            if row["message"] is not None and (policy, "message") not in NOT_IN_EACH_RUN:
                assert row["message"]["mean"] == pytest.approx(MESSAGE_INSTRUCTIONS, rel=0.03), policy
        # One end of an interval; a message if the core's budget changes; an overflow where cores compete.
        competing, quiet = MESSAGES.get(policy, (0.0, 0.0))
        assert row["quiet_regulated"]["interrupts"] == pytest.approx(1 + quiet, abs=0.08), row
        assert row["regulated"]["interrupts"] <= 2 + competing + 0.2, row
        # A real-time core is interrupted only if its traffic is needed, and gets no message.
        counts = 1 if policy in ("dynamic-bandwidth", "dynamic-delay", "dynamic-phases") else 0
        for others in (row["others"], row["quiet_others"]):
            assert others["interrupts"] == pytest.approx(counts, abs=0.05), row
