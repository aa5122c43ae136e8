# SPDX-License-Identifier: Apache-2.0
"""A run's results about budgets: from the cores' pages to the object, the sentence and the verdict."""

from __future__ import annotations

from dataclasses import replace

from bulkhead.planning.budgets import Budget
from bulkhead.planning.regulation import RegulatorPlan
from bulkhead.report.sentences import budget_text
from bulkhead.run.budget import FIRST_INTERVALS, budget_reasons, events_of, regulation_reasons
from bulkhead.run.overshoot import ACCESSES_OF_A_LINE, LONGEST_WAY_OF_MEMORY, RELOADED_PAGE
from bulkhead.run.status import BudgetStatus, CoreStatus, LimitStatus, RegulationStatus

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


def reasons(one: BudgetStatus, budget: Budget = BUDGET, event: str = "BUS_ACCESS", **more: bool) -> list[str]:
    return budget_reasons("hog", budget, event, [core(0, one), core(1, None)], **more)


def test_periods_that_were_missed_break_the_promise() -> None:
    assert reasons(ONE) == []
    (reason,) = reasons(replace(ONE, late_periods=3))
    assert "hog: 3 periods" in reason


def test_of_periods_that_a_manager_has_set_late_ends_are_told() -> None:
    seen = replace(ONE, late_periods=3, changes=1, limit=1000, period_ns=5000)
    assert reasons(seen) == []
    text = budget_text(events_of(BUDGET, "BUS_ACCESS", [core(0, seen)]))
    assert text.endswith("stopped in 4 of 5 periods, of which 3 ended late")


def test_events_beyond_the_budget_and_what_el2_causes_break_the_promise() -> None:
    """For example if the overflow's interrupt is never delivered."""
    most = replace(ONE, max_per_period=1000 + LONGEST_WAY_OF_MEMORY, overshoot_max=LONGEST_WAY_OF_MEMORY)
    assert reasons(most) == []
    (reason,) = reasons(replace(ONE, max_per_period=50_000, overshoot_max=49_000))
    assert reason == (
        "domain hog: VCPU 0 had 50000 events in a period, of a budget of 1000 and at most 64 beyond it"
    )
    (reason,) = reasons(replace(most, overshoot_max=65))
    assert "VCPU 0 had 65 events beyond the budget of a period, but at most 64" in reason


def test_the_slack_of_a_sum_and_an_image_that_is_loaded_again_are_allowed_for() -> None:
    seen = replace(ONE, max_per_period=1000 + 64 + 31, overshoot_max=64 + 31)
    assert reasons(seen) != []
    assert reasons(seen, replace(BUDGET, counts="sum", slack_events=31)) == []
    seen = replace(ONE, max_per_period=1000 + 64 + RELOADED_PAGE, overshoot_max=64 + RELOADED_PAGE)
    assert reasons(seen) != []
    assert reasons(seen, restarted=True) == []


def test_each_of_two_budgets_is_judged_and_the_overshoot_is_of_both() -> None:
    budget = replace(BUDGET, counts="each", second_events=100)
    seen = replace(ONE, max_per_period=1064, second_max_per_period=164, overshoot_max=128)
    assert reasons(seen, budget) == []
    (reason,) = reasons(replace(seen, second_max_per_period=165), budget)
    assert "had 165 events in a period, of a budget of 100" in reason
    accesses = replace(budget, counts="accesses")
    assert reasons(replace(seen, second_max_per_period=100 + 64 * ACCESSES_OF_A_LINE), accesses) == []
    assert reasons(replace(seen, second_max_per_period=101 + 64 * ACCESSES_OF_A_LINE), accesses) != []


def test_a_budget_that_changed_is_judged_by_what_held_in_the_period() -> None:
    changed = replace(ONE, max_per_period=2006, changes=1)
    assert reasons(changed) == []
    assert reasons(replace(changed, overshoot_max=65)) != []
    reclaim = replace(BUDGET, chunk_events=10, reclaim=True)
    drew = replace(ONE, max_per_period=9000)
    assert reasons(drew, reclaim) == []
    assert reasons(replace(drew, overshoot_max=65), reclaim) != []


def test_a_regulated_core_is_judged_by_its_largest_budget() -> None:
    """What it used before the step of an interval may be more than the step leaves it."""
    regulated = replace(BUDGET, regulated=True)
    seen = replace(ONE, limits=LimitStatus(9, 500.0, 10, 2000), max_per_period=2064, overshoot_max=900)
    assert reasons(seen, regulated) == []
    (reason,) = reasons(replace(seen, max_per_period=2065), regulated)
    assert "had 2065 events in a period, of a budget of 2000" in reason


def test_nothing_is_said_of_an_overshoot_where_instructions_stand_in() -> None:
    """The emulator counts those of other cores, too."""
    beyond = replace(ONE, max_per_period=56_000, overshoot_max=55_000)
    assert reasons(beyond, event="INST_RETIRED") == []
    assert reasons(replace(beyond, late_periods=1), event="INST_RETIRED") != []


def test_a_core_that_counts_without_a_limit_has_nothing_beyond_it() -> None:
    assert reasons(replace(ONE, max_per_period=56_000), Budget(None, 1_000_000, 0)) == []


def test_a_shared_core_is_judged_elsewhere() -> None:
    """Its promises are in `shared_cores` of the result."""
    beyond = replace(ONE, max_per_period=50_000)
    shared = replace(core(0, beyond), attributed=False)
    assert budget_reasons("hog", BUDGET, "BUS_ACCESS", [shared]) == []


def test_a_regulator_that_never_stepped_breaks_the_promise() -> None:
    interval_ns = 1_000_000
    regulator = RegulatorPlan(
        policy="dynamic", hold="keep", threshold=1, step=1, bandwidth_threshold_events=0,
        interval_ns=interval_ns, members=frozenset({1}), regulated=frozenset({1}), budget_events={1: 9},
        floor_events=1, ceiling_events=9, saturation_events=0, store_samples=False, horizon_intervals=0,
        event_delays_ps={},
    )  # fmt: skip
    stepped = RegulationStatus(1, 0, 0, 0, 0, 9, 9.0, 9, 9, 0.0, 0.0, 0.0)
    long_ns = 50 * interval_ns
    assert regulation_reasons(regulator, stepped, long_ns) == []
    assert regulation_reasons(regulator, None, None) == []
    assert regulation_reasons(regulator, None, FIRST_INTERVALS * interval_ns) == []
    (reason,) = regulation_reasons(regulator, None, long_ns)
    assert "'dynamic' never changed a budget: none of its intervals ended in a time of 50 intervals" in reason


def test_what_a_manager_made_of_it_is_said() -> None:
    changed = replace(ONE, limit=2000, period_ns=500_000, changes=3)
    found = events_of(BUDGET, "BUS_ACCESS", [core(0, ONE), core(1, changed)])
    assert (found["budget"], found["changes"]) == (1000, 3)
    assert found["latest"] == {"budget": 2000, "period_ns": 500_000}
    text = budget_text(found).replace("\u202f", " ")
    assert "changed 3 times to 2 000 in 500 µs" in text
    assert "at most 1 006 on a core, 6 beyond a period's budget" in text, "not the 1,994 left of the latest"
