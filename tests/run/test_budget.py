# SPDX-License-Identifier: Apache-2.0
"""A run's results about budgets: from the cores' pages to the object, the sentence and the verdict."""

from __future__ import annotations

from dataclasses import replace

from bulkhead.planning.budgets import Budget
from bulkhead.report.sentences import budget_text
from bulkhead.run.budget import budget_reasons, events_of
from bulkhead.run.status import BudgetStatus, CoreStatus

BUDGET = Budget(events=1000, period_ns=1_000_000, chunk_events=0)
ONE = BudgetStatus(
    events=5010, periods=5, late_periods=0, throttled_periods=4, throttled_ns=70, overshoot_periods=4,
    overshoot_events=10, overshoot_max=6, max_per_period=1006, limit=1000, period_ns=1000000, changes=0,
)  # fmt: skip


def core(number: int, budget: BudgetStatus | None) -> CoreStatus:
    return CoreStatus(number, 0, number, False, {}, 0, 0, budget)


def test_counts_of_cores_are_added_and_maxima_taken() -> None:
    other = replace(ONE, overshoot_max=2, max_per_period=1002)
    found = events_of(BUDGET, "L2D_CACHE_REFILL", [core(0, ONE), core(1, other), core(2, None)])
    assert (found["events"], found["periods"], found["throttled_periods"]) == (10020, 10, 8)
    assert (found["max_per_period"], found["overshoot_max"], found["overshoot_mean"]) == (1006, 6, 2.5)
    assert found["vcpus"] == [
        {"vcpu": 0, "events": 5010, "max_per_period": 1006, "overshoot_max": 6, "periods": 5,
         "throttled_periods": 4, "throttled_ns": 70},
        {"vcpu": 1, "events": 5010, "max_per_period": 1002, "overshoot_max": 2, "periods": 5,
         "throttled_periods": 4, "throttled_ns": 70},
    ]  # fmt: skip
    text = budget_text(found)
    assert "L2D_CACHE_REFILL in each 1 ms; at most 1" in text
    assert "6 beyond a period's budget, stopped in 8 of 10 periods" in text


def test_nothing_was_seen_yet() -> None:
    found = events_of(replace(BUDGET, chunk_events=10), "BUS_ACCESS", [core(0, None)])
    assert (found["events"], found["max_per_period"], found["overshoot_mean"]) == (0, 0, 0.0)
    assert "shared by its VCPUs; no period of it has ended" in budget_text(found)


def test_periods_that_were_missed_break_the_promise() -> None:
    assert budget_reasons("hog", BUDGET, [core(0, ONE), core(1, None)]) == []
    (reason,) = budget_reasons("hog", BUDGET, [core(0, replace(ONE, late_periods=3))])
    assert "hog: 3 periods" in reason


def test_what_a_manager_made_of_it_is_said() -> None:
    changed = replace(ONE, limit=2000, period_ns=500_000, changes=3)
    found = events_of(BUDGET, "BUS_ACCESS", [core(0, ONE), core(1, changed)])
    assert (found["budget"], found["changes"]) == (1000, 3)
    assert found["latest"] == {"budget": 2000, "period_ns": 500_000}
    text = budget_text(found).replace("\u202f", " ")
    assert "changed 3 times to 2 000 in 500 µs" in text
    assert "at most 1 006 on a core, 6 beyond a period's budget" in text, "not the 1,994 left of the latest"
