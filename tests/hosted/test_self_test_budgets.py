# SPDX-License-Identifier: Apache-2.0
"""examples/self-test-budgets.yaml on the simulated machine: what `limits` finds to hold there holds for the
program, too, with no more traffic, and an interrupt takes the guest no less than the hypervisor needs
for it.

The machine makes the accesses of one domain's VCPUs in order (docs/design/machine.md), so fewer lines are in
flight when a budget is spent than with `limits`, whose cores have nothing in common. The excess of a period
is one or two events in place of ten, so shorter periods and smaller budgets hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bulkhead.campaign.points import run_jobs
from bulkhead.commands.options import engine_of
from bulkhead.config.platform import Platform
from bulkhead.machine import enforcement
from bulkhead.machine.answer import PointAnswer
from bulkhead.machine.interrupt_cost import LINES, cost_of
from bulkhead.machine.job import Job
from bulkhead.machine.native import built_machine
from bulkhead.validation.self_test import BudgetSelfTest, PathTime, read_log
from bulkhead.validation.self_test_budget_figures import budget_figures_of, smallest
from tests.command_line import run_json

from ..platforms import platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "self-test-budgets.yaml"
CORES, RATE_MB_S = 4, 120
NS_PER_S = 10**9
LINE_NS = 400  # of a line of memory that several cores use, at most
# Of a budget: what may be missing of it, and what may be beyond the excess of `limits`.
LESS, MORE = 0.03, 0.01


@dataclass(frozen=True)
class Measured:
    platform: Platform
    test: BudgetSelfTest


@pytest.fixture(scope="module", params=["qemu-virt", "zcu102"])
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    directory = tmp_path_factory.mktemp("self-test-budgets")
    options = ("--on", "machine", "--no-page", "--directory", directory, "--set", f"platform={request.param}")
    code, result = run_json("run", EXAMPLE, *options)
    assert code == 0, result["reasons"]
    test, problems = read_log(directory / "console.log")
    assert isinstance(test, BudgetSelfTest), problems
    return Measured(platform(request.param), test)


@pytest.fixture(scope="module")
def limits(measured: Measured) -> tuple[list[enforcement.Enforced], list[enforcement.Enforced]]:
    built_machine()
    guaranteed = 2.0 * RATE_MB_S * CORES

    def run(jobs: Sequence[Job]) -> list[PointAnswer]:
        return run_jobs([(f"{at}", job) for at, job in enumerate(jobs)], None, engine_of(1, None), "limits")

    periods = enforcement.periods(measured.platform, run, guaranteed)
    return periods, enforcement.budgets(measured.platform, run, guaranteed)


def test_b10_what_holds_according_to_limits_holds(
    measured: Measured, limits: tuple[list[enforcement.Enforced], list[enforcement.Enforced]]
) -> None:
    """All periods, and all budgets, down to the smallest that `limits` finds to hold."""
    for tried, expected in zip((measured.test.periods, measured.test.budgets), limits, strict=True):
        found, least = smallest(tried), enforcement.smallest(expected)
        assert found is not None and least is not None
        assert found.period <= least.period_ns and found.events <= least.events + 1
        held = expected[: expected.index(least) + 1]
        assert len(tried) >= len(held)
        for one, same in zip(tried, held, strict=False):
            assert one.period == same.period_ns
            assert abs(one.events - same.events) <= 1  # a rate in whole events
            share = one.counted / one.periods / one.events
            assert 1 - LESS <= share <= same.measured_mb_s / same.nominal_mb_s + MORE, one


def test_b10_the_program_finds_a_budget_that_does_not_hold(measured: Measured) -> None:
    found, last = smallest(measured.test.budgets), measured.test.budgets[-1]
    assert found is not None
    assert last.events < found.events and not last.held


def test_b10_cores_read_what_their_budgets_allow(measured: Measured) -> None:
    """The events are the hypervisor's count; what was read is the program's own."""
    for one in measured.test.periods:
        if not one.held or one.period < 100_000:
            continue  # the hypervisor's own lines count, too
        allowed = one.events * 64 * CORES * NS_PER_S / one.period / 1000
        assert one.read_kb_s == pytest.approx(allowed, rel=0.1), one


@pytest.mark.parametrize("kind", ["period", "overflow"])
def test_b10_interrupts_take_what_the_hypervisor_needs(measured: Measured, kind: str) -> None:
    """Entry, exit and the instructions of the interrupt, and at most its lines from memory beside that."""
    time: PathTime | None = getattr(measured.test.interruptions, kind)
    assert time is not None
    costs, frequency = cost_of(measured.platform, "static"), measured.platform.cores.frequency
    assert frequency is not None
    instructions = costs[f"{kind}_instructions"] * NS_PER_S / frequency
    ways = (costs["entry_ps"] + costs["exit_ps"]) / 1000
    assert time.min >= ways + instructions / 2  # two instructions a cycle at best
    assert time.median <= ways + 2 * instructions + LINES * LINE_NS


def test_figures_go_to_their_keys(measured: Measured) -> None:
    found = {one.key: one for one in budget_figures_of(measured.test, measured.platform) if one.key}
    assert found["cores.count"].ratio == 1
    stated = measured.platform.memory_budget
    assert ("memory_budget.shortest_period" in found) == (stated is not None)
    if stated is not None:
        # What is stated is the published board's; the machine can do with less.
        assert found["memory_budget.shortest_period"].measured is not None
        assert found["memory_budget.shortest_period"].value is not None


def test_a_domain_that_is_no_manager_measures_nothing(tmp_path: Path) -> None:
    options = ("--on", "machine", "--no-page", "--directory", tmp_path)
    code, _ = run_json("run", EXAMPLE, *options, "--set=domains.self-test.manager=false")
    assert code == 1
    assert "no manager" in (tmp_path / "console.log").read_text()
