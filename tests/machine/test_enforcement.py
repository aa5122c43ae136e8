# SPDX-License-Identifier: Apache-2.0
"""B10: periods and budgets that regulation still enforces, and the smallest static budget of a workload."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bulkhead.machine import enforcement
from bulkhead.machine.enforcement import Enforced, smallest
from bulkhead.machine.limits import stated_guarantee, static_budget
from bulkhead.machine.point import run_point

from ..platforms import platform

pytestmark = pytest.mark.usefixtures("workloads_built")

ROOT = Path(__file__).parents[2]


def run(jobs: Sequence[dict[str, Any]]) -> list[Any]:
    return [run_point(job) for job in jobs]


def test_the_smallest_is_the_last_before_the_first_that_is_not_held() -> None:
    tried = [Enforced(n, 1000, 10, measured) for n, measured in ((8, 10), (4, 10.4), (2, 12), (1, 10))]
    found = smallest(tried)
    assert found is not None
    assert found.events == 4
    assert smallest(tried[2:]) is None


def test_long_periods_and_large_budgets_are_held_and_tiny_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """EL2's own reads in each period are more than a budget of a few events."""
    board = platform("zcu102")
    monkeypatch.setattr(enforcement, "PERIODS_NS", (1_000_000, 1_000))
    long, short = enforcement.periods(board, run, 800)
    assert long.held
    assert long.nominal_mb_s == pytest.approx(100, rel=0.01)
    assert not short.held
    monkeypatch.setattr(enforcement, "BUDGETS", (100_000, 1_000, 1))
    large, tiny = enforcement.budgets(board, run, 800)
    assert large.held, "100,000 events are more than the memory serves, and not tried"
    assert large.events == 1000
    assert not tiny.held


def test_the_smallest_static_budget_leaves_the_rest_to_others() -> None:
    def known(jobs: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        found = []
        for _, job in jobs:
            (part,) = job["parts"]
            limited = "bandwidth" in part
            rate = int(part["bandwidth"]["budget"].split()[0]) // 10**6 if limited else 0
            time = 1000 if not limited or rate >= 420 else 1200
            found.append({"programs": [{"first_ps": 0, "iterations": [(0, time)]}]})
        return found

    found = static_budget(
        platform("s32v234"), "tracking", known, bound=0.05, step_mb_s=50, guaranteed_mb_s=950
    ).json()
    assert (found["budget_mb_s"], found["others_mb_s"]) == (450, 500)
    assert {one["budget_mb_s"]: round(one["slowdown"], 2) for one in found["tried"]}[400] == 1.2


def test_the_guarantee_is_the_boards_where_its_file_has_one() -> None:
    assert stated_guarantee(platform("s32v234")) == 950
    assert stated_guarantee(platform("zcu104")) is None
