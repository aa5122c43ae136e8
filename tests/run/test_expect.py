# SPDX-License-Identifier: Apache-2.0
"""`expect` in its long form: a run that does not show what its file expects has failed, and gives the
reason."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bulkhead.config.system import Expectation
from bulkhead.planning.budgets import Budget
from bulkhead.run.expect import expectation_reasons, expectations
from bulkhead.run.target import DomainTarget, RunOptions

MS = 10**6
BUDGET = Budget(1000, MS, 0)


def judged(
    wanted: dict[str, Any], domain: dict[str, Any], *, budget: Budget | None = BUDGET, **options: Any
) -> tuple[list[object], list[str]]:
    expects = Expectation.model_validate(wanted)
    target = DomainTarget("hog", (0,), budget=budget, expects=expects)
    found = expectations([target], [domain], RunOptions(**{"icount": True} | options))
    return [one["met"] for one in found], expectation_reasons(found)


def events(stopped: int, periods: int = 50) -> dict[str, Any]:
    return {"events": {"throttled_periods": stopped, "periods": periods}}


@pytest.mark.parametrize(
    ("wanted", "domain", "reason"),
    [
        ({"ready": True}, {"ready_ns": 7 * MS}, None),
        ({"ready": True}, {"ready_ns": None}, "ready by the end of the run, but it was not ready when"),
        ({"ready": "100 ms"}, {"ready_ns": 100 * MS}, None),
        (
            {"ready": "100 ms"},
            {"ready_ns": 101 * MS},
            "ready within 100.000 ms, but it was ready after 101.000 ms",
        ),
        ({"throttled": True}, events(1), None),
        ({"throttled": True}, events(0), "but it was stopped in 0 of 50 periods"),
        ({"throttled": True}, events(0, 0), "but no period of its budget has ended"),
        ({"throttled": False}, events(0), None),
        ({"throttled": False}, events(2), "never to be stopped by its budget, but it was stopped in 2"),
        ({"slowdown": 2}, {"slowdown": 1.99}, None),
        ({"slowdown": 2}, {"slowdown": 2.01}, "a slowdown of at most 2, but its slowdown was 2.01"),
        ({"release_delay": "50 us"}, {"report": {"jitter_ns": {"max": 50_000}}}, None),
        (
            {"release_delay": "50 us"},
            {"report": {"jitter_ns": {"max": 50_001}}},
            "release delays of at most 50.0 us, but its longest release delay was 50.0 us",
        ),
        ({"release_delay": "50 us"}, {"report": {"jitter_ns": {"max": 15 * MS}}}, "delay was 15.000 ms"),
        ({"release_delay": "50 us"}, {"report": {"jitter_ns": {"max": True}}}, "it has reported no release"),
        ({"release_delay": "50 us"}, {"report": None}, "it has reported no release"),
        ({"line": "login:"}, {"seen": {"login:": 7 * MS}}, None),
        ({"line": "login:", "within": "7 ms"}, {"seen": {"login:": 7 * MS}}, None),
        (
            {"line": "login:", "within": "6 ms"},
            {"seen": {"login:": 7 * MS}},
            "the line 'login:' within 6.000 ms, but it came after 7.000 ms",
        ),
        ({"line": "login:"}, {"seen": {}}, "the line 'login:', but no line of its console had that"),
        ({"line": "login:"}, {"seen": {"login:": None}}, None),
        ({"no_line": "panic"}, {"seen": {}}, None),
        ({"no_line": "panic"}, {"seen": {"panic": 7 * MS}}, "no line 'panic', but it came after 7.000 ms"),
        ({"no_line": "panic"}, {"seen": {"panic": None}}, "no line 'panic', but it came"),
        ({"report": {"wrong": 0}}, {"report": {"wrong": 0, "more": 1}}, None),
        ({"report": {"wrong": 0}}, {"report": {"wrong": 3}}, "but it reported `wrong: 3`"),
        ({"report": {"wrong": 0}}, {"report": {"wrong": "0"}}, "but it reported `wrong: 0`"),
        ({"report": {"wrong": 0}}, {"report": {"wrong": False}}, "but it reported `wrong: False`"),
        ({"report": {"wrong": 0}}, {"report": {"more": 1}}, "but it has not reported that"),
        ({"report": {"wrong": 0}}, {"report": None}, "but it has reported nothing"),
    ],
)
def test_what_was_expected_is_judged(
    wanted: dict[str, Any], domain: dict[str, Any], reason: str | None
) -> None:
    met, reasons = judged(wanted, domain)
    assert met == [reason is None]
    assert len(reasons) == (reason is not None)
    assert reason is None or reason in reasons[0]


@pytest.mark.parametrize(
    ("wanted", "options"),
    [
        ({"throttled": True}, {"budget": None}),
        ({"throttled": True}, {"budget": None, "unprotected": True}),
        ({"slowdown": 2}, {}),
        ({"release_delay": "50 us"}, {"icount": False}),
        ({"report": {"wrong": 0}}, {"unprotected": True}),
    ],
)
def test_what_this_run_cannot_show_is_not_judged(wanted: dict[str, Any], options: dict[str, Any]) -> None:
    assert judged(wanted, {}, **options) == ([None], [])


def test_a_run_in_which_no_period_ended_does_not_show_that_a_budget_was_enough() -> None:
    assert judged({"throttled": False}, events(0, 0)) == ([None], [])


def test_a_word_expects_an_end_and_nothing_else() -> None:
    assert Expectation.model_validate("stopped") == Expectation(state="stopped")
    target = DomainTarget("hog", (0,), expects=Expectation(state="stopped"))
    assert expectations([target, DomainTarget("other", (1,))], [{}, {}], RunOptions()) == []


def test_when_who_has_the_terminal_for_itself_said_it_is_not_judged() -> None:
    wanted = {"line": "login:", "within": "1 s"}
    assert judged(wanted, {"seen": {"login:": None}}) == ([None], [])
    assert judged(wanted, {"seen": {}})[0] == [False]


def test_a_time_without_a_line_is_refused() -> None:
    with pytest.raises(ValidationError, match="within"):
        Expectation.model_validate({"within": "1 s"})
